package body

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// messagesReader reads bodies of Anthropic's Messages API. Messages of the role "system" may stand inside of the
// conversation, so that roles do not alternate.
type messagesReader struct{}

func (messagesReader) names() (string, []string) { return "messages", []string{"system", "tools"} }

// top reads the limit of the answer, and Claude Code's name of the session. A request in a thread holds what is new.
func (messagesReader) top(r *Request) {
	t := r.tape
	if !t.absent(t.get(0, "thread")) {
		r.Reason = Continued
	}
	r.Completion = r.integer(t.get(0, "max_tokens"))
	// Claude Code writes an object as a string here.
	if user := t.str(t.get(t.get(0, "metadata"), "user_id")); strings.HasPrefix(user, "{") {
		r.SessionID = rawjson.FieldText([]byte(user), "session_id")
	}
}

// item reads a message.
func (messagesReader) item(r *Request, n int32) (Item, error) {
	t := r.tape
	role := t.get(n, "role")
	item, list, err := parted(t, n, t.get(n, "content"))
	if err != nil {
		return item, err
	}
	// A role that is not known yet makes the whole request one that is not changed: its rules are not known either.
	switch {
	case t.is(role, "user"):
		item.eachPart(t, list, content.Human, messagesPart)
	case t.is(role, "assistant"):
		item.eachPart(t, list, content.AI, messagesPart)
	case t.is(role, "system"):
		item.eachPart(t, list, content.Human, messagesPart)
		item.Pinned = true
	default:
		return item, ErrForm
	}
	return item, nil
}

// messagesPart reads one content block.
func messagesPart(t *tape, n int32, speaker content.Speaker) Part {
	p := Part{Kind: Fixed, Speaker: speaker, marks: true}
	kind := t.get(n, "type")
	switch {
	case t.is(kind, "text") && t.kind(t.get(n, "text")) == '"':
		// Citations refer to positions in the text.
		if t.absent(t.get(n, "citations")) {
			p.Kind, p.Value = Text, t.span(t.get(n, "text"))
		}
	case t.is(kind, "tool_use") && speaker == content.AI && named(t, n, "id", "name"):
		p.Kind = Call
	case t.is(kind, "tool_result") && speaker == content.Human && named(t, n, "tool_use_id"):
		p.Kind, p.Speaker = Response, content.Tool
		if c := t.get(n, "content"); plainResult(t, c) {
			p.Value = t.span(c)
		}
	// The API takes no marker on these.
	case t.is(kind, "thinking"), t.is(kind, "redacted_thinking"):
		p.Kind, p.marks = Bound, false
	case t.is(kind, "image"), t.is(kind, "document"):
		p.Kind = Media
	}
	if m := t.get(n, "cache_control"); !t.absent(m) {
		p.mark = t.span(m)
	}
	return p
}

// parted begins an item: its content is a text, which is the item's only part, or an array of parts. Any other kind of
// value is [ErrForm].
func parted(t *tape, n, value int32) (item Item, list int32, err error) {
	switch t.kind(value) {
	case '[':
		item.parts = t.span(value)
	case '"':
	default:
		return item, none, ErrForm
	}
	return item, value, nil
}

// eachPart reads the parts of an item. A text alone is the value of one part. read need not set the span and the node;
// they are set here for every API.
func (item *Item) eachPart(t *tape, value int32, speaker content.Speaker,
	read func(*tape, int32, content.Speaker) Part) {
	if t.kind(value) == '"' {
		item.Parts = append(item.Parts, Part{Kind: Text, Speaker: speaker, Span: t.span(value), Alone: true,
			Value: t.span(value), marks: true, node: value})
		return
	}
	item.Parts = slices.Grow(item.Parts, t.count(value))
	for c := range t.children(value) {
		p := read(t, c, speaker)
		p.Span, p.node = t.span(c), c
		item.Parts = append(item.Parts, p)
	}
}

// named reports whether fields are strings that are not empty. Ids and names that are missing would make pairing
// guesswork.
func named(t *tape, n int32, fields ...string) bool {
	for _, f := range fields {
		if v := t.get(n, f); t.kind(v) != '"' || t.is(v, "") {
			return false
		}
	}
	return true
}

// plainResult reports whether a tool's result is text: a string, or an array of text parts without cache markers of
// their own. Others, such as images, are kept as they are.
func plainResult(t *tape, n int32) bool {
	if t.kind(n) == '"' {
		return true
	}
	if t.kind(n) != '[' {
		return false
	}
	for c := range t.children(n) {
		kind := t.get(c, "type")
		if !t.is(kind, "text") && !t.is(kind, "input_text") && !t.is(kind, "output_text") ||
			t.kind(t.get(c, "text")) != '"' || !t.absent(t.get(c, "cache_control")) {
			return false
		}
	}
	return true
}

// textNode returns the text of a text part: the part itself where it is alone.
func textNode(t *tape, n int32) int32 {
	if t.kind(n) == '"' {
		return n
	}
	return t.get(n, "text")
}
