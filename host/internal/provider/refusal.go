package provider

import (
	"encoding/json"
	"regexp"
	"strconv"
)

// MinLimit is the lowest limit that is believed, in tokens: no model has less.
const MinLimit = 1000

// Fault is the error of an answer: what one provider calls a type, another calls a code.
type Fault struct {
	Type, Code, Status, Message string
	// Fields are all members of the error.
	Fields map[string]json.RawMessage
}

// ReadFault reads {"error": {message, type, code, …}}, the form that all providers share, or that object alone, as vLLM
// sends it; false for another.
func ReadFault(answer []byte) (f Fault, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(answer, &fields) != nil {
		return f, false
	}
	if inner := fields["error"]; inner != nil {
		if fields = nil; json.Unmarshal(inner, &fields) != nil {
			return f, false
		}
	}
	text := func(name string) (s string) {
		_ = json.Unmarshal(fields[name], &s) // codes may be numbers, or null
		return s
	}
	f = Fault{text("type"), text("code"), text("status"), text("message"), fields}
	return f, f.Message != ""
}

// Number returns a member of the error that is a whole number; 0 if it is none.
func (f Fault) Number(name string) (n int) {
	_ = json.Unmarshal(f.Fields[name], &n)
	return max(n, 0)
}

// Numbers reads a message whose whole beginning is known: the group "limit" is the limit, and the sum of the others how
// many tokens there were. Numbers elsewhere in a message say nothing: it may quote anything. ok is false if the message
// does not match.
func (f Fault) Numbers(known *regexp.Regexp) (r Refusal, ok bool) {
	m := known.FindStringSubmatch(f.Message)
	for i, name := range known.SubexpNames() {
		if m == nil || i == 0 {
			continue
		}
		n, _ := strconv.Atoi(m[i]) // 0 for what was not matched
		if name != "limit" {
			r.Tokens += n
		} else if n >= MinLimit {
			r.Limit = n
		}
	}
	return r, m != nil
}
