package anthropic

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Messages of the role "system" within a conversation. One or more in a row follow the user, or the model where its
// message ends with the result of a tool that the provider ran, and precede the model or end the conversation. Where a
// view lacks what stood beside them, a line does.

// sections is where a writer is, as to these.
type sections struct {
	begun bool // a message of the user or the model was written
	// led means that instructions may stand here, paused that those that change the tools may not, and open that some
	// were written, behind which nothing of the user may stand.
	led, paused, open bool
}

// unsaid is the line.
const unsaid = "[what was said here was removed]"

// instruct writes instructions, each message of them alone: their fields are of one message.
func (w *writer) instruct(t messages.Turn) {
	var parts [][]byte
	if !slices.ContainsFunc(t.Blocks, func(b content.Block) bool { return b.Kind() == empty }) {
		if _, parts, _ = w.Parts(t); len(parts) == 0 {
			return
		}
	}
	switch w.role {
	case messages.User:
		w.led, w.paused = true, false
	case messages.Assistant:
		last := ""
		if n := len(w.body); n > 0 {
			last = ordered.Of(w.body[n-1]).Text("type")
		}
		w.led = strings.HasSuffix(last, "_tool_result")
		w.paused = w.led
	}
	tools := slices.ContainsFunc(parts, func(p []byte) bool { return strings.HasPrefix(ordered.Of(p).Text("type"), "tool_") })
	w.flush()
	if len(parts) > 0 && (!w.led || tools && w.paused) {
		w.Tally.Count(0, t.Entry, "line of text put before instructions: the API requires a user message before them")
		w.answer(messages.User, t.Entry)
		w.line(messages.User, unsaid)
		w.led, w.paused = true, false
	}
	w.role, w.open = t.Role, w.open || len(parts) > 0
	var m ordered.Builder
	m.Text("role", t.Role)
	m.Raw("content", ordered.List(parts...))
	m.Rest(t.Fields)
	w.out = append(w.out, m.JSON())
}

// answer puts a line of the model behind instructions if a message of another role follows.
func (w *writer) answer(role string, entry int) {
	if w.open && role != messages.Assistant {
		w.Tally.Count(0, entry, "line of text put behind instructions: the API requires a message of the model behind them")
		w.line(messages.Assistant, unsaid)
	}
	w.open = false
}
