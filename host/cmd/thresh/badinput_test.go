package main_test

import (
	"os"
	"strings"
	"testing"
)

// reading are the commands that read a session.
var reading = []string{
	"plugins try --step=optimize", "plugins try", "tokens", "sessions convert --to native", "explain",
}

func TestAFileThatIsNoSessionIsOneClearError(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("empty", "")
	p.file("blank", " \n\n")
	p.file("binary", "\x7fELF\x00\x01\x02\x03")
	p.file("latin1", "[\"caf\xe9\"]")
	p.file("prose", "Dear diary,\n")
	p.file("broken.json", strings.Replace(pruning, `"speaker":"tool"`, `"speaker" "tool"`, 1))
	p.file("broken.jsonl", strings.Replace(turns(3), `"question 1"`, `"question 1`, 1))
	p.file("other.json", `{"name":"x","version":"1.0.0"}`)
	p.file("deep.json", strings.Repeat("[", 1<<20))
	sparse, err := os.Create(p.path("work", "large"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sparse.WriteString("["); err != nil {
		t.Fatal(err)
	}
	if err := sparse.Truncate(200_000_000); err != nil {
		t.Fatal(err)
	}
	_ = sparse.Close()
	for file, want := range map[string][]string{
		"missing.json": {"no such file"},
		"empty":        {"empty"},
		"blank":        {"empty"},
		"binary":       {"binary"},
		"latin1":       {"latin1"},
		"prose":        {"Dear diary", "claude-code"},
		"broken.json":  {"line 4", "expected ':'"},
		"broken.jsonl": {"line 3"},
		"other.json":   {`"version"`, "claude-code"},
		"deep.json":    {"deep"},
		"large":        {"too large", "200000000", "134217728"},
	} {
		t.Run(file, func(t *testing.T) {
			commands := reading
			if file != "empty" && testing.Short() {
				commands = reading[2:3] // one function reads files for all commands
			}
			for _, command := range commands {
				p.run(append(strings.Fields(command), file)...).failed(t, 1, append(want, file)...)
			}
		})
	}
}

func TestManyWarningsAreCut(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.jsonl", strings.Repeat(`{"speaker":"ai","blocks":[null]}`+"\n", 5000))
	r := p.run("tokens", "s.jsonl").done(t)
	if n := strings.Count(r.stderr, "\n"); n > 20 || !strings.Contains(r.stderr, "4990") {
		t.Errorf("%d lines on standard error:\n%.2000s", n, r.stderr)
	}
}
