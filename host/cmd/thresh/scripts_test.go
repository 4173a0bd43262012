package main_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

var update = flag.Bool("update", false, "write what commands print into the scripts")

// TestScripts runs testdata/script: what commands print, and with which status they end. In a script:
//
//	thresh [NAME=value…] ARGUMENT… [<FILE]   runs a command in this process, with variables and input
//	agent [FLAG…] <FILE                      sends each line of a file, METHOD PARAMS, to thresh run; prints the answers
//	model KIND [FILE|STATUS…]                starts a model provider, which answers with each in turn, then with the last
//	asked N [PATTERN]                        is how often it was asked since, and what is in the last request
//	fails STATUS PATTERN ARGUMENT…           runs a command that prints nothing but this on stderr, in few lines
//	tables N HEAD                            sees to it that tables on stdout with that heading have at most N columns
//	lines N                                  sees to it that all lines on stdout have at most N columns
//	status N                                 is the exit status of the last command
//	plugin NAME…                             puts plugins into the plugin directory
//	built DIR NAME VERSION [WORD…]           builds a strategy for this platform, in DIR/$PLATFORM
//	signer FILE                              makes a private key of minisign
//	publish DIR VERSION [WORD…]              publishes a release of github.com/acme/keep-last
//	registry DIR                             serves what was published
//	append FILE                              makes a program another one that does the same
//	cut FILE N                               removes the last N bytes; -N adds as many that are 0
//	mode FILE MODE                           is the mode of a file
//
// The session s.json is in the directory of each: a write makes an earlier read stale, and an inclusion comes twice.
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
			return os.WriteFile(filepath.Join(env.WorkDir, "s.json"), []byte(pruning), 0o600)
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
			"cut": func(ts *testscript.TestScript, _ bool, args []string) {
				path := ts.MkAbs(args[0])
				n, err := strconv.Atoi(args[1])
				ts.Check(errors.Join(err, os.Truncate(path, int64(len(ts.ReadFile(path))-n))))
			},
			"agent": agentInScript,
			"fails": failsInScript,
			"tables": func(ts *testscript.TestScript, _ bool, args []string) {
				most, err := strconv.Atoi(args[0])
				ts.Check(err)
				inTable, tables := false, 0
				for line := range strings.Lines(ts.ReadFile("stdout")) {
					line = strings.TrimSuffix(line, "\n")
					if strings.HasPrefix(strings.TrimLeft(line, " *"), args[1]) {
						inTable, tables = true, tables+1
					}
					if line == "" { // the prose after a table wraps by itself
						inTable = false
					}
					if width := utf8.RuneCountInString(line); inTable && width > most {
						ts.Fatalf("%d columns: %s", width, line)
					}
				}
				if tables == 0 {
					ts.Fatalf("no such table")
				}
			},
			"lines": func(ts *testscript.TestScript, _ bool, args []string) {
				most, err := strconv.Atoi(args[0])
				ts.Check(err)
				if line := wider(ts.ReadFile("stdout"), most); line != "" {
					ts.Fatalf("%d columns: %s", utf8.RuneCountInString(line), line)
				}
			},
			"model":    modelInScript,
			"asked":    askedInScript,
			"built":    builtInScript,
			"signer":   signerInScript,
			"publish":  publishInScript,
			"registry": registryInScript,
			"mode": func(ts *testscript.TestScript, _ bool, args []string) {
				if info, err := os.Stat(ts.MkAbs(args[0])); err != nil || info.Mode().String() != args[1] {
					ts.Fatalf("%v, %v", info.Mode(), err)
				}
			},
			"status": func(ts *testscript.TestScript, _ bool, args []string) {
				if got := strconv.Itoa(scriptPlace(ts).code); got != args[0] {
					ts.Fatalf("exit status %s", got)
				}
			},
		},
	})
}

// wider returns the first line of a text that has more columns; "" if none has.
func wider(text string, columns int) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > columns {
			return line
		}
	}
	return ""
}

func scriptPlace(ts *testscript.TestScript) *place { return ts.Value(placeKey{}).(*place) }

// command is thresh with the arguments of a script's command, which variables precede and a file of input may follow.
func scriptCommand(ts *testscript.TestScript, args []string) (cmd *exec.Cmd, input string) {
	n := 0
	for n < len(args) && strings.Contains(args[n], "=") && !strings.HasPrefix(args[n], "-") {
		n++
	}
	env, args := args[:n], args[n:]
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "<") }); i >= 0 {
		input, args = ts.ReadFile(args[i][1:]), args[:i]
	}
	cmd = scriptPlace(ts).command(args...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), append(cmd.Env, env...)
	return cmd, input
}

func runInScript(ts *testscript.TestScript, fails bool, args []string) {
	cmd, input := scriptCommand(ts, args)
	cmd.Stdin = strings.NewReader(input)
	scriptResult(ts, fails, scriptPlace(ts).execute(cmd))
}

func failsInScript(ts *testscript.TestScript, _ bool, args []string) {
	cmd, _ := scriptCommand(ts, args[2:])
	r := scriptPlace(ts).execute(cmd)
	r.stderr = scriptNames(ts).Replace(r.stderr)
	if is, err := regexp.MatchString("(?m)"+args[1], r.stderr); err != nil || !is || strconv.Itoa(r.code) != args[0] ||
		r.stdout != "" || strings.Count(r.stderr, "\n") > 4 {
		ts.Fatalf("%v, exit status %d\n[stdout]\n%s[stderr]\n%s", err, r.code, r.stdout, r.stderr)
	}
}

var (
	request = regexp.MustCompile(`^[a-z]+(\.[a-zA-Z]+)?( \{.*)?$`)
	took    = regexp.MustCompile(`"(\w+Ns)":\d+`)
)

// agentInScript sends all requests before it reads an answer. A line that is no METHOD PARAMS is sent as it stands, and
// @s.json in one is the list of entries of that file. The answers are in the order of the requests: the number of the line, and the result; or the code, the message and the
// data of an error. Durations are 0.
func agentInScript(ts *testscript.TestScript, fails bool, args []string) {
	cmd, input := scriptCommand(ts, append([]string{"run"}, args...))
	var lines strings.Builder
	n := 0
	for line := range strings.Lines(input) {
		n++
		if line = strings.TrimSuffix(line, "\n"); request.MatchString(line) {
			line = strings.ReplaceAll(line, "@s.json", strings.ReplaceAll(pruning, "\n", ""))
			method, params, _ := strings.Cut(line, " ")
			line = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, n, method, cmp.Or(params, "{}"))
		}
		lines.WriteString(line + "\n")
	}
	cmd.Stdin = strings.NewReader(lines.String())
	r := scriptPlace(ts).execute(cmd)
	var answers []string
	for line := range strings.Lines(r.stdout) {
		var a struct {
			JSONRPC    string
			ID, Result json.RawMessage
			Error      *struct {
				Code    int
				Message string
				Data    json.RawMessage
			}
		}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		ts.Check(dec.Decode(&a))
		text := string(a.Result)
		if a.Error != nil {
			text = fmt.Sprintf("%d %s %s", a.Error.Code, a.Error.Message, a.Error.Data)
		}
		answers = append(answers, fmt.Sprintf("%4s %s\n", a.ID, took.ReplaceAllString(text, `"$1":0`)))
	}
	slices.Sort(answers)
	r.stdout = strings.Join(answers, "")
	scriptResult(ts, fails, r)
}

func modelInScript(ts *testscript.TestScript, _ bool, args []string) {
	var replies []modelapi.Reply
	for _, arg := range args[1:] {
		reply := summarised
		if status, err := strconv.Atoi(arg); err == nil {
			reply = modelapi.Fail(status)
		} else {
			reply.Text = ts.ReadFile(arg)
		}
		replies = append(replies, reply)
	}
	var o modelapi.Options
	if len(replies) > 0 {
		o.Reply = func(r *modelapi.Request) modelapi.Reply { return replies[min(r.Number, len(replies))-1] }
	}
	p := scriptPlace(ts)
	p.model, p.seen = withModel(p, args[0], o), 0
}

func askedInScript(ts *testscript.TestScript, _ bool, args []string) {
	p := scriptPlace(ts)
	asked := p.model.asked()
	n := len(asked) - p.seen
	p.seen = len(asked)
	if strconv.Itoa(n) != args[0] {
		ts.Fatalf("asked %d times", n)
	}
	if len(args) > 1 && !regexp.MustCompile(args[1]).MatchString(asked[len(asked)-1]) {
		ts.Fatalf("asked:\n%s", asked[len(asked)-1])
	}
}

// scriptNames replaces the names of directories, which are others each time.
func scriptNames(ts *testscript.TestScript) *strings.Replacer {
	p := scriptPlace(ts)
	return strings.NewReplacer(ts.Getenv("WORK"), "$WORK", p.plugins, "$PLUGINS", p.dir, "$PLACE", os.TempDir(), "$TMP")
}

// scriptResult is what a script sees of a command.
func scriptResult(ts *testscript.TestScript, fails bool, r result) {
	p := scriptPlace(ts)
	p.code = r.code
	if p.model != nil {
		p.model.keyless(r, nil)
	}
	names := strings.NewReplacer(ts.Getenv("WORK"), "$WORK", p.plugins, "$PLUGINS", p.dir, "$PLACE", os.TempDir(), "$TMP")
	_, _ = names.WriteString(ts.Stdout(), r.stdout)
	_, _ = names.WriteString(ts.Stderr(), r.stderr)
	if (r.code != 0) != fails {
		ts.Logf("[stdout]\n%s[stderr]\n%s", r.stdout, r.stderr)
		ts.Fatalf("exit status %d", r.code)
	}
}

type placeKey struct{}
