package content

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrNotAnEntry is wrapped by every error of [Content.UnmarshalJSON]: the JSON is no history entry.
var ErrNotAnEntry = errors.New("not a history entry")

// UnmarshalJSON reads an entry in the native form. It refuses only what is no entry at all (no object, a speaker that
// is no string, blocks that are no array); a block that it cannot read becomes an [Opaque] block.
//
// Text is UTF-8: bytes that are not, and escapes of half a surrogate pair, become U+FFFD here, once.
func (c *Content) UnmarshalJSON(data []byte) error {
	fields, err := objectFields(data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotAnEntry, err)
	}
	var out Content
	for _, f := range fields {
		switch f.Name {
		case "speaker":
			var s string
			if err := json.Unmarshal(f.Value, &s); err != nil || isNull(f.Value) {
				return fmt.Errorf("%w: speaker is %s, not a string", ErrNotAnEntry, clip(f.Value))
			}
			out.Speaker = Speaker(s)
		case "blocks":
			if isNull(f.Value) {
				continue
			}
			var raws []json.RawMessage
			if err := json.Unmarshal(f.Value, &raws); err != nil {
				return fmt.Errorf("%w: blocks is %s, not an array", ErrNotAnEntry, clip(f.Value))
			}
			out.Blocks = make([]Block, len(raws))
			for i, raw := range raws {
				out.Blocks[i] = ParseBlock(raw)
			}
		case "metadata":
			if isNull(f.Value) {
				continue
			}
			out.Metadata = f.Value
		default:
			out.Extra = append(out.Extra, f)
		}
	}
	*c = out
	return nil
}

// ParseBlock reads one block in the native form. What it cannot read becomes an [Opaque] block with the JSON as it stood.
func ParseBlock(raw json.RawMessage) Block {
	opaque := Opaque{JSON: bytes.Clone(raw)}
	fields, err := objectFields(raw)
	if err != nil {
		return opaque
	}
	r := blockReader{fields: fields}
	var b Block
	switch kind := r.str("type"); kind {
	case KindText:
		b = Text{Text: r.str("text"), Extra: r.rest()}
	case KindToolCall:
		b = ToolCall{ID: r.str("id"), Name: r.str("name"), Parameters: r.raw("parameters"), Extra: r.rest()}
	case KindToolResponse:
		b = ToolResponse{CallID: r.str("callId"), ToolName: r.str("toolName"), Result: r.raw("result"), Error: r.failure(), Extra: r.rest()}
	case KindMedia:
		b = Media{MimeType: r.str("mimeType"), Data: r.str("data"), Encoding: r.str("encoding"), Caption: r.opt("caption"), Filename: r.opt("filename"), Extra: r.rest()}
	case KindThinking:
		b = Thinking{Thought: r.str("thought"), Signature: r.opt("signature"), Extra: r.rest()}
	case KindCode:
		b = Code{Code: r.str("code"), Language: r.opt("language"), Extra: r.rest()}
	default:
		return opaque
	}
	if r.bad {
		return opaque
	}
	return b
}

// blockReader takes known fields out of a block's fields; what stays is the block's Extra.
type blockReader struct {
	fields Fields
	bad    bool // a field that must be a string is none
}

func (r *blockReader) take(name string) (json.RawMessage, bool) {
	for i, f := range r.fields {
		if f.Name == name {
			r.fields = append(r.fields[:i:i], r.fields[i+1:]...)
			return f.Value, true
		}
	}
	return nil, false
}

// str takes a field that must be a string.
func (r *blockReader) str(name string) string {
	raw, ok := r.take(name)
	var s string
	if !ok || isNull(raw) || json.Unmarshal(raw, &s) != nil {
		r.bad = true
	}
	return s
}

// opt takes a field that may be absent. A value that is empty or no string stays in Extra, so that it is written back.
func (r *blockReader) opt(name string) string {
	var s string
	if raw := r.fields.Get(name); raw == nil || json.Unmarshal(raw, &s) != nil || s == "" {
		return ""
	}
	r.take(name)
	return s
}

func (r *blockReader) raw(name string) json.RawMessage {
	raw, _ := r.take(name)
	return raw
}

// failure reads "error". A value that is no string but says something (an object, true) is a failure too; it stays in
// Extra, which wins over the typed field when the block is written.
func (r *blockReader) failure() string {
	if s := r.opt("error"); s != "" {
		return s
	}
	raw := r.fields.Get("error")
	switch strings.TrimSpace(string(raw)) {
	case "", "null", "false", `""`, "0":
		return ""
	}
	return string(raw)
}

func (r *blockReader) rest() Fields {
	if len(r.fields) == 0 {
		return nil
	}
	return r.fields
}

// MarshalJSON writes c in the native form: speaker, blocks, metadata, then the unknown fields. Raw JSON is written as it is.
func (c Content) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// AppendJSON appends what [Content.MarshalJSON] returns. Unlike encoding/json it escapes no HTML and leaves raw JSON
// untouched, byte by byte.
func (c Content) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"speaker":`...)
	dst = appendString(dst, string(c.Speaker))
	if c.Blocks != nil {
		dst = append(dst, `,"blocks":[`...)
		for i, b := range c.Blocks {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendBlock(dst, b)
		}
		dst = append(dst, ']')
	}
	if len(c.Metadata) > 0 {
		dst = append(dst, `,"metadata":`...)
		dst = append(dst, c.Metadata...)
	}
	return append(appendFields(dst, c.Extra), '}')
}

// AppendBlock appends b in the native form.
func AppendBlock(dst []byte, b Block) []byte {
	var w blockWriter
	switch b := b.(type) {
	case Text:
		w = newBlock(dst, KindText, b.Extra)
		w.str("text", b.Text)
	case ToolCall:
		w = newBlock(dst, KindToolCall, b.Extra)
		w.str("id", b.ID)
		w.str("name", b.Name)
		w.raw("parameters", b.Parameters)
	case ToolResponse:
		w = newBlock(dst, KindToolResponse, b.Extra)
		w.str("callId", b.CallID)
		w.str("toolName", b.ToolName)
		w.raw("result", b.Result)
		w.opt("error", b.Error)
	case Media:
		w = newBlock(dst, KindMedia, b.Extra)
		w.str("mimeType", b.MimeType)
		w.str("data", b.Data)
		w.str("encoding", b.Encoding)
		w.opt("caption", b.Caption)
		w.opt("filename", b.Filename)
	case Thinking:
		w = newBlock(dst, KindThinking, b.Extra)
		w.str("thought", b.Thought)
		w.opt("signature", b.Signature)
	case Code:
		w = newBlock(dst, KindCode, b.Extra)
		w.str("code", b.Code)
		w.opt("language", b.Language)
	case Opaque:
		if len(b.JSON) == 0 {
			return append(dst, "null"...)
		}
		return append(dst, b.JSON...)
	default:
		return append(dst, "null"...)
	}
	return append(appendFields(w.dst, w.extra), '}')
}

type blockWriter struct {
	dst   []byte
	extra Fields
}

func newBlock(dst []byte, kind string, extra Fields) blockWriter {
	dst = append(dst, `{"type":`...)
	return blockWriter{dst: appendString(dst, kind), extra: extra}
}

func (w *blockWriter) key(name string) {
	w.dst = append(w.dst, ',', '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, '"', ':')
}

func (w *blockWriter) str(name, value string) {
	w.key(name)
	w.dst = appendString(w.dst, value)
}

func (w *blockWriter) opt(name, value string) {
	if value != "" && !w.extra.Has(name) {
		w.str(name, value)
	}
}

func (w *blockWriter) raw(name string, value json.RawMessage) {
	if len(value) > 0 {
		w.key(name)
		w.dst = append(w.dst, value...)
	}
}

func appendFields(dst []byte, fields Fields) []byte {
	for _, f := range fields {
		dst = append(dst, ',')
		dst = appendString(dst, f.Name)
		dst = append(dst, ':')
		dst = append(dst, f.Value...)
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string: the shortest form, everything printable as itself. What is not UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// objectFields splits a JSON object into its fields in order; of a name that stands twice the last value counts, as in
// encoding/json. The values are copies.
func objectFields(data []byte) (Fields, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if d, ok := tok.(json.Delim); !ok || d != '{' {
		return nil, fmt.Errorf("it is %s, not an object", clip(data))
	}
	var fields Fields
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name := tok.(string) // a key of an object is always a string
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		fields = fields.set(name, value)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	return fields, nil
}

func (f Fields) set(name string, value json.RawMessage) Fields {
	for i := range f {
		if f[i].Name == name {
			f[i].Value = value
			return f
		}
	}
	return append(f, Field{Name: name, Value: value})
}

// clip returns the beginning of raw for an error message.
func clip(raw []byte) string {
	const most = 40
	s := strings.ToValidUTF8(string(raw), "\ufffd")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
