package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

const (
	// key is what the model's server wants. No output may hold it.
	key = "sk-planted-4f7d2b90c1e8a653"
	// snapshot is what the model answers unless a test says otherwise.
	snapshot = "<state_snapshot>\n<overall_goal>\nA parser that never panics.\n</overall_goal>\n</state_snapshot>"
)

// llmPlace is a place with the strategies that need a model, and a model's server.
type llmPlace struct {
	*place
	server *modelapi.Server
	kind   string
}

var summarised = modelapi.Reply{Text: snapshot, Usage: modelapi.Usage{Input: 1000, Output: 200}}

// newLLMPlace makes a place whose profile "writer" leads to a server of its own, with the retries of one second
// attempt.
func newLLMPlace(t *testing.T, kind string, o modelapi.Options) *llmPlace {
	t.Helper()
	return withModel(newPlace(t), kind, o)
}

// newLLMPlaceHere is newLLMPlace in this process, as [newPlaceHere] is.
func newLLMPlaceHere(t *testing.T, kind string, o modelapi.Options) *llmPlace {
	t.Helper()
	return withModel(newPlaceHere(t), kind, o)
}

func withModel(at *place, kind string, o modelapi.Options) *llmPlace {
	at.t.Helper()
	if o.Reply == nil {
		o.Reply = modelapi.Always(summarised)
	}
	o.Key = key
	at.env = append(at.env, "WRITER_KEY="+key)
	p := &llmPlace{at, modelapi.Start(at.t, o), kind}
	p.userFile(fmt.Sprintf(`compression:
  strategy: middle-out
  profile: writer
profiles:
  writer:
    provider:
      kind: %[1]s
      baseURL: %[2]s
      model: writer-1
      keyEnv: WRITER_KEY
      contextLimit: 200000
      maxOutput: 4000
      retries: 1
      prices: {input: 3, output: 15}
  filed:
    provider: {kind: %[1]s, baseURL: %[2]s, model: writer-1, keyFile: %[3]s}
`, kind, p.server.URL, p.path("work", "writer.key")))
	return p
}

// userFile writes the user's file of settings: a provider cannot stand in the project's.
func (p *place) userFile(text string) {
	p.t.Helper()
	dir := p.path("home", "config", "thresh")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "thresh.yaml"), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *llmPlace) run(args ...string) result {
	p.t.Helper()
	return p.finish(p.command(args...))
}

func (p *llmPlace) finish(cmd *exec.Cmd) result {
	p.t.Helper()
	return p.keyless(p.place.finish(cmd), cmd.Args)
}

// keyless fails the test if anything that was printed, with all that can be logged, holds the key.
func (p *llmPlace) keyless(r result, args []string) result {
	p.t.Helper()
	if strings.Contains(r.stdout+r.stderr, key) {
		p.t.Errorf("%v printed the key", args)
	}
	return r
}

// serve starts 'thresh run'. When the test is over, no message may hold the key, nor what was logged.
func (p *llmPlace) serve(args ...string) *agent {
	p.t.Helper()
	p.program = "thresh-race"
	return p.talk(p.command(append([]string{"run", "--log-level", "trace"}, args...)...))
}

func (p *llmPlace) talk(cmd *exec.Cmd) *agent {
	p.t.Helper()
	var a *agent
	p.t.Cleanup(func() {
		if a == nil {
			return
		}
		text := a.stderr.String()
		for _, r := range a.replies {
			text += string(r.Result)
			if r.Error != nil {
				text += r.Error.Message
			}
		}
		if strings.Contains(text, key) {
			p.t.Error("thresh run printed the key")
		}
	})
	a = p.place.talk(cmd)
	return a
}

// asked are the texts of the requests that the model got, each with its messages joined.
func (p *llmPlace) asked() []string {
	var out []string
	for _, call := range p.server.Requests() {
		var texts []string
		for _, m := range call.Asked().Messages {
			texts = append(texts, m.Text)
		}
		out = append(out, strings.Join(texts, "\n"))
	}
	return out
}

// workday is a coding session of n entries in the native form, with calls, results and edits. It ends with a question.
func workday(n int) string {
	var b bytes.Buffer
	for _, c := range gen.Session(n-1, 7) {
		b.Write(append(c.AppendJSON(nil), '\n'))
	}
	b.WriteString(`{"speaker":"human","blocks":[{"type":"text","text":"And now make the lexer fast."}]}` + "\n")
	return b.String()
}

// conversation is a session of n entries, questions and answers without tools, of about 200 tokens each.
func conversation(n int) string {
	var b strings.Builder
	for i := range n / 2 {
		fmt.Fprintf(&b, `{"speaker":"human","blocks":[{"type":"text","text":"%squestion %d"}]}`+"\n",
			strings.Repeat("considering that, ", 60), 2*i)
		fmt.Fprintf(&b, `{"speaker":"ai","blocks":[{"type":"text","text":"%sanswer %d"}]}`+"\n",
			strings.Repeat("a long answer, ", 60), 2*i+1)
	}
	return b.String()
}

// entries reads the native form.
func entries(t *testing.T, lines string) []object {
	t.Helper()
	var out []object
	for line := range strings.Lines(lines) {
		e := parseJSON[object](t, line)
		delete(e, "threshId") // which a transcript's lines have
		out = append(out, e)
	}
	return out
}
