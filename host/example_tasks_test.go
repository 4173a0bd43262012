package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/sdk/content"
)

// open is for examples that are about something else: a host, a session of it, and what closes both.
func open(o api.OpenRequest, settings ...config.Override) (*host.Host, *host.Session, func()) {
	h, err := openHost(settings...)
	if err != nil {
		panic(err)
	}
	s, err := h.Open(context.Background(), o)
	if err != nil {
		panic(err)
	}
	return h, s, func() { h.Close() }
}

func say(by content.Speaker, text string) content.Content {
	return content.Content{Speaker: by, Blocks: []content.Block{content.Text{Text: text}}}
}

// An agent that holds messages in its provider's form adds them as they are, and gets the request in the same form.
func ExampleSession_Add_messages() {
	_, s, done := open(api.OpenRequest{})
	defer done()
	_, err := s.Add(context.Background(), api.AddRequest{
		Format: api.Anthropic,
		System: json.RawMessage(`"Answer briefly."`),
		Messages: []json.RawMessage{
			json.RawMessage(`{"role":"user","content":[{"type":"text","text":"What is in a.go?"}]}`),
			json.RawMessage(`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"read","input":{"path":"a.go"}}]}`),
			json.RawMessage(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"package a"}]}`),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ready, err := s.Prepare(context.Background(), api.PrepareRequest{Format: api.Anthropic})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(ready.System))
	for _, m := range ready.Messages {
		fmt.Println(string(m))
	}
	// Output:
	// [{"type":"text","text":"Answer briefly."}]
	// {"role":"user","content":[{"type":"text","text":"What is in a.go?"}]}
	// {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"read","input":{"path":"a.go"}}]}
	// {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"package a"}]}
}

// An addition with a key can be repeated when nobody knows whether it took place: it takes place once.
func ExampleSession_Add_key() {
	_, s, done := open(api.OpenRequest{})
	defer done()
	more := api.Entries(say(content.Human, "Go on."))
	more.Key = "message 17"
	for range 2 {
		state, err := s.Add(context.Background(), more)
		fmt.Println(state.Tokens, "tokens", err)
	}
	// Output:
	// 7 tokens <nil>
	// 7 tokens <nil>
}

// With a store, a session goes on where it was, also after a crash.
func ExampleHost_Open() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store := config.Override{Key: "sessions.store", Value: "sqlite:" + filepath.Join(dir, "sessions.db")}
	for range 2 { // two runs of one program
		_, s, done := open(api.OpenRequest{ID: "task-1"}, store)
		h, err := s.History(context.Background())
		fmt.Println(len(h.History), "entries", err)
		if _, err := s.Add(context.Background(), api.Entries(say(content.Human, "Fix the parser."))); err != nil {
			fmt.Println(err)
		}
		done()
	}
	// Output:
	// 0 entries <nil>
	// 1 entries <nil>
}

// Compress is for the moment that the agent chooses, such as the end of a task.
func ExampleSession_Compress() {
	_, s, done := open(api.OpenRequest{Settings: map[string]any{
		"compression.strategy": "top-down-truncation", "model.contextLimit": 2000}})
	defer done()
	for i := range 20 {
		if _, err := s.Add(context.Background(), api.Entries(
			say(content.Human, fmt.Sprint(i, strings.Repeat(" word", 100))))); err != nil {
			fmt.Println(err)
		}
	}
	made, err := s.Compress(context.Background())
	if err != nil {
		fmt.Println(err)
	}
	h, err := s.History(context.Background())
	fmt.Println(made.Outcome.Compress.Kind, err, len(h.History), "of 20 entries are left")
	// Output: applied <nil> 10 of 20 entries are left
}

// A setting can be changed while the session runs; the next turn uses it. One that is fixed says so.
func ExampleSession_Set() {
	_, s, done := open(api.OpenRequest{})
	defer done()
	err := s.Set(context.Background(), api.SetRequest{Key: "model.contextLimit", Value: 400_000})
	fmt.Println(err, s.Config().Settings().Model.ContextLimit)
	err = s.Set(context.Background(), api.SetRequest{Key: "sessions.store", Value: "memory"})
	fmt.Println(errors.Is(err, host.ErrFixed))
	// Output:
	// <nil> 400000
	// true
}

// What a strategy removed can be explained, and had back.
func ExampleSession_Recorded() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	_, s, done := open(api.OpenRequest{Settings: map[string]any{"compression.strategy": "high-density"}},
		config.Override{Key: "sessions.store", Value: "sqlite:" + filepath.Join(dir, "sessions.db")})
	defer done()
	for i, call := range model() {
		result := fmt.Sprintf("version %d of a.go, %s", i, strings.Repeat("a line of it\n", 50))
		if call.Name == "write_file" {
			result = "ok"
		}
		if _, err := s.Add(context.Background(), api.Entries(
			content.Content{Speaker: content.AI, Blocks: []content.Block{call}},
			content.Content{Speaker: content.Tool, Blocks: []content.Block{
				content.ToolResponse{CallID: call.ID, ToolName: call.Name, Result: content.String(result)}}})); err != nil {
			fmt.Println(err)
		}
	}
	if _, err := s.Prepare(context.Background(), api.PrepareRequest{}); err != nil {
		fmt.Println(err)
		return
	}
	explained, err := s.Explain(context.Background(), api.ExplainRequest{ID: "1"}) // the call's id
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range explained.Changes {
		fmt.Println(c.Kind, c.Rule)
	}
	recorded, err := s.Recorded(context.Background(), api.RecordedRequest{ID: "1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _, _ := strings.Cut(recorded.Entries[1].Blocks[0].(content.ToolResponse).ResultText(), ",")
	fmt.Println(text)
	// Output:
	// removed stale-read
	// removed stale-read
	// version 0 of a.go
}

// Count says what entries would cost, without adding them.
func ExampleHost_Count() {
	h, _, done := open(api.OpenRequest{})
	defer done()
	entry := say(content.Human, "Fix the parser.")
	counted, err := h.Count(context.Background(), api.CountRequest{Entries: []content.Content{entry}})
	fmt.Println(counted.Tokens, err)
	// Output: 8 <nil>
}

// An agent that takes input while a turn is prepared marks where the turn ends.
func ExampleSession_At() {
	_, s, done := open(api.OpenRequest{})
	defer done()
	ctx := context.Background()
	if _, err := s.Add(ctx, api.Entries(say(content.Human, "Fix the parser."))); err != nil {
		fmt.Println(err)
	}
	point, err := s.Point()
	if err != nil {
		fmt.Println(err)
	}
	if _, err := s.Add(ctx, api.Entries(say(content.Human, "And the tests."))); err != nil { // typed meanwhile
		fmt.Println(err)
	}
	ready, err := s.At(point).Prepare(ctx, api.PrepareRequest{})
	if err != nil {
		fmt.Println(err)
	}
	h, err := s.History(ctx)
	fmt.Println(len(ready.History), "of", len(h.History), err)
	// Output: 1 of 2 <nil>
}
