package config

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
)

// split splits text into the elements of a list: a JSON array, or elements separated by commas, or for paths as in
// PATH. Only flags and variables need it: files have lists.
func (s Spec) split(text string) []any {
	var items []any
	// Text that begins with a bracket and is no JSON is a path or a name of its own.
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &items) == nil {
		return items
	}
	// The empty list, which differs from no value.
	if text == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	if s.Type == Paths {
		// As in PATH, since a comma may be part of a path.
		parts = filepath.SplitList(text)
	}
	for _, part := range parts {
		items = append(items, strings.TrimSpace(part))
	}
	return items
}

// checkObjects takes a list of objects as JSON (raw, or text unless strict) or as the values that JSON decodes to.
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
	// A copy: an override may come from a caller that changes its bytes later. Only the shape was checked; package
	// tools reads the rules.
	return json.RawMessage(bytes.Clone(raw)), nil
}
