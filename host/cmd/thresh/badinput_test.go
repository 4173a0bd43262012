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

// An agent may still be writing its file, or was killed while it did.
func TestAFileThatIsCutOffIsReadToItsLastWholeRecord(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	for file, c := range map[string]struct{ text, note string }{
		"cut.json":  {pruning[:len(pruning)-40], "read to its last whole record"},
		"cut.jsonl": {turns(3)[:4000], "line 6: the last record is cut off and was left out"},
	} {
		if r := p.run("tokens", p.file(file, c.text)).done(t); !strings.Contains(r.stderr, c.note) {
			t.Errorf("%s: no %q in %s", file, c.note, r.stderr)
		}
	}
	p.run("plugins", "try", "--step=optimize", ".").failed(t, 1, "is a directory")
}

// odd is a history with all that a history may have wrong and still be one. In odd[i], entry i is the bad one.
var odd = map[string]string{
	"entry 0: block 0 is null": `[{"speaker":"human","blocks":[null]}]`,
	"entry 1: unknown speaker": `[{"speaker":"human","blocks":[{"type":"text","text":"x"}]},` +
		`{"speaker":"robot","blocks":[{"type":"text","text":"x"}]}]`,
	"entry 0: the entry has no blocks":   `[{"speaker":"ai","blocks":null}]`,
	"entry 0: block 0 is of the unknown": `[{"speaker":"ai","blocks":[{"type":"hologram"}]}]`,
	"entry 0: block 1 repeats the call": `[{"speaker":"ai","blocks":[{"type":"tool_call","id":"1","name":"x",` +
		`"parameters":{}},{"type":"tool_call","id":"1","name":"x","parameters":{}}]}]`,
	"entry 0: block 0 answers the call": `[{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1",` +
		`"toolName":"x","result":"y"}]}]`,
}

func TestAnOddHistoryIsReadWithAWarning(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	for want, history := range odd {
		t.Run(want, func(t *testing.T) {
			p.file("odd.json", history)
			commands := []string{"tokens", "sessions convert --to native"}
			if want == "entry 1: unknown speaker" { // each command reads the same way
				commands = append(commands, "plugins try --step=optimize", "plugins try")
			}
			for _, command := range commands {
				r := p.run(append(strings.Fields(command), "odd.json")...).done(t)
				if r.stdout == "" || !strings.Contains(r.stderr, want) || !strings.HasPrefix(r.stderr, "odd.json: ") ||
					strings.Count(r.stderr, "\n") != 1 {
					t.Errorf("%s: on standard error: %q", command, r.stderr)
				}
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

func TestAWrongSettingNamesWhereItStands(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json", pruning)
	for name, c := range map[string]struct {
		yaml string
		args []string
		want []string
	}{
		"wrong type": {"compression:\n  threshold: high\n", nil,
			[]string{"thresh.yaml:2", "compression.threshold", `"high"`, "a number above 0 and at most 1"}},
		"out of range":      {"compression:\n  threshold: 1.5\n", nil, []string{"thresh.yaml:2", "1.5", "at most 1"}},
		"a list for a text": {"model:\n  name: [a, b]\n", nil, []string{"thresh.yaml:2", "model.name", "a list"}},
		"a misspelt key": {"# mine\n\ncompression:\n  treshold: 0.5\n", nil,
			[]string{"thresh.yaml:4", "compression.treshold", "compression.threshold"}},
		"no YAML":         {"compression: [\n", nil, []string{"thresh.yaml"}},
		"no such profile": {"", []string{"--profile", "nosuch"}, []string{"nosuch", "profile"}},
		"a flag": {"", []string{"--set", "model.contextLimit=many"},
			[]string{"--set", "model.contextLimit", `"many"`, "an integer"}},
		"no such file": {"", []string{"--config", "nosuch.yaml"}, []string{"nosuch.yaml", "no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			p.file("thresh.yaml", c.yaml)
			p.run(append([]string{"plugins", "try", "--step=optimize", "s.json"}, c.args...)...).failed(t, 1, c.want...)
		})
	}
	p.file("thresh.yaml", "")
	p.env = []string{"THRESH_COMPRESSION_THRESHOLD=yes"}
	p.run("plugins", "try", "--step=optimize", "s.json").failed(t, 1, "THRESH_COMPRESSION_THRESHOLD", `"yes"`, "a number")
}
