package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// planned is a session in which the agent wrote a list of tasks before it went to work.
func planned(tool, parameters string) string {
	const head = `{"speaker":"human","blocks":[{"type":"text","text":"Make it fast."}]}
{"speaker":"ai","blocks":[{"type":"tool_call","id":"plan","name":%q,"parameters":%s}]}
{"speaker":"tool","blocks":[{"type":"tool_response","callId":"plan","toolName":%q,"result":"ok"}]}
`
	return fmt.Sprintf(head, tool, parameters, tool) + conversation(80)
}

// TestTasksOfARecordedSessionReachTheModel: those that are not done.
func TestTasksOfARecordedSessionReachTheModel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tool, parameters string }{
		"Claude Code": {"TodoWrite",
			`{"todos":[{"content":"Profile the lexer","status":"in_progress","activeForm":"x"},` +
				`{"content":"Write notes","status":"completed","activeForm":"x"}]}`},
		"Gemini CLI": {"write_todos", `{"todos":[{"description":"Profile the lexer","status":"in_progress"},` +
			`{"description":"Write notes","status":"completed"}]}`},
		"Codex": {"update_plan", `{"plan":[{"step":"Profile the lexer","status":"in_progress"},` +
			`{"step":"Write notes","status":"completed"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newLLMPlaceHere(t, "openai", modelapi.Options{})
			p.file("s.jsonl", planned(c.tool, c.parameters))
			p.run("compare", "--strategy", "middle-out", "--set", "model.contextLimit=10000", "s.jsonl").done(t)
			p.run("plugins", "try", "s.jsonl").done(t)
			asked := p.asked()
			if len(asked) < 2 {
				t.Fatalf("%d requests", len(asked))
			}
			for i, text := range asked {
				if _, after, _ := strings.Cut(text, "list of tasks that are not done"); !strings.Contains(after,
					"[in_progress] Profile the lexer") || strings.Contains(after, "Write notes") {
					t.Errorf("request %d has for tasks: %.500q", i, after)
				}
			}
			p.run("compare", "--strategy", "high-density", "--set", "model.contextLimit=10000", "s.jsonl").done(t)
			if n := len(p.asked()) - len(asked); n > 0 {
				t.Errorf("a strategy without a model asked %d times", n)
			}
		})
	}
}

// TestTasksOfAnAgentReachTheModel: the list that was set last, and none that cannot be one.
func TestTasksOfAnAgentReachTheModel(t *testing.T) {
	t.Parallel()
	p := newLLMPlace(t, "openai", modelapi.Options{})
	a := p.serve()
	s := a.open("s", object{"model.contextLimit": 20_000})
	set := func(todos ...object) object { return object{"session": s, "todos": todos} }
	a.call("history.add", object{"session": s, "entries": entries(t, turns(60))}, nil)
	a.call("todos.set", set(object{"id": "1", "content": "Drop this", "status": "pending"}), nil)
	a.call("todos.set", set(
		object{"id": "1", "content": "Profile the lexer", "status": "in_progress",
			"subtasks": []object{{"id": "1a", "content": "Find a corpus", "status": "pending"}}},
		object{"id": "2", "content": "Write notes", "status": "completed"},
	), nil)
	a.refused(-32000, "todos.set", set(object{"id": "3", "content": "Ship it", "status": "started"}), "todos[0]",
		`"started"`, "in_progress")
	a.refused(-32000, "todos.set", set(object{"id": "3", "content": " ", "status": "pending"}), "todos[0]", "content")
	a.prepare(s)
	a.end()
	asked := strings.Join(p.asked(), "\n")
	for text, want := range map[string]bool{
		"[in_progress] Profile the lexer": true, "  - [pending] Find a corpus": true, "Write notes": false,
		"Drop this": false, "Ship it": false,
	} {
		if strings.Contains(asked, text) != want {
			t.Errorf("the request has %q: %v", text, !want)
		}
	}
}

// TestAPromptOfOnesOwn is taken over, edited and used; the one for the strategy and model before others.
func TestAPromptOfOnesOwn(t *testing.T) {
	t.Parallel()
	p := newLLMPlaceHere(t, "anthropic", modelapi.Options{})
	p.file("s.jsonl", workday(60))
	p.run("llm", "prompts", "eject", "mine").done(t)
	text, err := os.ReadFile(p.path("work", "mine", "compression.md"))
	if err != nil {
		t.Fatal(err)
	}
	p.edit("mine/compression.md", string(text)+"\nFOR EVERYBODY\n")
	p.edit("mine/one-shot/writer-1/compression.md", string(text)+"\nFOR WRITER-1\n")
	for strategy, want := range map[string]string{"middle-out": "FOR EVERYBODY", "one-shot": "FOR WRITER-1"} {
		p.run("plugins", "try", "--strategy", strategy, "--set", "prompts.dir=mine", "s.jsonl").done(t)
		asked := p.asked()
		if last := asked[len(asked)-1]; !strings.Contains(last, want) || strings.Count(last, "FOR ") != 1 {
			t.Errorf("%s: the request has not %q alone", strategy, want)
		}
		shown := p.run("llm", "prompts", "show", "--strategy", strategy, "--set", "prompts.dir=mine").done(t)
		if !strings.Contains(shown.stdout, want) {
			t.Errorf("%s: prompts show says otherwise: %s", strategy, shown.stderr)
		}
	}
}

// edit writes a file below the working directory.
func (p *llmPlace) edit(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path("work", name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	p.file(name, text)
}

func TestABrokenPromptIsAnErrorThatNamesTheFile(t *testing.T) {
	t.Parallel()
	p := newLLMPlaceHere(t, "openai", modelapi.Options{})
	p.file("s.jsonl", workday(60))
	for name, c := range map[string]struct{ text, want string }{
		"empty":               {" \n", "empty"},
		"not UTF-8":           {"<state_snapshot>\n\xff", "line 2 is not UTF-8"},
		"without the section": {"Write a <state_snapshot> with <overall_goal>.", "<user_directives>"},
		"no prompt":           {"Be brief.", "<state_snapshot>"},
	} {
		t.Run(name, func(t *testing.T) {
			p.edit("mine/middle-out/compression.md", c.text)
			p.run("plugins", "try", "--set", "prompts.dir=mine", "s.jsonl").failed(t, 1, "mine/middle-out/compression.md",
				c.want, "middle-out")
		})
	}
	p.run("plugins", "try", "--set", "prompts.dir=nosuch", "s.jsonl").failed(t, 1, "nosuch", "no such file")
	if n := len(p.server.Requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

// TestTheBudgetOfOneCompressEndsIt, and says which setting it is.
func TestTheBudgetOfOneCompressEndsIt(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		p := newLLMPlaceHere(t, kind, modelapi.Options{})
		p.file("s.jsonl", conversation(400))
		for _, c := range []struct {
			set               string
			calls, tokensThen int // at most, of tokens before the last call
		}{{"compression.llm.maxTokens=8000", 32, 8000}, {"compression.llm.maxTokens=20000", 32, 20_000}} {
			before := len(p.server.Requests())
			key, _, _ := strings.Cut(c.set, "=")
			p.run("plugins", "try", "s.jsonl", "--set", c.set, "--set", "profiles.writer.provider.contextLimit=16000",
				"--set", "profiles.writer.provider.maxOutput=2000").failed(t, 1, key, "middle-out", "budget")
			made := p.server.Requests()[before:]
			if len(made) == 0 || len(made) > c.calls {
				t.Fatalf("%s: %d calls", c.set, len(made))
			}
			spent := 0
			for _, call := range made[:len(made)-1] {
				spent += call.Tokens + modelapi.Tokens(snapshot)
			}
			if spent >= c.tokensThen {
				t.Errorf("%s: another call was made when %d tokens were spent", c.set, spent)
			}
		}
	})
}
