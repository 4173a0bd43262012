package tools

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// maxParts bounds how many parts of one result are looked at: they may be nested or repeated without end.
const maxParts = 64

// result is what of a response may have signs of a failure.
type result struct {
	texts   []printedText
	objects []map[string]any
	parsed  int // from this one on, the objects were found in a text, which may be a file that the tool printed
}

// printedText is the first and last lines of a text, lower-cased and trimmed. They are equal for a short text.
type printedText struct {
	head, tail string
	long       bool // something is between head and tail
}

// newResult takes a response apart. Its result is text, an object, or a list of blocks; text may itself be the JSON of
// either. In objects, texts are where agents and MCP servers put what a tool printed. Unknown fields of the response
// are members too: an agent may flag a failure there.
func newResult(r content.ToolResponse) *result {
	out := &result{}
	if len(r.Extra.All()) > 0 {
		// First: an agent's flag says more than any text.
		flags := map[string]any{}
		for _, f := range r.Extra.All() {
			var v any
			if json.Unmarshal(f.Value, &v) == nil {
				flags[f.Name] = v
			}
		}
		out.objects = append(out.objects, flags)
	}
	s := rawjson.New(r.Result)
	text := ""
	if k := s.Kind(); k == '{' || k == '[' {
		var v any
		if json.Unmarshal(r.Result, &v) == nil {
			out.add(v, 0)
		}
	} else if head, tail, ok := ends(r.Result); ok {
		out.ends(head, tail, true)
		return out
	} else {
		text = r.ResultText()
	}
	out.parsed = len(out.objects)
	var v any
	if t := strings.TrimLeft(text, " \t\r\n"); t != "" && (t[0] == '{' || t[0] == '[') &&
		json.Unmarshal([]byte(t), &v) == nil {
		out.add(v, 0)
	}
	out.text(text)
	return out
}

var printed = [...]string{"output", "content", "text", "message", "result", "results", "response", "stderr"}

func (r *result) add(v any, depth int) {
	// Agents wrap what a tool printed at most twice.
	if depth > 3 || len(r.texts)+len(r.objects) > maxParts {
		return
	}
	switch v := v.(type) {
	case string:
		r.text(v)
	case []any:
		for _, part := range v[:min(len(v), maxParts)] {
			r.add(part, depth+1)
		}
	case map[string]any:
		r.objects = append(r.objects, v)
		for _, name := range printed {
			if part, ok := v[name]; ok {
				r.add(part, depth+1)
			}
		}
	}
}

func (r *result) text(s string) { r.ends(s, s, false) }

func (r *result) ends(head, tail string, parts bool) {
	head, tail = strings.TrimLeft(head, " \t\r\n"), strings.TrimRight(tail, " \t\r\n")
	if !parts {
		head = strings.TrimRight(head, " \t\r\n")
	}
	first, last := head[:min(len(head), headBytes)], tail[max(len(tail)-tailBytes, 0):]
	at := 0
	for range headLines {
		n := strings.IndexByte(first[at:], '\n')
		if n < 0 {
			at = len(first)
			break
		}
		at += n + 1
	}
	first = first[:at]
	t := printedText{head: strings.ToLower(first), long: parts || len(first) < len(head)}
	if t.tail = t.head; t.long {
		t.tail = strings.ToLower(last)
	}
	r.texts = append(r.texts, t)
}

// ends returns the beginning and the end of a long string result, without a look at what is between. ok is false if it
// is not long, or may be JSON: then all of it is needed. It is cut at blanks, which no escape holds.
func ends(raw []byte) (head, tail string, ok bool) {
	const enough = 2 * headBytes
	if len(raw) < 4*enough || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", "", false
	}
	begin := bytes.LastIndexByte(raw[:enough], ' ')
	end := len(raw) - enough + bytes.IndexByte(raw[len(raw)-enough:], ' ')
	if begin <= 0 || end < len(raw)-enough {
		return "", "", false
	}
	head, okHead := rawjson.Text(append(raw[:begin:begin], '"'))
	tail, okTail := rawjson.Text(append([]byte{'"'}, raw[end:]...))
	t := strings.TrimLeft(head, " \t\r\n")
	return head, tail, okHead && okTail && len(t) > 0 && t[0] != '{' && t[0] != '[' && strings.TrimSpace(tail) != ""
}
