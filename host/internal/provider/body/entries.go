package body

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Entry is an entry of a history that stands for parts of a request's items.
type Entry struct {
	// ID is the id that the history gave the entry.
	ID      string
	Content content.Content
	// Refs are the parts, one for each block.
	Refs []Ref
}

// pinned is the metadata of instructions within the conversation: no strategy may change or remove them.
var pinned = json.RawMessage(`{"pinned":true}`)

// Entries reads the items from position from on as entries of a history. A run of parts of one speaker is one entry:
// what the model says in one turn, or results that come together. Instructions at the beginning are left out.
//
// Entries refer to the body if it is mostly what is read, as in the first request of a conversation. Otherwise
// everything is copied, so that a few entries do not hold on to a body. Reading from the middle gives the entries that
// reading all would give behind that position, unless it parts a run of the model.
func (r *Request) Entries(from int) []Entry {
	take := bytes.Clone
	if r.read(from) > len(r.Raw)/4*3 {
		take = func(raw []byte) []byte { return raw }
	}
	items := r.Items[min(max(from, r.lead), len(r.Items)):]
	parts := 0
	for i := range items {
		parts += len(items[i].Parts)
	}
	// One array each for all of them. Most items are an entry.
	out, refs, blocks := make([]Entry, 0, len(items)), make([]Ref, 0, parts), make([]content.Block, 0, parts)
	var at *Entry // the entry that parts are added to
	for i := len(r.Items) - len(items); i < len(r.Items); i++ {
		item := &r.Items[i]
		for j := range item.Parts {
			p := &item.Parts[j]
			// Runs of the model go on from item to item; people and tools have one entry for an item.
			if at == nil || at.Content.Speaker != p.Speaker || p.Speaker != content.AI && at.Refs[0].Item != i {
				out = append(out, Entry{Content: content.Content{Speaker: p.Speaker}})
				at = &out[len(out)-1]
				if item.Pinned {
					at.Content.Metadata = pinned
				}
			}
			n := len(refs) - len(at.Refs)
			refs, blocks = append(refs, Ref{i, j}), append(blocks, r.block(Ref{i, j}, take))
			at.Refs, at.Content.Blocks = refs[n:len(refs):len(refs)], blocks[n:len(blocks):len(blocks)]
		}
		// What people and tools say ends with its item, even if the next item is theirs too.
		if len(item.Parts) > 0 && item.Parts[0].Speaker != content.AI {
			at = nil
		}
	}
	return out
}

// Count returns how many entries there are from the first item on, without reading them.
func (r *Request) Count() (n int) {
	var by content.Speaker // of the entry that parts are added to; "" if the next one begins another
	for i := r.lead; i < len(r.Items); i++ {
		parts := r.Items[i].Parts
		for j := range parts {
			if parts[j].Speaker != by {
				by = parts[j].Speaker
				n++
			}
		}
		if len(parts) > 0 && parts[0].Speaker != content.AI {
			by = ""
		}
	}
	return n
}

// read returns how many bytes of the body entries are made of, from an item on.
func (r *Request) read(from int) (size int) {
	for i := from; i < len(r.Items); i++ {
		for _, p := range r.Items[i].Parts {
			if p.Kind != Media { // of which no data are
				size += p.End - p.Start
			}
		}
	}
	return size
}

// block reads a part as a block; take gives it JSON of the body. Every kind becomes some block, so that positions of
// blocks and of parts are the same.
func (r *Request) block(at Ref, take func([]byte) []byte) content.Block {
	t, p := r.tape, r.part(at)
	switch p.Kind {
	case Text:
		return content.Text{Text: t.str(p.text)}
	case Call:
		id, name := r.callID(p)
		return content.ToolCall{ID: r.blockID(id, at), Name: name, Parameters: r.parameters(p, take)}
	case Response:
		return r.response(p, at, take)
	case Bound:
		thought := content.Thinking{Thought: r.thought(p)}
		if p.sealed() {
			thought.Signature = sealedProof
		}
		return thought
	case Own: // the model's own, which nobody else reads: as it stands, because that is what counts
		return content.Thinking{Thought: string(t.text(p.node))}
	case Media:
		return r.media(p)
	default:
		return opaque(t.text(p.node))
	}
}

// part returns the part that a reference names, in this request's own items.
func (r *Request) part(at Ref) *Part { return &r.Items[at.Item].Parts[at.Part] }

// blockID is the id of a call. Gemini's calls may have none; their position tells them apart. The position stays the
// same as long as a client only appends.
func (r *Request) blockID(id string, call Ref) string {
	if id == "" {
		return fmt.Sprintf("call-%d-%d", call.Item, call.Part)
	}
	return id
}

// parameters returns the arguments of a call as JSON. What is none stays a string.
func (r *Request) parameters(p *Part, take func([]byte) []byte) json.RawMessage {
	n := r.tape.at(p.node, p.kind.Value)
	if p.kind.Quoted {
		return inner(r.tape, n, take)
	}
	return take(r.tape.text(n)) // a custom tool takes any text
}

// inner returns the JSON within a string, or the string itself. It never fails: models write arguments that are no
// JSON, and these must be carried too.
func inner(t *tape, n int32, take func([]byte) []byte) json.RawMessage {
	if s := json.RawMessage(t.str(n)); rawjson.Valid(s) {
		return s
	}
	return take(t.text(n))
}

// response reads a tool's result: its text if it is text, else the JSON that stands there. The pairs must be known:
// [Index] has found them for every request that may be edited.
func (r *Request) response(p *Part, at Ref, take func([]byte) []byte) content.Block {
	t := r.tape
	id, _ := r.responseID(p)
	call := r.pairs.call[at]
	_, name := r.callID(r.part(call))
	out := content.ToolResponse{CallID: r.blockID(id, call), ToolName: name}
	value := t.at(p.node, p.kind.Value)
	if t.kind(t.at(p.node, p.kind.Failed)) == 't' {
		out.Error = "the tool reported an error"
	}
	if r.form.Wrap != "" {
		if text := t.get(value, r.form.Wrap); t.kind(text) == '"' {
			value = text
		} else if text := t.get(value, r.form.WrapError); t.kind(text) == '"' {
			out.Error = t.str(text)
		}
	}
	switch {
	case t.kind(value) == '"':
		out.Result = take(t.text(value))
	case t.kind(value) == '[':
		out.Result = content.String(texts(t, value))
	default:
		out.Result = take(t.text(value))
	}
	return out
}

// texts joins the text parts of a result. Others, such as images, count as a word: a provider counts them by their
// size in pixels, which usage reports teach.
func texts(t *tape, list int32) string {
	var out []string
	for c := range t.children(list) {
		if text := t.get(c, "text"); t.kind(text) == '"' {
			out = append(out, t.str(text))
		} else {
			out = append(out, "["+t.str(t.get(c, "type"))+"]")
		}
	}
	return strings.Join(out, "\n")
}

// thought returns the text of reasoning. Encrypted reasoning has none; a word stands for it, so that an entry of it
// alone is not taken for an empty one.
func (r *Request) thought(p *Part) string {
	t := r.tape
	if p.kind != nil {
		value := t.at(p.node, p.kind.Value)
		if text := t.str(value); text != "" {
			return text
		}
		if text := texts(t, value); text != "" {
			return text
		}
	}
	return "[reasoning]"
}

// media reads an attachment. Its data are not copied: strategies look at none, and what is sent is the client's.
func (r *Request) media(p *Part) content.Block {
	t := r.tape
	if p.kind.Usual == "text/plain" {
		return content.Text{Text: string(t.text(p.node))}
	}
	kind := cmp.Or(t.str(t.at(p.node, p.kind.Mime)), p.kind.Usual, "application/octet-stream")
	return content.Media{MimeType: kind, Data: "thresh:not-copied", Encoding: "url"}
}

// opaque carries what is not known. A strategy sees its kind and does not touch it. The kind is the part's own type if
// it has one.
func opaque(raw []byte) content.Block {
	if rawjson.FieldText(raw, "type") == "" {
		// A block has a kind; this form has none.
		raw = append(append([]byte(`{"type":"provider-part","json":`), raw...), '}')
	}
	return content.ParseBlock(raw)
}
