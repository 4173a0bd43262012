package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/sdk/content"
)

func say(by content.Speaker, text string) content.Content {
	return content.Content{Speaker: by, Blocks: []content.Block{content.Text{Text: text}}}
}

// open is for examples that are about something else: a session of a served host, and what closes both.
func open() (*client.Session, func()) {
	address, done := serve()
	c, err := client.New(address, client.Options{})
	if err != nil {
		panic(err)
	}
	s, err := c.Open(context.Background(), api.OpenRequest{ID: "chat-1",
		Settings: map[string]any{"model.contextLimit": "2000"}})
	if err != nil {
		panic(err)
	}
	return s, func() { c.Close(); done() }
}

// A session is opened, told what was said, and asked for the history to send before every model call. Its settings are
// its own.
func Example() {
	ctx := context.Background()
	address, done := serve() // 'thresh serve' prints the address
	defer done()
	c, err := client.New(address, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	s, err := c.Open(ctx, api.OpenRequest{ID: "chat-1", Settings: map[string]any{"model.contextLimit": "2000"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 20 {
		if _, err := s.Add(ctx, api.Entries(say(content.Human, fmt.Sprint(i, strings.Repeat(" word", 100))))); err != nil {
			fmt.Println(err)
			return
		}
	}
	ready, err := s.Prepare(ctx, api.PrepareRequest{PendingTokens: 100}) // tool schemas
	if err != nil {
		fmt.Println(err) // ready.History is the history as it is
		return
	}
	fmt.Println(len(ready.History), "of 20 entries are sent:", ready.Outcome.Compress.Kind)
	fmt.Println(s.ReportUsage(ctx, api.UsageRequest{PromptTokens: ready.Tokens + 100})) // what the provider counted for the request
	// Output:
	// 10 of 20 entries are sent: applied
	// <nil>
}

// Add tries again by itself while a host restarts. If it gave up, its key makes a later call safe: the entries are added
// once.
func ExampleSession_Add() {
	ctx := context.Background()
	s, done := open()
	defer done()
	task := api.Entries(say(content.Human, "Fix the test."))
	_, err := s.Add(ctx, task)
	if failed := (*api.Error)(nil); errors.As(err, &failed) && failed.MaybeApplied {
		task.Key = failed.Key
		_, err = s.Add(ctx, task)
	}
	fmt.Println(err)
	more := api.Entries(say(content.Human, "Go on."))
	more.Key = "message 17"
	for range 2 {
		state, err := s.Add(ctx, more)
		fmt.Println(state.Revision, err)
	}
	// Output:
	// <nil>
	// 2 <nil>
	// 2 <nil>
}

// What was removed is still recorded.
func ExampleSession_Recorded() {
	ctx := context.Background()
	s, done := open()
	defer done()
	for i := range 20 {
		if _, err := s.Add(ctx, api.Entries(say(content.Human, fmt.Sprint(i, strings.Repeat(" word", 100))))); err != nil {
			fmt.Println(err)
		}
	}
	made, err := s.Compress(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	first := made.Outcome.Changes[2] // behind the newest message, which is kept, and the mark in the place of what went
	recorded, err := s.Recorded(ctx, api.RecordedRequest{ID: first.EntryID})
	fmt.Println(first.EntryID, first.Kind, len(recorded.Entries), err)
	// Output: e1 removed 1 <nil>
}

// What was removed is found again by words, and read with what stands around it.
func ExampleSession_Search() {
	ctx := context.Background()
	s, done := open()
	defer done()
	for i := range 20 {
		text := fmt.Sprintf("step %d\n%s\ndone", i, strings.Repeat(" word", 100))
		if _, err := s.Add(ctx, api.Entries(say(content.Human, text))); err != nil {
			fmt.Println(err)
		}
	}
	if _, err := s.Compress(ctx); err != nil {
		fmt.Println(err)
		return
	}
	found, err := s.Search(ctx, api.SearchRequest{Query: `"step 1"`})
	if err != nil || len(found.Passages) == 0 {
		fmt.Println(len(found.Passages), err)
		return
	}
	first := found.Passages[0]
	at := first.Place
	at.Line, at.Lines = 3, 1
	last, err := s.Search(ctx, api.SearchRequest{Place: &at})
	fmt.Println(first.Entry, first.Turn, first.Of, last.Passages[0].Text, err)
	// Output: e2 2 3 done <nil>
}

// Messages need no session: what is sent is made of them, and what that lacks can be had again.
func ExampleClient_Compress() {
	ctx := context.Background()
	address, done := serve()
	defer done()
	c, err := client.New(address, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	messages := []json.RawMessage{json.RawMessage(`{"role": "user", "content": "read them all"}`)}
	for i := range 12 {
		messages = append(messages, fmt.Appendf(nil, `{"role": "assistant", "content": null, "tool_calls": [{"id": "c%d", `+
			`"type": "function", "function": {"name": "read", "arguments": "{}"}}]}`, i),
			fmt.Appendf(nil, `{"role": "tool", "tool_call_id": "c%d", "content": %q}`, i, strings.Repeat("text ", 200)))
	}
	made, err := c.Compress(ctx, api.CompressMessages{Messages: messages, Model: "gpt-5", ContextLimit: 2000})
	if err != nil {
		fmt.Println(err)
		return
	}
	i := slices.IndexFunc(made.Removed, func(r api.Removed) bool { return r.Kind == content.KindToolResponse })
	part, err := c.Retrieve(ctx, api.RetrieveRequest{ID: made.Removed[i].ID})
	fmt.Println(len(messages), "messages,", len(made.Messages), "to send; removed:", len(part.Content), "bytes of",
		made.Removed[i].Tool, err)
	// Output: 25 messages, 9 to send; removed: 1000 bytes of read <nil>
}

// An error has a kind, and says whether a retry can help.
func Example_errors() {
	s, done := open()
	defer done()
	_, err := s.Add(context.Background(), api.Entries(content.Content{Speaker: content.AI}))
	failed := (*api.Error)(nil)
	fmt.Println(errors.As(err, &failed), failed.Kind, failed.Retryable, *failed.Entry)
	// Output: true entry false 0
}
