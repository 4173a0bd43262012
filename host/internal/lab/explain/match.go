package explain

import (
	"crypto/sha256"

	"github.com/thresh-dev/thresh/sdk/content"
)

// matched pairs elements with equal keys, ascending in both: first by the first key, then what is left between those
// pairs by the next. An element whose key is "" is not paired by it.
func matched[T any](a, b []T, keys ...func(T) string) (pairs []pair) {
	for _, key := range keys {
		var next []pair
		at := pair{}
		for _, p := range append(pairs, pair{len(a), len(b)}) {
			for _, q := range align(keysOf(a[at.A:p.A], key), keysOf(b[at.B:p.B], key)) {
				next = append(next, pair{at.A + q.A, at.B + q.B})
			}
			if p.A < len(a) {
				next = append(next, p)
			}
			at = pair{p.A + 1, p.B + 1}
		}
		pairs = next
	}
	return pairs
}

func keysOf[T any](elements []T, key func(T) string) []string {
	out := make([]string, len(elements))
	for i, e := range elements {
		out[i] = key(e)
	}
	return out
}

// said is equal for entries with the same speaker and blocks. It is a hash, as entries may have many megabytes.
func said(c content.Content) string {
	sum := sha256.Sum256(content.Content{Speaker: c.Speaker, Blocks: c.Blocks}.AppendJSON(nil))
	return string(sum[:])
}

func firstCall(c content.Content) string {
	for _, b := range c.Blocks {
		switch b := b.(type) {
		case content.ToolCall:
			return string(c.Speaker) + " calls " + b.ID
		case content.ToolResponse:
			return string(c.Speaker) + " answers " + b.CallID
		}
	}
	return ""
}

// metadata often has a time or the recorder's id, which stay when the blocks are changed.
func metadata(c content.Content) string {
	if len(c.Metadata) == 0 {
		return ""
	}
	return string(c.Speaker) + " " + string(c.Metadata)
}

// begins returns a key of the first n bytes of an entry's text.
func begins(n int) func(content.Content) string {
	return func(c content.Content) string {
		for _, b := range c.Blocks {
			if t, ok := b.(content.Text); ok && t.Text != "" {
				return string(c.Speaker) + " " + t.Text[:min(len(t.Text), n)]
			}
		}
		return ""
	}
}

func kindAndID(b content.Block) string {
	switch b := b.(type) {
	case content.Text:
		return content.KindText
	case content.ToolCall:
		return content.KindToolCall + " " + b.ID
	case content.ToolResponse:
		return content.KindToolResponse + " " + b.CallID
	case content.Media:
		return content.KindMedia
	case content.Thinking:
		return content.KindThinking
	case content.Code:
		return content.KindCode
	}
	return ""
}
