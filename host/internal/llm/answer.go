package llm

import "strings"

// answer collects what has arrived of one attempt's answer. It is discarded if the attempt fails: text of a failed
// attempt is never delivered. Only the goroutine that reads the stream uses it.
type answer struct {
	text  strings.Builder
	limit int // bytes of text

	finish, model string
	// All in tokens. input includes both cache counts.
	input, output, cacheRead, cacheWrite int
}

// The bounds of an answer, by its limit of tokens. Tokens of real text have 2 to 8 bytes, and an event of a stream
// has some hundred bytes for one token; thinking counts as events but not as text. A server that exceeds these bounds
// ignores the token limit.
const (
	textBytesPerToken  = 64
	leastTextBytes     = 16 << 10
	eventBytesPerToken = 4 << 10
	leastEventBytes    = 1 << 20
)

// newAnswer returns an empty answer for a request of at most maxOutput tokens.
func newAnswer(maxOutput int) *answer {
	return &answer{limit: max(leastTextBytes, maxOutput*textBytesPerToken)}
}

// maxEventBytes returns how many bytes the event stream of such a request may have.
func maxEventBytes(maxOutput int) int64 { return leastEventBytes + int64(maxOutput)*eventBytesPerToken }

// say appends a piece of text. The error is [ErrTooLong] if the server ignores the token limit.
func (a *answer) say(text string) error {
	if a.text.Len()+len(text) > a.limit {
		return ErrTooLong
	}
	a.text.WriteString(text)
	return nil
}
