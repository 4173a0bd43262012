package tokens

import "strings"

// longBase64 is the least length, in characters, of a string taken for encoded data instead of text.
const longBase64 = 1024

// withoutMedia returns JSON text without the strings in it that are media, such as a picture in a tool result, and the
// tokens of these. Other long base64 stays text, as a model would see it, or with capped counts as much as a picture:
// in a block of unknown kind it is far more likely an attachment or a signature.
//
// It only looks for strings and does not validate the JSON.
func withoutMedia(json string, capped bool) (text string, tokens int) {
	if len(json) < longBase64 {
		return json, 0
	}
	var left strings.Builder
	rest := json
	for {
		before, after, ok := nextString(rest)
		if !ok {
			break
		}
		value := after[:stringEnd(after)]
		n, ok := embeddedTokens(value, capped)
		if ok {
			tokens += n
			left.WriteString(before)
		} else {
			left.WriteString(rest[:len(before)+len(value)])
		}
		rest = after[len(value):]
		if rest != "" { // the closing quote
			left.WriteByte('"')
			rest = rest[1:]
		}
	}
	left.WriteString(rest)
	return left.String(), tokens
}

// nextString splits s after the first quote.
func nextString(s string) (before, after string, ok bool) {
	i := strings.IndexByte(s, '"') + 1
	return s[:i], s[i:], i > 0
}

func stringEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(s)
}

// embeddedTokens estimates a string that is long base64 or a data: URL. ok is false for other text.
func embeddedTokens(value string, capped bool) (tokens int, ok bool) {
	if len(value) < longBase64 {
		return 0, false
	}
	value = strings.ReplaceAll(value, `\/`, "/")
	if data, mimeType, ok := cutDataURL(value); ok {
		return mediaTokens(mimeType, data, false), true
	}
	if !isBase64(value) {
		return 0, false
	}
	if mimeType := sniff(value); mimeType != "" {
		return mediaTokens(mimeType, value, false), true
	}
	return maxImageTokens, capped
}

// isBase64 accepts the standard and the URL alphabet.
func isBase64(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if ('a' > c || c > 'z') && ('A' > c || c > 'Z') && ('0' > c || c > '9') && strings.IndexByte("+/=-_", c) < 0 {
			return false
		}
	}
	return true
}

// sniff returns a file's MIME type by the base64 of its first bytes, or "" if providers do not accept it.
func sniff(data string) string {
	for _, known := range []struct{ start, mimeType string }{
		{"iVBORw0KGgo", "image/png"},
		{"/9j/", "image/jpeg"},
		{"R0lGODdh", "image/gif"},
		{"R0lGODlh", "image/gif"},
		{"UklGR", "image/webp"},
		{"JVBERi0", "application/pdf"},
	} {
		if strings.HasPrefix(data, known.start) {
			return known.mimeType
		}
	}
	return ""
}
