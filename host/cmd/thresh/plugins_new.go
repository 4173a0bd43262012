package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/builtin"
	"github.com/thresh-dev/thresh/host/internal/lab/starter"
	"github.com/thresh-dev/thresh/sdk"
)

// nextSteps are what to do with a new strategy, by its language; %[1]s is its name, %[2]s what comes first.
var nextSteps = map[string]string{
	"go": `%[2]sgo mod tidy
go test ./...
CGO_ENABLED=0 go build -trimpath -o dist/thresh-strategy-%[1]s .
`,
	"typescript": `%[2]snpm install
npm test
npm run build
`,
	"python": `%[2]s/usr/bin/python3 -m unittest
/usr/bin/python3 build.py
`,
}

func newPluginCommand(a *app) *cobra.Command {
	var language string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Make a directory for a new strategy",
		Long: `Makes the directory NAME with a strategy that clears the results of old tool calls, its tests and a
benchmark, a README for its users, and a workflow for GitHub that tests it, builds it for all
systems, verifies it, and makes a release of a tag. Change what it does in main.go, src/strategy.ts
or src/strategy.py. One in TypeScript needs Node where it runs, one in Python the packages grpcio
and protobuf.`,
		Example: `  thresh plugins new keep-last
  thresh plugins new keep-last --lang python`,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) != 1 {
				return usage(cmd, fmt.Errorf("needs one NAME, got %d", len(given)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, given []string) error {
			name := given[0]
			switch {
			case !sdk.ValidName(name):
				return usage(cmd, fmt.Errorf("%q is no name for a strategy: lower-case letters and digits, in groups joined by "+
					"single hyphens", name))
			case slices.Contains(builtin.Names(), name):
				return usage(cmd, fmt.Errorf("%s is built in: choose another name", name))
			case !slices.Contains(starter.Languages(), language):
				return usage(cmd, fmt.Errorf("--lang: %q is none of %s", language, strings.Join(starter.Languages(), ", ")))
			}
			written, err := starter.New(a.path(name), name, language)
			if errors.Is(err, starter.ErrExists) {
				err = fmt.Errorf("%w: choose another name, or move what is in it", err)
			}
			if err != nil {
				return err
			}
			for _, file := range written {
				fmt.Fprintln(a.out, name+"/"+file)
			}
			fmt.Fprintf(a.err, "\ncd %[1]s\n"+nextSteps[language]+"thresh plugins verify dist/thresh-strategy-%[1]s\n", name,
				firstStep(language))
			return nil
		},
	}
	cmd.Flags().StringVar(&language, "lang", starter.Languages()[0], "go, typescript or python")
	return cmd
}

// firstStep is what a language needs before its other steps. There is no release of thresh yet, so that a module finds
// its packages in a clone: the one that this program was built in, or the one that the user says.
func firstStep(language string) string {
	switch language {
	case "python":
		return "/usr/bin/python3 -c 'import grpc, google.protobuf' # on Debian and Ubuntu: apt install python3-grpcio python3-protobuf\n"
	case "go":
		clone := `"${THRESH:?set it to the directory of your clone of thresh}"`
		program, err := os.Executable()
		if err == nil {
			program, err = filepath.EvalSymlinks(program)
		}
		module := filepath.Join(filepath.Dir(filepath.Dir(program)), "go.mod") // make build puts thresh into bin
		if text, read := os.ReadFile(module); err == nil && read == nil && strings.HasPrefix(string(text), "module "+ours+"\n") {
			clone = `"` + filepath.Dir(module) + `"`
		}
		return "go mod edit -replace " + ours + "=" + clone + "\n"
	}
	return ""
}

const ours = "github.com/thresh-dev/thresh"
