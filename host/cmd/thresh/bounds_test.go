package main_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"
)

// A machine that cannot enforce a measure of isolation runs plugins all the same by default. It says so each time: on
// standard error, in the outcome and in the listing.
func TestMissingIsolationIsSaid(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: no kernel to take Landlock from")
	}
	p := newPlace(t)
	session := p.file("s.json", pruning)
	without := func(args ...string) *exec.Cmd {
		cmd := p.command(args...)
		cmd.Path, cmd.Args = filepath.Join(bin, "nolandlock"), append([]string{"nolandlock"}, cmd.Args...)
		return cmd
	}
	const warning, could = "plugin starts without all isolation", "read and change your files"
	r := p.finish(without("compare", session))
	if r.code == 99 {
		t.Skip("SKIPPED: system calls cannot be filtered here: " + r.stderr)
	}
	if n := strings.Count(r.stderr, warning); n != 1 || !strings.Contains(r.stderr, could) ||
		!strings.Contains(r.stderr, "landlock") || r.code != 0 {
		t.Errorf("exit status %d, it says it %d times:\n%s", r.code, n, r.stderr)
	}
	if r := p.finish(without("plugins", "list")); !strings.Contains(r.stdout, "not isolated: files: ") {
		t.Errorf("the listing does not say it:\n%s", r.stdout)
	}
	r = p.finish(without("plugins", "try", "--step=optimize", "--set", "plugins.isolation=strict", session))
	if r.code == 0 || !strings.Contains(r.stderr, "cannot be isolated") {
		t.Errorf("strict: exit status %d:\n%s", r.code, r.stderr)
	}
	a := p.talk(without("run", "--log-level", "error"))
	a.open("s", nil)
	if got := fmt.Sprint(a.prepare("s").Outcome["notIsolated"]); !strings.Contains(got, "files: ") {
		t.Errorf("the outcome has notIsolated %q", got)
	}
	a.end()
}

// Names that a session or its file brings along cannot make a terminal do anything, whatever command shows them.
func TestNamesOfStrangersAreShownSafely(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	const escape = "\x1b[2J\x1b]0;x\a\u009b1m"
	name, err := json.Marshal("read_file" + escape)
	if err != nil {
		t.Fatal(err)
	}
	path, err := json.Marshal("/w/f" + escape + "\n[ERROR] thresh: forged.go")
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for i := range 6 {
		entries = append(entries, fmt.Sprintf(`{"speaker":"human","blocks":[{"type":"text","text":"go on"}]},
			{"speaker":"ai","blocks":[{"type":"tool_call","id":"c%[1]d","name":%[2]s,"parameters":{"file_path":%[3]s}}]},
			{"speaker":"tool","blocks":[{"type":"tool_response","callId":"c%[1]d","toolName":%[2]s,"result":"package x"}]}`,
			i, name, path))
	}
	file := p.file("s"+escape+"\n[ERROR] thresh: forged.json", "["+strings.Join(entries, ",")+"]")
	for _, args := range [][]string{
		{"tokens", file}, {"compare", "--turns", file}, {"explain", file}, {"plugins", "try", file},
		{"tokens", "missing" + escape}, {"plugins", "list", "--plugin-dir", "/missing" + escape},
		{"tokens", "--set", "model.name=" + escape, file},
	} {
		r := p.run(args...)
		if args[1] == "try" {
			r.stdout = "" // the history itself, as JSON for programs
		}
		for line := range strings.Lines(r.stdout + r.stderr) {
			if line = strings.TrimSuffix(line, "\n"); strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("%s: %q", args[0], line)
			}
			if strings.HasPrefix(line, "[ERROR] thresh") {
				t.Errorf("%s prints a forged line: %q", args[0], line)
			}
		}
	}
}
