package transcript

import (
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/host/internal/provider/responses"
	"github.com/thresh-dev/thresh/sdk/content"
)

// items reads a request of the Responses API, or its items one a line, as messages that an agent adds are read: the form
// has no other reader.
type items struct {
	b    *builder
	read func(line int, item ordered.Object)
}

func newItems(b *builder) *items {
	b.t.Format, b.API = OpenAIResponses, &responses.Messages
	return &items{b, b.API.Reader(&b.Builder)}
}

// isResponsesItem reports whether o is an item that no other form has.
func isResponsesItem(o ordered.Object) bool {
	kind := o.Text("type")
	if kind == "message" {
		return o.Has("role") && responses.IsPart(ordered.FirstObject(o.Raw("content")).Text("type"))
	}
	return responses.Item(kind) != nil && !o.Has("role")
}

func readResponses(list string) documentReader {
	return func(b *builder, d *document) error {
		r := newItems(b)
		// Given next to the input and not as a message: the block has no role, which tells the writer.
		if text := d.top.Text("instructions"); text != "" {
			b.System = messages.One(content.Text{Text: text})
		}
		err := d.each(list, func(_, line int, raw []byte) error {
			return r.record(record{line: line, whole: raw, Object: ordered.Of(raw)})
		})
		b.t.Tools = d.top.Copy("tools")
		b.otherFields(d.top, nameIn(list, "instructions", "tools"))
		return err
	}
}

func (r *items) record(rec record) error {
	o := rec.Object
	if o == nil {
		o = ordered.Object{{Name: "type", Value: content.String("unknown")}, {Name: "value", Value: rec.whole}}
	}
	if _, err := r.b.API.Check(o); err != nil {
		return failEntry(rec.line, len(r.b.Entries), err.Error())
	}
	r.read(rec.line, o)
	return nil
}

func (r *items) end() error { return nil }
