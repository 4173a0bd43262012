package config

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
)

// split splits text from a flag or variable into list elements: a JSON array, or separated by commas; paths as in PATH.
func (s Spec) split(text string) []any {
	var items []any
	// Text that begins with a bracket but is not JSON is a path or a name.
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &items) == nil {
		return items
	}
	// An empty list, not an absent one.
	if text == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	if s.Type == Paths {
		// A comma may be part of a path.
		parts = filepath.SplitList(text)
	}
	for _, part := range parts {
		items = append(items, strings.TrimSpace(part))
	}
	return items
}

// checkObjects accepts a list of objects as JSON (raw, or text unless strict) or as JSON decodes to. Package tools
// reads the content; only the shape is checked here.
func checkObjects(v any, strict bool) (any, *badValue) {
	var raw []byte
	switch v := v.(type) {
	case json.RawMessage:
		raw = v
	case string:
		if strict {
			return nil, refuse(v)
		}
		raw = []byte(v)
	default:
		encoded, err := json.Marshal(v)
		if err != nil {
			return nil, refuse(v)
		}
		raw = encoded
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil || items == nil {
		return nil, refuse(v)
	}
	for i, item := range items {
		if !bytes.HasPrefix(item, []byte("{")) {
			return nil, &badValue{value: shorten(string(item)), problem: "is not an object", element: i}
		}
	}
	// A copy: the caller of an override may change its bytes later.
	return json.RawMessage(bytes.Clone(raw)), nil
}
