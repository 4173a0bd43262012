package summary_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/summary"
)

const snapshot = "<state_snapshot><overall_goal>ship it</overall_goal></state_snapshot>"

// strategy summarises one range.
type strategy struct {
	from, to int // to 0: all
	model    *sdk.Model
	budget   int
	verify   bool
}

func (strategy) Info() sdk.Info {
	return sdk.Info{Name: "one-range", Version: "1", Trigger: sdk.Threshold(0.85), RequiresLLM: true}
}

func (s strategy) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	in.Model, in.UserMessageBudget, in.Verification = s.model, s.budget, s.verify
	if s.to == 0 {
		s.to = len(in.History)
	}
	r, err := summary.Run(ctx, host, in, summary.Range{From: s.from, To: s.to})
	if err != nil {
		return sdk.CompressResult{}, err
	}
	return r.Compressed(in), nil
}

// all is a strategy with a model of the given window.
func all(window int) strategy {
	return strategy{model: &sdk.Model{Name: "m", ContextLimit: window}, budget: 20_000}
}

func config(g sdktest.GenerateFunc) sdktest.Config {
	return sdktest.Config{Generate: g, Prompts: map[string]string{summary.PromptName: "Write a snapshot."}}
}

func said(by sdk.Speaker, text string) sdk.Content {
	return sdk.Content{Speaker: by, Blocks: []sdk.Block{sdk.Text{Text: text}}}
}

// work is a call of read_file and its result of so many lines.
func work(path string, lines int) []sdk.Content {
	return []sdk.Content{
		{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.ToolCall{ID: path, Name: "read_file", Parameters: fmt.Appendf(nil, `{"file_path":%q}`, path)}}},
		{Speaker: sdk.Tool, Blocks: []sdk.Block{sdk.ToolResponse{CallID: path, ToolName: "read_file"}.
			WithResultText(strings.Repeat("a line of "+path+"\n", lines))}},
	}
}

func textOf(e sdk.Content) string {
	var parts []string
	for _, b := range e.Blocks {
		if text, ok := b.(sdk.Text); ok {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func requestText(r sdk.GenerateRequest) string {
	var b strings.Builder
	for _, e := range r.Entries {
		b.WriteString(textOf(e) + "\n")
	}
	return b.String()
}

// limited is a model that refuses what does not fit into its window at four bytes a token, the answer included.
type limited struct {
	window int
	answer func(n int, req sdk.GenerateRequest) string

	mu    sync.Mutex
	calls int
}

func (m *limited) generate(_ context.Context, req sdk.GenerateRequest) (sdk.Generation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	size := len(req.System)
	for _, e := range req.Entries {
		size += len(textOf(e))
	}
	if size/4+req.MaxOutputTokens > m.window {
		return sdk.Generation{}, fmt.Errorf("the request has %d tokens and asks for %d, the window is %d", size/4, req.MaxOutputTokens, m.window)
	}
	return sdk.Generation{Text: m.answer(m.calls, req), FinishReason: "stop", Model: "m"}, nil
}
