package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	s, err := c.Open(context.Background(), client.OpenOptions{ID: "chat-1",
		Settings: map[string]string{"model.contextLimit": "2000"}})
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
	s, err := c.Open(ctx, client.OpenOptions{ID: "chat-1", Settings: map[string]string{"model.contextLimit": "2000"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 20 {
		if _, err := s.Add(ctx, say(content.Human, fmt.Sprint(i, strings.Repeat(" word", 100)))); err != nil {
			fmt.Println(err)
			return
		}
	}
	ready, err := s.Prepare(ctx, client.PrepareOptions{PendingTokens: 100}) // tool schemas
	if err != nil {
		fmt.Println(err) // ready.History is the history as it is
		return
	}
	fmt.Println(len(ready.History), "of 20 entries are sent:", ready.Outcome.Compress.Kind)
	fmt.Println(s.ReportUsage(ctx, ready.Tokens+100)) // what the provider counted for the request
	// Output:
	// 10 of 20 entries are sent: applied
	// <nil>
}

// Add tries again by itself while a host restarts. If it gave up, its key makes a later call safe: the entries are added
// once.
func ExampleSession_AddOnce() {
	ctx := context.Background()
	s, done := open()
	defer done()
	task := say(content.Human, "Fix the test.")
	_, err := s.Add(ctx, task)
	if failed := (*client.Error)(nil); errors.As(err, &failed) && failed.MaybeApplied {
		_, err = s.AddOnce(ctx, failed.Key, task)
	}
	fmt.Println(err)
	for range 2 {
		state, err := s.AddOnce(ctx, "message 17", say(content.Human, "Go on."))
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
		if _, err := s.Add(ctx, say(content.Human, fmt.Sprint(i, strings.Repeat(" word", 100)))); err != nil {
			fmt.Println(err)
		}
	}
	outcome, err := s.Compress(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	first := outcome.Changes[2] // behind the newest message, which is kept, and the mark in the place of what went
	entries, err := s.Recorded(ctx, first.EntryID)
	fmt.Println(first.EntryID, first.Kind, len(entries), err)
	// Output: e1 removed 1 <nil>
}

// What was removed is found again by words, and read with what stands around it.
func ExampleSession_Search() {
	ctx := context.Background()
	s, done := open()
	defer done()
	for i := range 20 {
		text := fmt.Sprintf("step %d\n%s\ndone", i, strings.Repeat(" word", 100))
		if _, err := s.Add(ctx, say(content.Human, text)); err != nil {
			fmt.Println(err)
		}
	}
	if _, err := s.Compress(ctx); err != nil {
		fmt.Println(err)
		return
	}
	found, err := s.Search(ctx, client.Query{Words: `"step 1"`})
	if err != nil || len(found) == 0 {
		fmt.Println(len(found), err)
		return
	}
	at := found[0].Place
	at.Line, at.Lines = 3, 1
	last, err := s.Lines(ctx, at)
	fmt.Println(found[0].Entry, found[0].Turn, found[0].Of, last.Text, err)
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
	made, err := c.Compress(ctx, messages, client.CompressOptions{Model: "gpt-5", ContextLimit: 2000})
	if err != nil {
		fmt.Println(err)
		return
	}
	i := slices.IndexFunc(made.Removed, func(r client.Removed) bool { return r.Kind == content.KindToolResponse })
	text, err := c.Retrieve(ctx, made.Removed[i].ID)
	fmt.Println(len(messages), "messages,", len(made.Messages), "to send; removed:", len(text), "bytes of",
		made.Removed[i].Tool, err)
	// Output: 25 messages, 9 to send; removed: 1000 bytes of read <nil>
}

// An error has a kind, and says whether a retry can help.
func ExampleError() {
	s, done := open()
	defer done()
	_, err := s.Add(context.Background(), content.Content{Speaker: content.AI})
	failed := (*client.Error)(nil)
	fmt.Println(errors.As(err, &failed), failed.Kind, failed.Retryable, *failed.Entry)
	// Output: true entry false 0
}
