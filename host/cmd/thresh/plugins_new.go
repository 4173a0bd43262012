package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/builtin"
	"github.com/thresh-dev/thresh/host/internal/lab/starter"
	"github.com/thresh-dev/thresh/sdk"
)

func newPluginCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "Make a module for a new strategy, in Go",
		Long: `Makes the directory NAME with a Go module: a strategy that clears the results of old tool calls, its
tests and a benchmark, a README for its users, and a workflow for GitHub that tests it, builds it
for all systems, verifies it, and makes a release of a tag. Change what it does in main.go.`,
		Example: `  thresh plugins new keep-last`,
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
			}
			written, err := starter.New(a.path(name), name)
			if errors.Is(err, starter.ErrExists) {
				err = fmt.Errorf("%w: choose another name, or move what is in it", err)
			}
			if err != nil {
				return err
			}
			for _, file := range written {
				fmt.Fprintln(a.out, name+"/"+file)
			}
			fmt.Fprintf(a.err, `
cd %s
go mod tidy
go test ./...
CGO_ENABLED=0 go build -trimpath -o dist/thresh-strategy-%[1]s .
thresh plugins verify dist/thresh-strategy-%[1]s
`, name)
			return nil
		},
	}
}
