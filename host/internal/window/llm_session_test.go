package window_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// writing opens a host whose strategies have a model, with further settings.
func writing(t *testing.T, kind string, server *modelapi.Server, settings map[string]any) *window.Host {
	t.Helper()
	return open(t, withModel(kind, server, settings))
}

// withModel adds settings of a model for strategies to settings.
func withModel(kind string, server *modelapi.Server, settings map[string]any) map[string]any {
	all := map[string]any{
		"compression.strategy": "one-shot", "compression.profile": "writer", "model.contextLimit": 20_000,
		"profiles.writer.provider.kind": kind, "profiles.writer.provider.model": "writer-1",
		"profiles.writer.provider.baseURL": server.URL, "profiles.writer.provider.retries": 0,
	}
	for key, value := range settings {
		all[key] = value
	}
	return all
}

func summary(*modelapi.Request) modelapi.Reply {
	return modelapi.Reply{Text: "<state_snapshot>\n<overall_goal>\nA parser that never " +
		"panics.\n</overall_goal>\n</state_snapshot>"}
}

// long is a conversation of n questions and answers, of about 400 tokens together.
func long(n int) (out []content.Content) {
	for i := range n {
		out = append(out, says(content.Human, fmt.Sprint("question ", i)),
			says(content.AI, strings.Repeat("a long answer, ", 100)))
	}
	return out
}

func eachKind(t *testing.T, test func(t *testing.T, kind string)) {
	for _, kind := range []string{"openai", "anthropic"} {
		t.Run(kind, func(t *testing.T) { test(t, kind) })
	}
}

// TestSetTodos: those that are not done go into the request, and what is no list of tasks is refused.
func TestSetTodos(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		server := modelapi.Start(t, modelapi.Options{Reply: summary})
		s := begin(t, writing(t, kind, server, nil), nil)
		add(t, s, long(50)...)
		must(t, s.SetTodos(t.Context(), []sdk.Todo{{Content: "Profile the lexer", Status: todos.InProgress},
			{Content: "Write notes", Status: todos.Completed}}), nil)
		err := s.SetTodos(t.Context(), []sdk.Todo{{Content: "Ship it", Status: "begun"}})
		if must(t, err, todos.ErrInvalid); !strings.Contains(err.Error(), `"begun"`) ||
			!strings.Contains(err.Error(), s.ID()) {
			t.Errorf("a state that is none: %v", err)
		}
		if out := prepareTurn(t, s).Outcome.Compress; out.Kind != outcome.KindApplied || out.LLM == nil ||
			out.LLM.InputTokens == 0 {
			t.Errorf("%+v", out)
		}
		var text string
		for _, m := range server.Requests()[0].Asked().Messages {
			text += m.Text + "\n"
		}
		if !strings.Contains(text, "Profile the lexer") || strings.Contains(text, "Write notes") ||
			strings.Contains(text, "Ship it") {
			t.Error("the request has other tasks")
		}
	})
}

// TestTodosAreReadFromToolCalls of a live session, until the agent says itself what its tasks are.
func TestTodosAreReadFromToolCalls(t *testing.T) {
	server := modelapi.Start(t, modelapi.Options{Reply: summary})
	h := writing(t, "openai", server, nil)
	call := content.ToolCall{ID: "t1", Name: "TodoWrite", Parameters: []byte(
		`{"todos":[{"id":"1","content":"Profile the lexer","status":"pending"},` +
			`{"id":"2","content":"Write notes","status":"completed"}]}`)}
	for _, own := range []bool{false, true} {
		s := begin(t, h, nil)
		add(t, s, content.Content{Speaker: content.AI, Blocks: []content.Block{call}},
			content.Content{Speaker: content.Tool, Blocks: []content.Block{
				content.ToolResponse{CallID: "t1", ToolName: "TodoWrite", Result: content.String("ok")}}})
		if own {
			must(t, s.SetTodos(t.Context(), []sdk.Todo{{Content: "Tune the cache", Status: todos.Pending}}), nil)
		}
		add(t, s, long(50)...)
		before := len(server.Requests())
		prepareTurn(t, s)
		var text string
		for _, m := range server.Requests()[before].Asked().Messages {
			text += m.Text + "\n"
		}
		// Both tasks are in the record of the call; the one that is not done is also in the list of tasks.
		listed := strings.Count(text, "Profile the lexer") > strings.Count(text, "Write notes")
		if listed == own || strings.Contains(text, "Tune the cache") != own {
			t.Errorf("own %v: listed %v, Tune the cache %v", own, listed, strings.Contains(text, "Tune the cache"))
		}
	}
}

// TestWhoCancelsCancelsTheModelCall, on the wire and within a second, be it the caller or the end of the session. That
// is no failure of the strategy: the next turn tries again.
func TestWhoCancelsCancelsTheModelCall(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		calls := make(chan *modelapi.Request, 10)
		server := modelapi.Start(t, modelapi.Options{Reply: summary,
			OnRequest: func(c *modelapi.Request) { calls <- c }})
		h := writing(t, kind, server, nil)
		for name, cancel := range map[string]func(s *window.Session, cancel context.CancelFunc){
			"the caller":  func(_ *window.Session, cancel context.CancelFunc) { cancel() },
			"the session": func(s *window.Session, _ context.CancelFunc) { s.Close() },
		} {
			s := begin(t, h, nil)
			before := long(50)
			add(t, s, before...)
			server.Queue(modelapi.Reply{Fault: modelapi.FaultHang})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			done := make(chan error, 1)
			go func() {
				_, err := s.Prepare(ctx, window.Sending{})
				done <- err
			}()
			call := <-calls
			cancel(s, stop)
			select {
			case <-call.Ended():
			case <-time.After(time.Second):
				t.Fatalf("%s: the model is still asked", name)
			}
			must(t, <-done, context.Canceled)
			after := owned(t, s).Contents()
			for i := range after { // the newest message was pinned
				after[i] = check.MarkKept(after[i], "")
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("%s: the history changed:\n%s", name, diff)
			}
			if name == "the caller" {
				if out := prepareTurn(t, s).Outcome.Compress; out.Kind != outcome.KindApplied {
					t.Errorf("the next turn: %+v", out)
				}
				<-calls
			}
		}
	})
}

// TestAProfileThatCannotBeUsed is an error before anything is done, and the agent gets its history all the same.
func TestAProfileThatCannotBeUsed(t *testing.T) {
	server := modelapi.Start(t, modelapi.Options{})
	for name, c := range map[string]struct {
		settings map[string]any
		want     error
	}{
		"none":     {map[string]any{"compression.profile": ""}, prepare.ErrNoLLM},
		"no key":   {map[string]any{"profiles.writer.provider.keyEnv": "THRESH_TEST_NO_SUCH_KEY"}, llm.ErrProfile},
		"key file": {map[string]any{"profiles.writer.provider.keyFile": "/nonexistent/key"}, os.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, writing(t, "openai", server, c.settings), nil)
			add(t, s, long(50)...)
			p, err := s.Prepare(t.Context(), window.Sending{})
			must(t, err, c.want)
			if len(p.Contents()) != 100 || p.Tokens != owned(t, s).Tokens || p.Outcome.Tokens != p.Tokens {
				t.Errorf("%d entries, %d tokens", len(p.Contents()), p.Tokens)
			}
		})
	}
}

// TestWhatComesInWhileTheModelWrites is in the transcript before the history is rewritten, and in the history after it.
func TestWhatComesInWhileTheModelWrites(t *testing.T) {
	var s *window.Session
	server := modelapi.Start(t, modelapi.Options{Reply: func(r *modelapi.Request) modelapi.Reply {
		if _, err := s.Add(t.Context(), window.Entries(says(content.Human, "one more thing"))); err != nil {
			t.Error(err)
		}
		return summary(r)
	}})
	s = begin(t, writing(t, "anthropic", server, map[string]any{"transcript.dir": t.TempDir()}), nil)
	before := long(50)
	add(t, s, before...)
	p := prepareTurn(t, s)
	if p.Outcome.Compress.Kind != outcome.KindApplied || texts(p.Contents())[len(p.Contents())-1] != "one more thing" {
		t.Errorf("%+v, the end is %q", p.Outcome.Compress, texts(p.Contents())[len(p.Contents())-1])
	}
	kept, err := transcript.ReadFile(s.TranscriptPath(), transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(before, says(content.Human, "one more thing")), kept.Entries); diff != "" {
		t.Errorf("the transcript:\n%s", diff)
	}
	must(t, s.Set(t.Context(), "transcript.dir", t.TempDir()), window.ErrFixed)
}

// TestAnErrorOfTheModelCanBeTold by what it is.
func TestAnErrorOfTheModelCanBeTold(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string) {
		server := modelapi.Start(t, modelapi.Options{})
		h := writing(t, kind, server, nil)
		for name, c := range map[string]struct {
			reply     modelapi.Reply
			want      error
			retryable bool
		}{
			"429": {modelapi.RateLimited(0), llm.ErrRateLimited, true},
			"401": {modelapi.Fail(401), llm.ErrUnauthorized, false},
			"cut": {modelapi.Reply{Fault: modelapi.FaultCut, Text: "x"}, llm.ErrIncomplete, true},
		} {
			s := begin(t, h, nil)
			add(t, s, long(50)...)
			server.Queue(c.reply)
			_, err := s.Prepare(t.Context(), window.Sending{})
			var failed *prepare.CompressError
			if must(t, err, c.want); !errors.As(err, &failed) || failed.Strategy != "one-shot" ||
				failed.Profile != "writer" || failed.Retryable != c.retryable {
				t.Errorf("%s: %+v", name, failed)
			}
		}
	})
}
