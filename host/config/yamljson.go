package config

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds the nesting of objects in a file: deeper than any rule, and shallow enough for every JSON parser.
const maxDepth = 100

// appendJSON writes a node as JSON. Errors name the file's line; depth counts from 0. It works node by node because the
// YAML library compares every two keys of a mapping, and to keep the digits of numbers and the order of keys.
func appendJSON(to []byte, n *yaml.Node, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d is nested deeper than %d levels", n.Line, maxDepth)
	}
	var err error
	switch n.Kind {
	case yaml.SequenceNode:
		to = append(to, '[')
		for i, item := range n.Content {
			if i > 0 {
				to = append(to, ',')
			}
			if to, err = appendJSON(to, item, depth+1); err != nil {
				return nil, err
			}
		}
		return append(to, ']'), nil
	case yaml.MappingNode:
		return appendObject(to, n, depth)
	case yaml.ScalarNode:
		return appendScalar(to, n)
	// A few lines of aliases can expand to gigabytes of JSON.
	default:
		return nil, fmt.Errorf("line %d holds an alias of YAML, which is not supported", n.Line)
	}
}

// appendObject writes a mapping. Keys must be text, as in JSON.
func appendObject(to []byte, n *yaml.Node, depth int) ([]byte, error) {
	seen := make(map[string]bool, len(n.Content)/2)
	to = append(to, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			return nil, fmt.Errorf("line %d has a key that is not text", key.Line)
		}
		// Readers of JSON differ in how they treat repeated keys.
		if seen[key.Value] {
			return nil, fmt.Errorf("line %d sets %s twice", key.Line, show(key.Value))
		}
		seen[key.Value] = true
		if i > 0 {
			to = append(to, ',')
		}
		name, err := json.Marshal(key.Value)
		if err != nil {
			return nil, err
		}
		to = append(append(to, name...), ':')
		if to, err = appendJSON(to, n.Content[i+1], depth+1); err != nil {
			return nil, err
		}
	}
	return append(to, '}'), nil
}

// appendScalar writes a single value. Dates and the like become text.
func appendScalar(to []byte, n *yaml.Node) ([]byte, error) {
	v := plain(n)
	switch v.(type) {
	case odd:
		return nil, fmt.Errorf("line %d: %s is not allowed", n.Line, v)
	case nil, string, bool:
	default:
		// The number as written: 12345678901234567890123 keeps all its digits.
		if json.Valid([]byte(n.Value)) {
			return append(to, n.Value...), nil
		}
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("line %d", n.Line), err)
	}
	return append(to, encoded...), nil
}
