package body

import (
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/sdk/content"
)

// How items and parts of an API are read: its form says what there is, and everything here is written once.

// form reads the items of one API.
type form struct{ *provider.Form }

// top reads what is outside of the items. A request that continues a history that the provider keeps holds no whole
// conversation, so that nothing could be compared.
func (f form) top(r *Request) {
	t := r.tape
	if !f.Addressed {
		r.Model = t.str(t.get(0, "model"))
		r.Stream = t.kind(t.get(0, "stream")) == 't'
	}
	for _, name := range f.Continued {
		if !t.absent(t.get(0, name)) {
			r.Reason = Continued
		}
	}
	if f.Compacts != "" && r.Reason == "" && !t.absent(t.get(0, f.Compacts)) {
		r.Reason = Compaction
	}
	for _, path := range f.MaxOutput {
		r.Completion = max(r.Completion, r.integer(t.at(0, path)))
	}
	if f.SealAt != "" {
		r.DropsThinking = t.is(t.at(0, f.SealAt), "drop_block")
		r.ManualThinking = t.is(t.at(0, f.ThinkAt), "enabled")
	}
	if f.SessionAt != "" {
		if r.SessionID = t.str(t.at(0, f.SessionAt)); f.SessionID != nil {
			r.SessionID = f.SessionID(r.SessionID)
		}
	}
}

// item reads one item. A form that is not known makes the whole request one that is not changed: its rules are not
// known either.
func (f form) item(r *Request, n int32) (Item, error) {
	t := r.tape
	if f.Items != nil {
		kind := t.get(n, "type")
		message := kind == none || slices.ContainsFunc(f.MessageTypes, func(name string) bool { return t.is(kind, name) })
		if !message {
			return f.alone(r, n, find(f.Items, t, kind))
		}
	}
	for _, old := range f.Old {
		if !t.absent(t.get(n, old)) {
			return Item{}, ErrForm
		}
	}
	role := t.get(n, "role")
	if f.ResultRole != "" && t.is(role, f.ResultRole) {
		return f.alone(r, n, &f.Result)
	}
	for _, known := range f.Roles {
		if t.is(role, known.Name) {
			return f.message(t, n, known)
		}
	}
	if f.Items != nil && t.is(t.get(n, "type"), "agent_message") { // words of another agent to this one
		return f.message(t, n, provider.Role{Speaker: content.Human})
	}
	return Item{}, ErrForm
}

// fixed is the kind of what is not known.
var fixed = provider.Kind{Is: provider.Fixed}

// find returns the row with a type.
func find(rows []provider.Kind, t *tape, kind int32) *provider.Kind {
	for i := range rows {
		if t.is(kind, rows[i].Type) && !rows[i].Inner {
			return &rows[i]
		}
	}
	return &fixed
}

// alone reads an item that is one part, without an array around it.
func (f form) alone(r *Request, n int32, k *provider.Kind) (Item, error) {
	t := r.tape
	if !complete(t, n, k) {
		return Item{}, ErrForm
	}
	if k == &fixed && t.is(t.get(n, "type"), "compaction_trigger") && r.Reason == "" {
		r.Reason = Compaction
		r.Trigger = true
	}
	item := Item{Parts: []Part{f.part(t, n, k, content.AI)}}
	p := &item.Parts[0]
	p.Alone = true
	if k == &fixed {
		role := t.get(n, "role")
		for _, known := range f.Roles { // tools of Codex, in an item of the developer
			if known.Pinned && t.is(role, known.Name) {
				item.Pinned, p.Speaker = true, known.Speaker
			}
		}
	}
	return item, nil
}

// complete reports whether a call or a result has what pairs it. Ids and names that are missing would make pairing
// guesswork.
func complete(t *tape, n int32, k *provider.Kind) bool {
	if k.Is != provider.Call && k.Is != provider.Result {
		return true
	}
	return (k.Optional || named(t, t.at(n, k.ID))) && (k.Name == "" || k.Is == provider.Result && !k.Optional ||
		named(t, t.at(n, k.Name)))
}

// named reports whether a value is a string that is not empty.
func named(t *tape, n int32) bool { return t.kind(n) == '"' && !t.is(n, "") }

// message reads an item with a role.
func (f form) message(t *tape, n int32, role provider.Role) (Item, error) {
	item := Item{Pinned: role.Pinned}
	value := t.get(n, f.Content)
	calls := none
	if role.Speaker == content.AI && f.CallsIn != "" {
		calls = t.get(n, f.CallsIn)
	}
	switch t.kind(value) {
	case '[':
		item.parts = t.span(value)
		item.Parts = slices.Grow(item.Parts, t.count(value))
		for c := range t.children(value) {
			item.Parts = append(item.Parts, f.part(t, c, f.kind(t, c), role.Speaker))
		}
		if len(item.Parts) == 0 && !f.MayBeEmpty {
			return item, ErrForm
		}
	case '"':
		if role.Pinned && f.Sections && t.is(value, "") {
			break
		}
		if !f.ContentText {
			return item, ErrForm
		}
		item.Parts = append(item.Parts, Part{Kind: Text, Speaker: role.Speaker, Span: t.span(value), Alone: true,
			Value: t.span(value), takesMarker: true, node: value, text: value})
	case 0, 'n': // a message of calls or of reasoning alone, or one that sets the effort
		if role.Pinned && f.Sections {
			return item, nil
		}
		if role.Speaker != content.AI || f.CallsIn == "" {
			return item, ErrForm
		}
	default:
		return item, ErrForm
	}
	// Such a message is removed whole or not at all, so reasoning and other fields stay with what they belong to.
	for c := range t.children(calls) {
		if !complete(t, c, &f.Call) {
			return item, ErrForm
		}
		item.Parts = append(item.Parts, f.part(t, c, &f.Call, role.Speaker))
	}
	if len(item.Parts) == 0 && t.kind(value) != '[' && !item.Pinned { // a message of reasoning alone
		item.Parts = []Part{{Kind: Bound, Speaker: content.AI, Span: t.span(n), Alone: true, node: n, kind: &fixed}}
	}
	return item, nil
}

// kind returns the row of a part of a message.
func (f form) kind(t *tape, n int32) *provider.Kind {
	if f.typed() {
		return find(f.Parts, t, t.get(n, "type"))
	}
	for i := range f.Parts {
		switch v := t.get(n, f.Parts[i].Type); t.kind(v) {
		case '{', '"':
			return &f.Parts[i]
		}
	}
	return &fixed
}

// typed reports whether parts have a type.
func (f form) typed() bool { return f.TextType(content.Human) != "" }

// part reads one part or an item that is one. What is not known, or lacks what its kind must have, is Fixed, so that it
// never changes and never goes.
func (f form) part(t *tape, n int32, k *provider.Kind, by content.Speaker) Part {
	if k.By != "" && by != k.By || !complete(t, n, k) {
		k = &fixed
	}
	p := Part{Kind: k.Is, Speaker: by, Span: t.span(n), node: n, kind: k,
		takesMarker: f.API == provider.Messages && !k.Unmarked}
	v := t.at(n, k.Value)
	switch k.Is {
	case Text:
		switch {
		case t.kind(v) != '"':
			p.Kind, p.kind = Fixed, &fixed
		case f.Thought != "" && t.kind(t.get(n, f.Thought)) == 't':
			p.Kind = Bound
		case !k.Keep && (k.Citing == "" || t.absent(t.get(n, k.Citing))):
			p.Value = t.span(v)
		}
		p.text = v
	case Fence: // an attempt that failed has no text, and leaves out nothing
		if t.kind(v) != '"' {
			p.Kind, p.kind = Fixed, &fixed
		}
	case Response:
		p.Speaker = content.Tool
		switch {
		case k.Keep:
		case f.Wrap != "":
			if t.kind(v) == '{' && t.absent(t.at(n, f.WrapMore)) {
				p.Value = t.span(v)
			}
		case f.plainResult(t, v):
			p.Value = t.span(v)
		}
		p.marker, p.inner = f.innerMarker(t, v)
	}
	if k.Loads != "" {
		p.loads = loads(t, t.at(n, k.Loads), k.LoadsName)
	}
	if f.Signature != "" && p.Kind != Call && !t.absent(t.get(n, f.Signature)) {
		p.Kind, p.Value = Bound, Span{}
	}
	// Servers that put a form like OpenAI's in front of Anthropic's models take its markers.
	if m := t.get(n, "cache_control"); !t.absent(m) {
		p.marker, p.takesMarker, p.inner = t.span(m), true, 0
	}
	return p
}

// loads returns the names of the tools in a list.
func loads(t *tape, list int32, name string) (names []string) {
	for c := range t.children(list) {
		if s := t.str(t.get(c, name)); s != "" {
			names = append(names, s)
		}
	}
	return names
}

// plainResult reports whether a tool's result is text: a string, or an array of text parts. Others, such as images, are
// kept as they are.
func (f form) plainResult(t *tape, n int32) bool {
	if t.kind(n) == '"' {
		return true
	}
	if t.kind(n) != '[' {
		return false
	}
	for c := range t.children(n) {
		kind := t.get(c, "type")
		if !t.is(kind, "text") && !t.is(kind, "input_text") && !t.is(kind, "output_text") ||
			t.kind(t.get(c, "text")) != '"' {
			return false
		}
	}
	return true
}

// innerMarker returns the last cache marker within a result's parts, and how many there are.
func (f form) innerMarker(t *tape, list int32) (marker Span, n int) {
	if t.kind(list) != '[' {
		return marker, 0
	}
	for c := range t.children(list) {
		if m := t.get(c, "cache_control"); !t.absent(m) {
			marker = t.span(m)
			n++
		}
	}
	return marker, n
}
