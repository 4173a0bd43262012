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
	usage
}

// usage is what the provider reported of an attempt, in tokens. input includes both cache counts.
type usage struct{ input, output, cacheRead, cacheWrite int }

func (u *usage) add(o usage) {
	u.input, u.output = u.input+o.input, u.output+o.output
	u.cacheRead, u.cacheWrite = u.cacheRead+o.cacheRead, u.cacheWrite+o.cacheWrite
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

// hear takes in one event. Cached tokens are added to the input, as providers report it.
func (a *answer) hear(h provider.Heard) error {
	a.model, a.finish = cmp.Or(h.Model, a.model), cmp.Or(h.Finish, a.finish)
	if u := h.Usage; u != nil {
		if a.output = u.Output; !h.OutputOnly {
			a.input, a.cacheRead, a.cacheWrite = u.Prompt(), u.CacheRead, u.CacheWrite
		}
	}
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
