package llm

import (
	"cmp"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
)

// answer collects one attempt's answer. Only the goroutine that reads the stream uses it.
type answer struct {
	text  strings.Builder
	limit int // bytes of text

	finish, model string
	usage         provider.Usage
}

// Bounds of an answer per token of its limit. Tokens of real text have 2 to 8 bytes, and an event of a stream has some
// hundred bytes for one token; thinking is events but not text. Who exceeds these bounds ignores the limit.
const (
	textBytesPerToken  = 64
	leastTextBytes     = 16 << 10
	eventBytesPerToken = 4 << 10
	leastEventBytes    = 1 << 20
)

func newAnswer(maxOutput int) *answer {
	return &answer{limit: max(leastTextBytes, maxOutput*textBytesPerToken)}
}

// maxEventBytes bounds the event stream of such a request, in bytes.
func maxEventBytes(maxOutput int) int64 { return leastEventBytes + int64(maxOutput)*eventBytesPerToken }

// hear takes in one event.
func (a *answer) hear(h provider.Heard) error {
	a.model, a.finish = cmp.Or(h.Model, a.model), cmp.Or(h.Finish, a.finish)
	a.usage.Add(h.Usage)
	return a.say(h.Text)
}

// say appends text, or returns [ErrTooLong].
func (a *answer) say(text string) error {
	if a.text.Len()+len(text) > a.limit {
		return ErrTooLong
	}
	a.text.WriteString(text)
	return nil
}
