package main_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

var update = flag.Bool("update", false, "write what commands print into the scripts")

// TestScripts runs testdata/script: what commands print, and with which status they end. In a script:
//
//	thresh [NAME=value…] ARGUMENT… [<FILE]   runs a command in this process, with variables and input
//	sorted                                   writes the lines of stdout, sorted, to the file replies
//	status N                                 is the exit status of the last command
//	plugin NAME…                             puts plugins into the plugin directory
//	append FILE                              makes a program another one that does the same
//	cut FILE N                               removes the last N bytes
//
// go test -run TestScripts -update writes what is printed into the scripts.
func TestScripts(t *testing.T) {
	t.Parallel()
	samples := repo.Samples(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireUniqueNames: true, ContinueOnError: true,
		Setup: func(env *testscript.Env) error {
			p := newPlaceHere(env.T().(testing.TB))
			env.Values[placeKey{}] = p
			env.Setenv("PLUGINS", p.plugins)
			env.Setenv("PLACE", p.dir)
			env.Setenv("SAMPLES", filepath.Dir(samples[0]))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"thresh": runInScript,
			"plugin": func(ts *testscript.TestScript, _ bool, names []string) {
				for _, name := range names {
					scriptPlace(ts).add(name)
				}
			},
			"append": func(ts *testscript.TestScript, _ bool, args []string) { // another file of the same program
				f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY, 0)
				ts.Check(err)
				_, err = f.WriteString("another version")
				ts.Check(errors.Join(err, f.Close()))
			},
			"cut": func(ts *testscript.TestScript, _ bool, args []string) { // as many bytes at the end
				path := ts.MkAbs(args[0])
				n, err := strconv.Atoi(args[1])
				ts.Check(errors.Join(err, os.Truncate(path, int64(len(ts.ReadFile(path))-n))))
			},
			"sorted": func(ts *testscript.TestScript, _ bool, _ []string) { // the lines of stdout, in the file replies
				lines := slices.Sorted(strings.Lines(ts.ReadFile("stdout")))
				ts.Check(os.WriteFile(ts.MkAbs("replies"), []byte(strings.Join(lines, "")), 0o600))
			},
			"status": func(ts *testscript.TestScript, _ bool, args []string) {
				if got := strconv.Itoa(scriptPlace(ts).code); got != args[0] {
					ts.Fatalf("exit status %s", got)
				}
			},
		},
	})
}

func scriptPlace(ts *testscript.TestScript) *place { return ts.Value(placeKey{}).(*place) }

func runInScript(ts *testscript.TestScript, fails bool, args []string) {
	p := scriptPlace(ts)
	n := 0
	for n < len(args) && strings.Contains(args[n], "=") && !strings.HasPrefix(args[n], "-") {
		n++
	}
	env, args := args[:n], args[n:]
	input := ""
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "<") }); i >= 0 {
		input, args = ts.ReadFile(args[i][1:]), args[:i]
	}
	cmd := p.command(args...)
	cmd.Dir, cmd.Env, cmd.Stdin = ts.MkAbs("."), append(cmd.Env, env...), strings.NewReader(input)
	r := p.execute(cmd)
	p.code = r.code
	// The directories have other names each time.
	names := strings.NewReplacer(ts.Getenv("WORK"), "$WORK", p.plugins, "$PLUGINS", p.dir, "$PLACE", os.TempDir(), "$TMP")
	_, _ = names.WriteString(ts.Stdout(), r.stdout)
	_, _ = names.WriteString(ts.Stderr(), r.stderr)
	if (r.code != 0) != fails {
		ts.Logf("[stdout]\n%s[stderr]\n%s", r.stdout, r.stderr)
		ts.Fatalf("exit status %d", r.code)
	}
}

type placeKey struct{}
