package content

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Speaker is who an entry is from. The system prompt is not an entry: it is outside of the history.
type Speaker string

// The speakers of the native form. Any other value is carried, and no strategy touches such an entry.
const (
	Human Speaker = "human"
	AI    Speaker = "ai"
	Tool  Speaker = "tool"
)

// Known reports whether s is one of [Human], [AI] and [Tool].
func (s Speaker) Known() bool { return s == Human || s == AI || s == Tool }

// SpeakerNamed returns a speaker without a copy of its name if it is known: histories name them in each entry.
func SpeakerNamed[T ~string | ~[]byte](name T) Speaker {
	for _, s := range [...]Speaker{Human, AI, Tool} {
		if string(name) == string(s) {
			return s
		}
	}
	return Speaker(name)
}

// Content is one entry of a history: what one speaker said at one time. The zero value, without speaker and blocks, is
// carried but never sent to a model.
type Content struct {
	Speaker Speaker
	// Blocks are the parts of the entry in order. Nil means that the entry had no list of blocks at all.
	Blocks []Block
	// Metadata is a JSON object (timestamp, model, usage, isSummary, …) that no model sees, or nil.
	Metadata json.RawMessage
	// Extra holds the entry's fields that this version does not know, in their order.
	Extra Fields

	origin int // 1 + the position in the history that a strategy was given; 0: a new entry
}

// Origin returns the position that c had in the history that a strategy was given; ok is false for a new entry. A copy
// keeps it, however it is changed: this tells the SDK which entries a strategy kept without comparing texts.
func (c Content) Origin() (index int, ok bool) { return c.origin - 1, c.origin > 0 }

// WithOrigin returns a copy of c with the origin index. It is for the SDK and for tests.
func (c Content) WithOrigin(index int) Content {
	c.origin = index + 1
	return c
}

// Equal compares everything but the origin. Raw JSON is compared byte by byte, so 1.0 differs from 1: a host must not
// replace what it did not understand.
func (c Content) Equal(d Content) bool {
	return c.Speaker == d.Speaker &&
		(c.Blocks == nil) == (d.Blocks == nil) &&
		slices.EqualFunc(c.Blocks, d.Blocks, Equal) &&
		bytes.Equal(c.Metadata, d.Metadata) &&
		c.Extra.Equal(d.Extra)
}

// HasContent reports whether a model would see anything of c: a block that is not blank. Thinking counts when it holds
// a thought or encrypted reasoning.
func (c Content) HasContent() bool { return slices.ContainsFunc(c.Blocks, hasContent) }

// Blank reports whether c is an entry of the AI without content. Providers refuse such entries, so a host sends none,
// and a Compress gets none.
func (c Content) Blank() bool { return c.Speaker == AI && !c.HasContent() }

func hasContent(b Block) bool {
	p := Apart(b)
	return p.says != nil && p.says(p)
}

// Block is one part of an entry: [Text], [ToolCall], [ToolResponse], [Media], [Thinking], [Code], or [Opaque] for
// everything that this version does not know. The set is closed: a type switch over these seven is complete. Use plain
// values, not pointers.
type Block interface {
	// Kind is the block's "type" in the native form; for Opaque what its JSON says, "" if nothing.
	Kind() string
	block()
}

// Text is what a speaker said in words.
type Text struct {
	Text  string
	Extra Fields
}

// ToolCall asks for a tool to be run, in an entry of the [AI].
type ToolCall struct {
	// ID pairs the call with its response. Ids repeat in real transcripts, even within one entry; package turns has the
	// rule that says which response answers which call.
	ID   string
	Name string
	// Parameters is any JSON value, usually an object; nil when the call had none.
	Parameters json.RawMessage
	Extra      Fields
}

// ToolResponse is what a tool answered, in an entry of a [Tool].
type ToolResponse struct {
	CallID   string
	ToolName string
	// Result is any JSON value, usually a string; nil when there was none.
	Result json.RawMessage
	// Error is the tool's failure in words; "" if it reported none.
	Error string
	Extra Fields
}

// Failed reports whether the response is marked as a failure. Many agents never do that, or only for some tools: ask a
// taxonomy's Judge (package tools) how a call ended.
func (r ToolResponse) Failed() bool { return r.Error != "" }

// ResultText returns the result as a model reads it: the string itself if it is one, else its JSON.
func (r ToolResponse) ResultText() string { return rawText(r.Result) }

// WithResultText returns a copy of r whose result is the string s.
func (r ToolResponse) WithResultText(s string) ToolResponse {
	r.Result = String(s)
	return r
}

// Media is an attachment: an image, a PDF, audio.
type Media struct {
	MimeType string
	// Data is base64 or a URL, as Encoding says ("base64" or "url").
	Data     string
	Encoding string
	Caption  string
	Filename string
	Extra    Fields
}

// Thinking is a model's reasoning. Signature is the provider's proof of it; a thinking block is never rewritten.
type Thinking struct {
	Thought   string
	Signature string
	Extra     Fields
}

// Code is a piece of code that a speaker marked as such.
type Code struct {
	Code     string
	Language string
	Extra    Fields
}

// Opaque is a block that this version does not know or cannot read, as the raw JSON that was read (null included). It
// is carried unchanged.
type Opaque struct{ JSON json.RawMessage }

const (
	KindText         = "text"
	KindToolCall     = "tool_call"
	KindToolResponse = "tool_response"
	KindMedia        = "media"
	KindThinking     = "thinking"
	KindCode         = "code"
)

func (Text) Kind() string         { return KindText }
func (ToolCall) Kind() string     { return KindToolCall }
func (ToolResponse) Kind() string { return KindToolResponse }
func (Media) Kind() string        { return KindMedia }
func (Thinking) Kind() string     { return KindThinking }
func (Code) Kind() string         { return KindCode }

// Kind returns the "type" in the block's JSON; "" if there is none.
func (o Opaque) Kind() string {
	return rawjson.FieldText(o.JSON, "type")
}

func (Text) block()         {}
func (ToolCall) block()     {}
func (ToolResponse) block() {}
func (Media) block()        {}
func (Thinking) block()     {}
func (Code) block()         {}
func (Opaque) block()       {}

// Equal reports whether two blocks are the same. Raw JSON is compared byte by byte. A pointer to a block equals
// nothing.
func Equal(a, b Block) bool {
	var p, q Parts
	p.apart(a)
	q.apart(b)
	if p.Kind != q.Kind || p.Number == 0 || (a == nil) != (b == nil) || !p.Extra.Equal(q.Extra) {
		return false
	}
	for i := range p.Fields {
		if p.Values[i] != q.Values[i] {
			return false
		}
	}
	return true
}

// Clone returns a copy of b that shares no memory that can be written to: texts are immutable, raw JSON is not.
func Clone(b Block) Block {
	p := Apart(b)
	if b == nil || p.Number == 0 {
		return b
	}
	for i, f := range p.Fields {
		if f.JSON() {
			p.Values[i] = strings.Clone(p.Values[i])
		}
	}
	return p.Block()
}

// CallID returns the id by which a call and its response are paired; ok is false for other blocks.
func CallID(b Block) (id string, ok bool) {
	switch b := b.(type) {
	case ToolCall:
		return b.ID, true
	case ToolResponse:
		return b.CallID, true
	}
	return "", false
}

// ReadSize returns the bytes of what a model reads of b as text: that is without ids, signatures and attachments.
func ReadSize(b Block) (n int) {
	p := Apart(b)
	for i, f := range p.Fields {
		if f.Read() {
			n += len(p.Values[i])
		}
	}
	return n
}

// Field is one field that this version does not know.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Fields are unknown fields in the order in which they were read. They are immutable. The zero value has none, as in
// nearly all entries and blocks, and takes one word of memory.
type Fields struct{ list *[]Field }

// FieldsOf returns the given fields. It keeps the list.
func FieldsOf(list ...Field) Fields {
	if len(list) == 0 {
		return Fields{}
	}
	return Fields{&list}
}

// All returns the fields in their order. They must not be changed.
func (f Fields) All() []Field {
	if f.list == nil {
		return nil
	}
	return *f.list
}

// With returns f followed by more, as a new list: to add many, collect them and use [FieldsOf].
func (f Fields) With(more ...Field) Fields {
	if len(more) == 0 {
		return f
	}
	return FieldsOf(slices.Concat(f.All(), more)...)
}

// Get returns the value of the field name, nil if there is none.
func (f Fields) Get(name string) json.RawMessage {
	for _, field := range f.All() {
		if field.Name == name {
			return field.Value
		}
	}
	return nil
}

// Has reports whether there is a field name.
func (f Fields) Has(name string) bool {
	return slices.ContainsFunc(f.All(), func(field Field) bool { return field.Name == name })
}

// Equal reports whether f and g have the same fields in the same order.
func (f Fields) Equal(g Fields) bool {
	return f == g || slices.EqualFunc(f.All(), g.All(),
		func(a, b Field) bool { return a.Name == b.Name && bytes.Equal(a.Value, b.Value) })
}

// String returns s as raw JSON, for [ToolResponse.Result] and the like.
func String(s string) json.RawMessage { return appendString(nil, s) }

// rawText returns the text of a JSON string, "" for null, and any other value as its JSON.
func rawText(raw json.RawMessage) string {
	if rawjson.IsNull(raw) {
		return ""
	}
	if text, ok := rawjson.Text(raw); ok {
		return text
	}
	return string(raw)
}
