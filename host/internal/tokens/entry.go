package tokens

import (
	"context"
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
		n, err := c.block(ctx, b, buf)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// buffers are reused to decode results: megabytes of them take no memory of that size.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func (c *Counter) block(ctx context.Context, b content.Block, buf *[]byte) (total int, err error) {
	if b == nil {
		return 0, nil
	}
	p := content.Apart(b)
	total = mediaTokens(p.Attachment())
	for i := range p.Fields {
		f, s, valid := &p.Fields[i], p.Values[i], false
		switch {
		case !f.Read():
			continue
		case p.Type == "", f.Unquoted() && isStructured(s):
			var media int
			s, media = withoutMedia(s, p.Type == "")
			total += media
		case f.Unquoted():
			if *buf, valid = rawjson.AppendText((*buf)[:0], p.JSON(i)); valid { // decoded text always is
				s = view(*buf)
			} else {
				s = p.Text(i)
			}
		}
		n, err := c.text(ctx, s, valid)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// view returns bytes as a string without copying. They must not change while it is in use.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func isStructured(json string) bool { return json != "" && (json[0] == '[' || json[0] == '{') }
