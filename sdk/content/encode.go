package content

import "unicode/utf8"

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
	p := Apart(b)
	switch {
	case p.Type != "":
	case p.Values[0] != "":
		return append(dst, p.Values[0]...)
	default:
		return append(dst, "null"...)
	}
	dst = append(dst, `{"type":"`...) // which every reader wants first
	dst = append(dst, p.Type...)
	dst = append(dst, '"')
	for i := range p.Fields {
		f, value := &p.Fields[i], p.Values[i]
		// A value that could not be read, such as a number in a text's place, is in Extra under the same name.
		if value == "" && f.traits&(raw|optional) != 0 || f.traits&optional != 0 && p.Extra.Has(f.Name) {
			continue
		}
		dst = append(dst, ',', '"') // names need no escaping
		dst = append(dst, f.Name...)
		dst = append(dst, '"', ':')
		if f.JSON() {
			dst = append(dst, value...)
		} else {
			dst = appendString(dst, value)
		}
	}
	return append(appendFields(dst, p.Extra), '}')
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
