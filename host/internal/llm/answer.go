package llm

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
)

// answer collects one attempt's answer. Only the goroutine that reads the stream uses it.
type answer struct {
	text    strings.Builder
	thought strings.Builder
	calls   provider.Calls
	limit   int // bytes of text, and of thought

	finish, model string
	usage         provider.Usage
	free          bool // the request cost nothing
}

// Bounds of an answer per token of its limit. Tokens of real text have 2 to 8 bytes, and an event of a stream has some
// hundred bytes for one token; thinking is events but not text. Who exceeds these bounds ignores the limit.
const (
	textBytesPerToken  = 64
	minTextBytes       = 16 << 10
	eventBytesPerToken = 4 << 10
	minEventBytes      = 1 << 20
)

func newAnswer(maxOutput int) *answer {
	return &answer{limit: max(minTextBytes, maxOutput*textBytesPerToken)}
}

// maxEventBytes bounds the event stream of such a request, in bytes.
func maxEventBytes(maxOutput int) int64 { return minEventBytes + int64(maxOutput)*eventBytesPerToken }

// hear takes in one event.
func (a *answer) hear(h provider.Heard) error {
	a.model, a.finish = cmp.Or(h.Model, a.model), cmp.Or(h.Finish, a.finish)
	a.usage.Add(h.Usage)
	return a.say(h.Text)
}

// call takes in what an event has of calls, and of the thought that must come back with their results.
func (a *answer) call(pieces []provider.Piece, thought string) {
	a.calls.Take(pieces)
	if a.thought.Len()+len(thought) <= a.limit {
		a.thought.WriteString(thought)
	}
}

// called returns the calls, each with an id of its own: some servers give none, or the same to all.
func (a *answer) called() (calls []provider.ToolCall) {
	has := map[string]bool{}
	for i, c := range a.calls {
		id := c.ID
		if id == "" || has[id] {
			id = fmt.Sprintf("call%05d", i) // Mistral takes nine letters and digits
		}
		has[id] = true
		calls = append(calls, provider.ToolCall{ID: id, Name: c.Name, Arguments: string(c.Arguments), Extra: c.Extra})
	}
	return calls
}

// say appends text, or returns [ErrTooLong].
func (a *answer) say(text string) error {
	if a.text.Len()+len(text) > a.limit {
		return ErrTooLong
	}
	a.text.WriteString(text)
	return nil
}
