package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// walker takes the settings out of the nodes of one YAML file. It descends only where the registry has groups, so that
// deep nesting and aliases in the file do no harm.
type walker struct {
	index    *index
	layer    *layer
	file     string
	places   places
	problems *problems
	seen     map[string]int // full key to line
}

// at returns where a node is.
func (w *walker) at(n *yaml.Node) Origin {
	return Origin{Layer: w.layer.name, File: w.file, Line: n.Line}
}

// table takes the entries of a mapping whose full key is path.
func (w *walker) table(path string, n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		full := key.Value
		if path != "" {
			full = path + "." + key.Value
		}
		if problem := keyProblem(path, key); problem != "" {
			w.problems.add(full, func() *Error { return &Error{Origin: w.at(key), Key: full, Problem: problem} })
			continue
		}
		if line, twice := w.seen[full]; twice {
			w.problems.add(full, func() *Error {
				return &Error{Origin: w.at(key), Key: full, Problem: fmt.Sprintf("is set twice, first in line %d", line)}
			})
			continue
		}
		w.seen[full] = key.Line
		w.entry(full, key, value)
	}
}

// keyProblem says what is wrong with a key as such, "" if nothing.
func keyProblem(path string, key *yaml.Node) string {
	last := path[strings.LastIndexByte(path, '.')+1:]
	switch {
	case key.Kind != yaml.ScalarNode:
		return describe(key) + " cannot be a key"
	case key.ShortTag() == "!!merge":
		return "merge keys of YAML are not supported: write the settings out"
	case strings.Contains(key.Value, ".") && (last == groupProfiles || last == groupStrategies):
		// Without this a profile "gpt-4.1" would be called an unknown setting "1" of a profile "gpt-4".
		return "a name here consists of letters, digits, hyphens and underscores, without a dot"
	}
	return ""
}

func (w *walker) entry(full string, key, value *yaml.Node) {
	if w.problems.full() {
		w.problems.more++
		return
	}
	t := w.index.find(full)
	at := w.at(key)
	switch {
	case t.problem != "":
		w.problems.add(full, func() *Error { return &Error{Origin: at, Key: full, Problem: t.problem, Nearest: t.nearest} })
	case value.Kind == yaml.AliasNode:
		w.problems.add(full, func() *Error {
			return &Error{Origin: at, Key: full, Problem: "aliases of YAML are not supported: write the value out"}
		})
	case t.leaf:
		w.layer.declare(t.profile, at)
		w.leaf(full, t.spec, value)
	case isNull(value):
		w.layer.declare(t.profile, at)
	case value.Kind != yaml.MappingNode:
		w.problems.add(full, func() *Error {
			return &Error{Origin: at, Key: full, Value: describe(value), Problem: "is not allowed", Allowed: "a table of settings"}
		})
	default:
		w.layer.declare(t.profile, at)
		w.table(full, value)
	}
}

func (w *walker) leaf(full string, s Spec, n *yaml.Node) {
	if s.Trusted && w.layer.name == LayerProjectFile && !isNull(n) {
		w.problems.add(s.Key, func() *Error { return notFromAProject(full, w.at(n), w.places) })
		return
	}
	v, bad := w.value(s, n)
	if bad == nil && v != nil {
		v, bad = s.check(v, true)
	}
	if bad != nil {
		at := w.at(n)
		if bad.element >= 0 && bad.element < len(n.Content) {
			at.Line = n.Content[bad.element].Line
		}
		w.problems.add(s.Key, func() *Error { return bad.in(s, full, at) })
		return
	}
	if v != nil {
		w.layer.values[full] = setting{w.places.resolve(s, v, w.places.dirOf(w.file)), w.at(n)}
	}
}

// value returns what a node holds, nil for null, as far as a setting of this type can use it.
func (w *walker) value(s Spec, n *yaml.Node) (any, *badValue) {
	switch {
	case n.Kind == yaml.ScalarNode:
		return scalar(n)
	case n.Kind == yaml.SequenceNode && s.Type == Objects:
		raw, err := appendJSON(nil, n, 0)
		if err != nil {
			return nil, &badValue{value: "this list", problem: "cannot be used: " + err.Error(), element: -1}
		}
		return json.RawMessage(raw), nil
	case n.Kind == yaml.SequenceNode && (s.Type == Strings || s.Type == Paths):
		items := make([]any, len(n.Content))
		for i, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, &badValue{value: describe(item), problem: "is not allowed", element: i}
			}
			v, bad := scalar(item)
			if bad != nil {
				bad.element = i
				return nil, bad
			}
			items[i] = v
		}
		return items, nil
	}
	return nil, &badValue{value: describe(n), problem: "is not allowed", element: -1}
}

// scalar returns nil, a string, bool, int, int64, uint64 or float64.
func scalar(n *yaml.Node) (any, *badValue) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!str", "!!timestamp": // A date is text that happens to look like one.
		return n.Value, nil
	case "!!bool", "!!int", "!!float":
		var v any
		if err := n.Decode(&v); err == nil {
			return v, nil
		}
	}
	return nil, &badValue{value: shorten(n.Tag + " " + n.Value), problem: "is not allowed", element: -1}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// describe names a node in an error.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a table"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	if v, bad := scalar(n); bad == nil {
		return show(v)
	}
	return shorten(strings.TrimSpace(n.Tag + " " + n.Value))
}
