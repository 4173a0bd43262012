// Command embedding is a minimal agent loop on package host: what a person says, what the model answers, and the tools
// it calls are added to a session, and before every model call the session returns the history to send.
//
// The model is a stand-in that reads and edits a file several times, so that there is something to prune:
//
//	go run ./examples/embedding
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
	_ "github.com/thresh-dev/thresh/host/early" // plugins start faster
	"github.com/thresh-dev/thresh/sdk/content"
)

// main begins with the line that every program with a host needs. Cancelling ctx ends a Prepare in progress.
func main() {
	host.ReexecMain() // this program is started again as the strategy
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "embedding:", err)
		os.Exit(1)
	}
}

// run plays one conversation. It sets everything by overrides to be independent of the user's files; a real agent
// leaves the strategy to the user's settings. The small context limit makes pruning visible.
func run(ctx context.Context) error {
	settings, err := config.Load(config.Options{Overrides: []config.Override{
		{Key: "plugins.dirs", Value: []string{}},
		{Key: "compression.strategy", Value: "high-density"},
		{Key: "model.name", Value: "gpt-4o"},
		{Key: "model.contextLimit", Value: 8000},
	}})
	if err != nil {
		return err
	}
	// Open one host per process and one session per conversation: sessions share the plugin processes.
	h, err := host.Open(host.Options{Config: settings})
	if err != nil {
		return err
	}
	defer h.Close() // stops the plugins
	s, err := h.Open(ctx, api.OpenRequest{})
	if err != nil {
		return err
	}
	a := agent{session: s}
	task := content.Text{Text: "Rename the function in server.go step by step."}
	if err := a.add(ctx, content.Human, task); err != nil {
		return err
	}
	for step := 1; ; step++ {
		// Prepare before every model call: it prunes, compresses if the threshold is reached, and returns a history
		// that is safe to send. PendingTokens is what the request has in addition to the history: the system prompt
		// and the tool schemas.
		ready, err := s.Prepare(ctx, api.PrepareRequest{PendingTokens: 500})
		if err != nil {
			return err // the history is unchanged: retry, change a setting, or stop
		}
		owned, err := s.History(ctx)
		if err != nil {
			return err
		}
		a.kept = owned.Tokens
		fmt.Printf("step %2d: send %2d entries, %4d tokens instead of %4d (removed %d entries, changed %d)\n",
			step, len(ready.History), ready.Tokens, a.unpruned,
			ready.Outcome.Optimize.Removed, ready.Outcome.Optimize.Replaced)
		// Send ready.History, never a copy of your own: ids and order are what the host checked.
		calls, text := model(step, ready.History)
		if len(calls) == 0 {
			fmt.Println("the model says:", text)
			return a.add(ctx, content.AI, content.Text{Text: text})
		}
		if err := a.add(ctx, content.AI, calls...); err != nil {
			return err
		}
		for _, b := range calls {
			call := b.(content.ToolCall) // this model returns nothing else
			// Add each response as it arrives. Until all calls are answered, Prepare completes the history for the
			// provider.
			result := content.ToolResponse{CallID: call.ID, ToolName: call.Name, Result: content.String(tool(call))}
			if err := a.add(ctx, content.Tool, result); err != nil {
				return err
			}
		}
	}
}

// agent keeps account of what the history would count if nothing were ever pruned, for the printed comparison only.
type agent struct {
	session        *host.Session
	kept, unpruned int // tokens
}

// add adds one entry to the session, which counts its tokens and gives it an id. state.Tokens is the size of the
// whole history, so the difference to before is the size of the entry.
func (a *agent) add(ctx context.Context, speaker content.Speaker, blocks ...content.Block) error {
	state, err := a.session.Add(ctx, api.Entries(content.Content{Speaker: speaker, Blocks: blocks}))
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
		name, params = "replace", map[string]string{
			"file_path": "server.go", "old_string": fmt.Sprint("handle", step), "new_string": "serve",
		}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err.Error()
	}
	return []content.Block{content.ToolCall{ID: fmt.Sprint("call-", step), Name: name, Parameters: raw}}, ""
}

// tool stands in for the agent's tools. Every read returns the whole file again; the strategy drops all but the
// latest.
func tool(call content.ToolCall) string {
	if call.Name == "replace" {
		return "replaced 1 occurrence"
	}
	return strings.Repeat("func handle(w http.ResponseWriter, r *http.Request) { log.Println(r.URL.Path) }\n", 40)
}
