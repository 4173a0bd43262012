package summary

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
)

func TestChoose(t *testing.T) {
	m := func(tokens ...int) (out []message) {
		for _, n := range tokens {
			out = append(out, message{tokens: n})
		}
		return out
	}
	latest := func(messages []message, i int) []message {
		messages[i].latest = true
		return messages
	}
	tests := map[string]struct {
		messages []message
		budget   int
		want     []bool
	}{
		"none":                            {nil, 10, []bool{}},
		"all fit":                         {m(3, 3, 4), 10, []bool{true, true, true}},
		"the newest first":                {m(3, 3, 4), 7, []bool{false, true, true}},
		"a large one keeps no other out":  {m(3, 50, 4), 7, []bool{true, false, true}},
		"no budget":                       {m(1, 1), 0, []bool{false, false}},
		"the latest, whatever it counts":  {latest(m(1, 99), 1), 10, []bool{false, true}},
		"the latest counts in the budget": {latest(m(5, 4, 6), 2), 10, []bool{false, true, true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, kept := choose(test.messages, test.budget)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			for _, k := range got {
				if k {
					kept--
				}
			}
			if kept != 0 {
				t.Errorf("the number of those kept is %d too high", kept)
			}
		})
	}
}

func TestGather(t *testing.T) {
	taxonomy, err := tools.ForPresets([]string{"llxprt"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	type use struct{ tool, params, result, err string }
	history := func(uses ...use) (out []sdk.Content) {
		for _, u := range uses {
			call := sdk.ToolCall{ID: "1", Name: u.tool, Parameters: []byte(u.params)}
			out = append(out, sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{call}})
			if u.result != "unanswered" {
				r := sdk.ToolResponse{CallID: "1", ToolName: u.tool, Error: u.err}.WithResultText(u.result)
				out = append(out, sdk.Content{Speaker: sdk.Tool, Blocks: []sdk.Block{r}})
			}
		}
		return out
	}
	read := func(p string) use { return use{"read_file", `{"file_path":"` + p + `"}`, "text", ""} }
	write := func(p string) use { return use{"write_file", `{"file_path":"` + p + `","content":"x"}`, "ok", ""} }
	run := func(c, err string) use { return use{"run_shell_command", `{"command":"` + c + `"}`, "out", err} }
	older := facts{modified: []string{"old.go", "gone.go (deleted)"},
		commands: []string{"make — success", "ls — error"},
		read:     []string{"r.go", "a.go"}}
	tests := map[string]struct {
		history []sdk.Content
		carried map[int]facts
		want    facts
	}{
		"nothing": {nil, nil, facts{}},
		"newest first, each once, by one name": {
			history(read("a.go"), read("/w/b.go"), read("./x/../a.go"), read("/etc/hosts")), nil,
			facts{read: []string{"/etc/hosts", "a.go", "b.go"}}},
		"modified, then read": {history(write("a.go"), read("a.go"), read("b.go")), nil,
			facts{modified: []string{"a.go"}, read: []string{"b.go"}}},
		"what failed": {history(use{"write_file", `{"file_path":"a.go"}`, "no", "denied"},
			use{"read_file", `{"file_path":"b.go"}`, "no", "denied"}), nil, facts{}},
		"unanswered": {history(use{"write_file", `{"file_path":"a.go"}`, "unanswered", ""}), nil, facts{}},
		"commands with the newest outcome": {
			history(run("go test", "exit 1"), run(`a\nb`, ""), run("go test", ""),
				use{"run_shell_command", `{"command":"sleep"}`, "unanswered", ""}), nil,
			facts{commands: []string{"sleep — no result", "go test — success", "a b — success"}}},
		"carried on": {append([]sdk.Content{{Speaker: sdk.Human}}, history(write("r.go"), run("make", "exit 2"))...),
			map[int]facts{0: older},
			facts{modified: []string{"r.go", "old.go", "gone.go (deleted)"},
				commands: []string{"make — error", "ls — error"},
				read:     []string{"a.go"}}},
		"unknown tools": {history(use{"paint", `{"file_path":"a.go"}`, "ok", ""}), nil, facts{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := sdk.CompressInput{Call: sdk.Call{History: test.history, Tools: taxonomy}}
			in.WorkspaceRoot = "/w"
			got := gather(in, Range{0, len(test.history)}, turnsOf(test.history), test.carried)
			if d := cmp.Diff(test.want, got, cmp.AllowUnexported(facts{}), equateEmpty); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
