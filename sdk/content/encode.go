package content

import (
	"encoding/json"
	"unicode/utf8"
)

// MarshalJSON writes c in the native form. json.Marshal escapes "<", ">" and "&" in the result and compacts raw JSON;
// call [Content.AppendJSON] to get the bytes unchanged. The error is always nil.
func (c Content) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// AppendJSON appends what [Content.MarshalJSON] returns: no HTML is escaped, and raw JSON is unchanged.
func (c Content) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"speaker":`...)
	dst = appendString(dst, string(c.Speaker))
	// Nil blocks are left out and empty ones are not: what was read is written back as it was.
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

// AppendBlock appends b in the native form. Nil, and types that are not of this package, become null.
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

// blockWriter writes one block. Fields in extra win over typed ones of the same name, since they are what was read.
type blockWriter struct {
	dst   []byte
	extra Fields
}

// newBlock begins a block with its type, which every reader wants first. The caller writes the closing brace.
func newBlock(dst []byte, kind string, extra Fields) blockWriter {
	dst = append(dst, `{"type":`...)
	return blockWriter{dst: appendString(dst, kind), extra: extra}
}

// key begins a field. Names are constants that need no escaping.
func (w *blockWriter) key(name string) {
	w.dst = append(w.dst, ',', '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, '"', ':')
}

func (w *blockWriter) str(name, value string) {
	w.key(name)
	w.dst = appendString(w.dst, value)
}

// opt writes a field that is left out when it is empty.
func (w *blockWriter) opt(name, value string) {
	// A value that could not be read, such as a number in a text's place, is in extra under the same name.
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
	for _, f := range fields.All() {
		dst = append(dst, ',')
		dst = appendString(dst, f.Name)
		dst = append(dst, ':')
		dst = append(dst, f.Value...)
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// appendString escapes only quotes, backslashes and control characters. Bytes that are not UTF-8 become U+FFFD.
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
			// A size of 1 tells a broken byte from a U+FFFD in the text, which takes three.
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
