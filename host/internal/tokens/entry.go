package tokens

import (
	"context"
	"encoding/json"
	"sync"
	"unsafe"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// entryFrame is the tokens that a provider puts around an entry: the speaker, and marks for its beginning and end.
const entryFrame = 4

// Entry returns the tokens of e in a context window, at least 4. The package documentation lists what is counted.
//
// Entry panics if [Counter.Load] fails.
func (c *Counter) Entry(e content.Content) int {
	n, err := c.entry(context.Background(), e)
	if err != nil {
		panic("tokens: " + err.Error()) // the context cannot end, so it is the vocabulary
	}
	return n
}

// System returns the tokens of a system prompt, which counts like a message, or 0 without one.
func (c *Counter) System(blocks []content.Block) int {
	if len(blocks) == 0 {
		return 0
	}
	return c.Entry(content.Content{Speaker: content.Human, Blocks: blocks})
}

func (c *Counter) entry(ctx context.Context, e content.Content) (int, error) {
	total := entryFrame
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for _, b := range e.Blocks {
		cost := costOf(b, buf)
		total += cost.tokens
		for i, text := range cost.texts {
			n, err := c.text(ctx, text, i == 0 && cost.valid)
			if err != nil {
				return 0, err
			}
			total += n
		}
	}
	return total, nil
}

// buffers are reused to decode results: megabytes of them take no memory of that size.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

type cost struct {
	texts  [2]string // an empty text costs nothing
	valid  bool      // the first text is known to be UTF-8
	tokens int
}

// costOf may decode a text into buf, which must not change before the text is counted.
func costOf(b content.Block, buf *[]byte) cost {
	switch b := b.(type) {
	case content.Text:
		return textCost(b.Text)
	case content.Code:
		return textCost(b.Code)
	case content.Thinking:
		return textCost(b.Thought)
	case content.ToolCall:
		return textCost(b.Name, view(b.Parameters))
	case content.ToolResponse:
		return responseCost(b, buf)
	case content.Media:
		return cost{texts: [2]string{b.Caption}, tokens: mediaTokens(b.MimeType, b.Data, b.Encoding == "url")}
	case content.Opaque:
		return jsonCost(b.JSON, true)
	default:
		return cost{}
	}
}

func textCost(texts ...string) (c cost) {
	copy(c.texts[:], texts)
	return c
}

func responseCost(r content.ToolResponse, buf *[]byte) cost {
	if isStructured(r.Result) {
		c := jsonCost(r.Result, false)
		c.texts[1] = r.Error
		return c
	}
	var ok bool
	if *buf, ok = rawjson.AppendText((*buf)[:0], r.Result); ok {
		c := textCost(view(*buf), r.Error)
		c.valid = true // decoded text always is
		return c
	}
	return textCost(r.ResultText(), r.Error)
}

// view returns bytes as a string without copying. They must not change while it is in use.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func isStructured(raw json.RawMessage) bool { return len(raw) > 0 && (raw[0] == '[' || raw[0] == '{') }
