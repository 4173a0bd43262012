package host_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/sdk/content"
)

// openHost opens a host that reads no configuration of this machine. A program would usually leave that to the host:
// host.Open(host.Options{}).
func openHost(settings ...config.Override) (*host.Host, error) {
	c, err := config.Load(config.Options{ConfigFile: os.DevNull, Env: []string{}, Overrides: settings})
	if err != nil {
		return nil, err
	}
	return host.Open(host.Options{Config: c, Logger: slog.New(slog.DiscardHandler)})
}

// A whole agent loop: the agent reads a file twice and edits it in between, so the first read is stale. Before every
// model call, Prepare returns the history to send, without it.
func Example() {
	ctx := context.Background()
	h, err := openHost(config.Override{Key: "compression.strategy", Value: "high-density"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close() // stops the plugin
	s, err := h.Open(ctx, api.OpenRequest{Settings: map[string]any{"workspace.root": "/src"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	add := func(speaker content.Speaker, block content.Block) {
		if _, err := s.Add(ctx, api.Entries(content.Content{Speaker: speaker, Blocks: []content.Block{block}})); err != nil {
			fmt.Println(err)
		}
	}

	add(content.Human, content.Text{Text: "Fix the typo in a.go."})
	for step, call := range model() {
		ready, err := s.Prepare(ctx, api.PrepareRequest{PendingTokens: 500}) // the system prompt and tool schemas
		if err != nil {
			fmt.Println(err) // the history is unchanged: retry, change a setting, or stop
			return
		}
		fmt.Printf("call %d: send %d entries, %d removed\n", step+1, len(ready.History), ready.Outcome.Optimize.Removed)
		// Send ready.History to the model; here, the model's answer is call.
		add(content.AI, call)
		result := strings.Repeat("package a // a line of the file\n", 20)
		if call.Name == "write_file" {
			result = "ok"
		}
		add(content.Tool, content.ToolResponse{CallID: call.ID, ToolName: call.Name, Result: content.String(result)})
		used := ready.Tokens + 500 // what the provider counted for the request
		if err := s.ReportUsage(ctx, api.UsageRequest{PromptTokens: used}); err != nil {
			fmt.Println(err)
		}
	}
	ready, err := s.Prepare(ctx, api.PrepareRequest{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("call 4: send %d entries, %d removed\n", len(ready.History), ready.Outcome.Optimize.Removed)
	// Output:
	// call 1: send 1 entries, 0 removed
	// call 2: send 3 entries, 0 removed
	// call 3: send 3 entries, 2 removed
	// call 4: send 5 entries, 0 removed
}

// model stands in for a language model: it reads a file, writes it, and reads it again.
func model() []content.ToolCall {
	path := `"file_path":"/src/a.go"`
	return []content.ToolCall{
		{ID: "1", Name: "read_file", Parameters: []byte("{" + path + "}")},
		{ID: "2", Name: "write_file", Parameters: []byte("{" + path + `,"content":"package a"}`)},
		{ID: "3", Name: "read_file", Parameters: []byte("{" + path + "}")},
	}
}

// The kind of an error says what to do about it.
func ExampleErrorOf() {
	h, err := openHost()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	_, err = h.Open(context.Background(), api.OpenRequest{Settings: map[string]any{"compression.strategy": "no-such-strategy"}})
	e := host.ErrorOf(err)
	fmt.Println(e.Kind, e.Retryable, errors.Is(err, host.ErrUnknownStrategy))
	if _, err := h.Open(context.Background(), api.OpenRequest{ID: "s"}); err != nil {
		fmt.Println(err)
		return
	}
	_, err = h.Open(context.Background(), api.OpenRequest{ID: "s"})
	fmt.Println(errors.Is(err, host.ErrSessionExists))
	// Output:
	// strategy false true
	// true
}
