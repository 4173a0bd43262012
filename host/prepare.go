package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/responses"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
)

// forms are the APIs of the forms of messages.
var forms = map[api.Form]*messages.API{api.Anthropic: &anthropic.Messages, api.OpenAIChat: &chat.Messages,
	api.OpenAIResponses: &responses.Messages}

// Prepare makes the history fit the model and returns it. It prunes if something was added, compresses above the
// threshold, and checks the hard limit. Call it before every model call. It takes as long as the strategy, which may
// call a model; plugins.optimizeTimeout, plugins.compressTimeout and ctx bound that.
//
// After an error the history is valid, and the answer has it as it is. [api.KindOverflow] says that everything was tried
// and the request is still too large. No other strategy is tried in place of one that failed. If it fails again in the
// next turns, they go on without it: Outcome.Warnings says so, and Outcome.Ladder what was removed to fit.
func (s *Session) Prepare(ctx context.Context, r api.PrepareRequest) (api.PrepareAnswer, error) {
	if r.PendingTokens < 0 {
		return api.PrepareAnswer{}, api.Refuse("pendingTokens", `"pendingTokens" must not be negative`)
	}
	if err := r.Format.Check(); err != nil {
		return api.PrepareAnswer{}, err
	}
	ready, err := s.window.Prepare(ctx, window.Sending{Pending: r.PendingTokens, At: r.At, Recall: r.Recall, UpTo: s.upTo})
	history := ready.Contents()
	if err != nil && history == nil { // the session is closed or cannot be read
		return api.PrepareAnswer{}, failed(err)
	}
	a := api.PrepareAnswer{Tokens: ready.Tokens, SystemTokens: s.window.SystemTokens(), Revision: ready.Revision,
		Outcome: ready.Outcome}
	write(&a, r.Format, ready.System, history)
	if err != nil || r.Since == nil {
		return a, failed(err)
	}
	keep := 0
	// The host remembers the last prepared history only: of an older one nothing can be kept.
	if *r.Since == ready.UnchangedSince {
		keep = ready.Unchanged
	}
	leaveOut(&a, r.Format, ready.System, history[:keep])
	return a, nil
}

// write puts a history into an answer, in a form.
func write(a *api.PrepareAnswer, form api.Form, system []content.Block, history []content.Content) {
	if form == "" {
		a.History = history
		// An agent that sets no system prompt sees no field of it.
		if len(system) > 0 {
			a.System = list(systemBlocks(system))
		}
		return
	}
	made := messages.Render(forms[form], system, history, true)
	a.Messages, a.System, a.Instructions = made.Messages, made.System, made.Instructions
	// An agent finds a list even if there is nothing to send.
	if a.Messages == nil {
		a.Messages = []json.RawMessage{}
	}
	// Routine notes, about what every message of the form lacks, would be in each answer.
	for _, n := range made.Tally.Notes() {
		if !n.Routine {
			a.Notes = append(a.Notes, n.Message)
		}
	}
	if g := a.Outcome.Gone; g != nil {
		a.Notes = append(a.Notes, fmt.Sprintf("this turn took messages out of the conversation: %d of people, %d of the model",
			g.Human, g.AI))
	}
}

// list is JSON values as one, unchanged: package json would escape what may stand in HTML.
func list(values []json.RawMessage) json.RawMessage {
	parts := make([][]byte, len(values))
	for i, v := range values {
		parts[i] = v
	}
	return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
}

// leaveOut removes from an answer what the agent has: these entries. Keep counts what the answer does not repeat:
// entries, or messages in the requested form.
func leaveOut(a *api.PrepareAnswer, form api.Form, system []content.Block, has []content.Content) {
	keep := len(has)
	a.Keep = &keep
	if form == "" {
		a.History = a.History[keep:]
		return
	}
	// A message may hold several entries. The last one of the unchanged entries may have held more than these before.
	unchanged := messages.Render(forms[form], system, has, true).Messages
	keep = 0
	for keep < len(unchanged)-1 && bytes.Equal(unchanged[keep], a.Messages[keep]) {
		keep++
	}
	a.Messages = a.Messages[keep:]
}

// Compress compresses the history now, regardless of the threshold. It returns no history: an agent that wants it
// prepares.
func (s *Session) Compress(ctx context.Context) (api.CompressAnswer, error) {
	out, err := s.window.Compress(ctx, s.upTo)
	if err != nil {
		return api.CompressAnswer{}, failed(err)
	}
	// Without what was added meanwhile: the figures belong to the outcome.
	revision, tokens, _, err := s.window.Size(s.upTo)
	return api.CompressAnswer{Tokens: tokens, Revision: revision, Outcome: out}, failed(err)
}
