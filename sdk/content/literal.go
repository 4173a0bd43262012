package content

import (
	"encoding/json"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Literal is a string in JSON text such as the parameters or the result of a tool.
type Literal struct {
	// From and To are its bounds in bytes, quotation marks included.
	From, To int
	Text     string
}

// Literals returns the strings in JSON text at any depth, in their order, but not the names of fields. It looks at each
// byte once, even if the text is not valid JSON.
func Literals(raw json.RawMessage) (found []Literal) {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		from := i
		for i++; i < len(raw) && raw[i] != '"'; i++ {
			if raw[i] == '\\' {
				i++
			}
		}
		to := min(i+1, len(raw))
		after := to
		for after < len(raw) && (raw[after] == ' ' || raw[after] == '\n' || raw[after] == '\t' || raw[after] == '\r') {
			after++
		}
		if after < len(raw) && raw[after] == ':' {
			continue
		}
		if text, ok := rawjson.Text(raw[from:to]); ok {
			found = append(found, Literal{from, to, text})
		}
	}
	return found
}

// WithLiterals returns a copy of raw in which the literals, in their order, have their current Text.
func WithLiterals(raw json.RawMessage, changed []Literal) (out json.RawMessage) {
	at := 0
	for _, l := range changed {
		out = append(append(out, raw[at:l.From]...), String(l.Text)...)
		at = l.To
	}
	return append(out, raw[at:]...)
}
