// Command embedding is a minimal agent loop on package host: what a person says, what the model answers, and the tools it
// calls are added to a session, and before every model call the session returns the history to send.
//
// The model is a stand-in that reads and edits a file several times, so that there is something to prune. Build the
// plugins first:
//
//	make build && go run ./examples/embedding -plugins bin/plugins
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/config"
	_ "github.com/thresh-dev/thresh/host/early" // plugins start faster
	"github.com/thresh-dev/thresh/sdk/content"
)

func main() {
	host.ReexecMain() // to isolate a plugin, the host starts it through this program
	dir := flag.String("plugins", "bin/plugins", "directory with the strategy plugins")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "embedding:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string) error {
	settings, err := config.Load(config.Options{Overrides: []config.Override{
		{Key: "plugins.dirs", Value: []string{dir}},
		{Key: "compression.strategy", Value: "high-density"},
		{Key: "model.name", Value: "gpt-4o"},
		{Key: "model.contextLimit", Value: 8000},
	}})
	if err != nil {
		return err
	}
	h, err := host.Open(host.Options{Config: settings})
	if err != nil {
		return err
	}
	defer h.Close() // stops the plugins
	s, err := h.Session(host.SessionOptions{})
	if err != nil {
		return err
	}
	a := agent{session: s}
	if err := a.add(ctx, content.Human, content.Text{Text: "Rename the function in server.go step by step."}); err != nil {
		return err
	}
	for step := 1; ; step++ {
		ready, err := s.Prepare(ctx, host.PrepareOptions{PendingTokens: 500}) // the system prompt and the tools
		if err != nil {
			return err // the history is unchanged: retry, change a setting, or stop
		}
		a.kept = s.History().Tokens
		fmt.Printf("step %2d: send %2d entries, %4d tokens instead of %4d (removed %d entries, changed %d)\n",
			step, len(ready.History), ready.Tokens, a.unpruned, ready.Outcome.Optimize.Removed, ready.Outcome.Optimize.Replaced)
		calls, text := model(step, ready.History)
		if len(calls) == 0 {
			fmt.Println("the model says:", text)
			return a.add(ctx, content.AI, content.Text{Text: text})
		}
		if err := a.add(ctx, content.AI, calls...); err != nil {
			return err
		}
		for _, b := range calls {
			call := b.(content.ToolCall) // this model makes nothing else
			result := content.ToolResponse{CallID: call.ID, ToolName: call.Name, Result: content.String(tool(call))}
			if err := a.add(ctx, content.Tool, result); err != nil {
				return err
			}
		}
	}
}

// agent adds up what the history would count if nothing were ever pruned.
type agent struct {
	session        *host.Session
	kept, unpruned int // tokens
}

func (a *agent) add(ctx context.Context, speaker content.Speaker, blocks ...content.Block) error {
	state, err := a.session.Add(ctx, content.Content{Speaker: speaker, Blocks: blocks})
	if err != nil {
		return err
	}
	a.unpruned += state.Tokens - a.kept
	a.kept = state.Tokens
	return nil
}

// model stands in for a language model: it alternates between reading and editing the file, and is done after twelve
// steps.
func model(step int, _ []content.Content) (calls []content.Block, text string) {
	if step > 12 {
		return nil, "Done: the function is renamed everywhere."
	}
	name, params := "read_file", map[string]string{"file_path": "server.go"}
	if step%2 == 0 {
		name, params = "replace", map[string]string{"file_path": "server.go", "old_string": fmt.Sprint("handle", step), "new_string": "serve"}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err.Error()
	}
	return []content.Block{content.ToolCall{ID: fmt.Sprint("call-", step), Name: name, Parameters: raw}}, ""
}

// tool stands in for the agent's tools.
func tool(call content.ToolCall) string {
	if call.Name == "replace" {
		return "replaced 1 occurrence"
	}
	return strings.Repeat("func handle(w http.ResponseWriter, r *http.Request) { log.Println(r.URL.Path) }\n", 40)
}
