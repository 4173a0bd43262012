package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// From YAML nodes to settings. Decoded maps would not do: errors need lines, and a decoder drops keys set twice.

// walker takes the settings out of one YAML file. It enters only groups of the registry, so nesting and aliases are
// harmless.
type walker struct {
	layer    *layer
	file     string
	places   places
	problems *problems
	seen     map[string]int // full key to line
}

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
		// "a.b: 1" and "a: {b: 1}" are the same setting, so YAML does not see every duplicate. Groups too: "log: {…}"
		// twice is most likely a failed merge of two edits.
		line, twice := w.seen[full]
		problem := keyProblem(path, key)
		switch {
		// Counted without looking, so a huge file of nonsense costs little.
		case w.problems.full():
			w.problems.more++
		case problem != "":
			w.problems.add(full, &Error{Origin: w.at(key), Key: full, Problem: problem})
		case twice:
			problem = fmt.Sprintf("is set twice, first in line %d", line)
			w.problems.add(full, &Error{Origin: w.at(key), Key: full, Problem: problem})
		default:
			w.seen[full] = key.Line
			w.entry(full, w.at(key), value)
		}
	}
}

func keyProblem(path string, key *yaml.Node) string {
	last := path[strings.LastIndexByte(path, '.')+1:]
	switch {
	case key.Kind != yaml.ScalarNode:
		return show(plain(key)) + " cannot be a key"
	case key.ShortTag() == "!!merge":
		return "merge keys of YAML are not supported: write the settings out"
	case strings.Contains(key.Value, ".") && (last == groupProfiles || last == groupStrategies):
		// Otherwise a profile "gpt-4.1" would be an unknown setting "1" of a profile "gpt-4".
		return "a name here consists of letters, digits, hyphens and underscores, without a dot"
	}
	return ""
}

func (w *walker) entry(full string, at Origin, value *yaml.Node) {
	t := registry().find(full)
	e := &Error{Origin: at, Key: full}
	switch {
	case t.problem != "":
		e.Problem, e.Nearest = t.problem, t.nearest
	case value.Kind == yaml.AliasNode:
		e.Problem = "aliases of YAML are not supported: write the value out"
	case !t.leaf && value.Kind != yaml.MappingNode && !isNull(value):
		e.Value, e.Problem, e.Allowed = show(plain(value)), "is not allowed", "a table of settings"
	default:
		// Even if it sets nothing: "profile: p" can name it.
		w.layer.declare(t.profile, at)
		if t.leaf {
			w.leaf(full, t.spec, value)
		} else {
			w.table(full, value)
		}
		return
	}
	w.problems.add(full, e)
}

// leaf checks a value and adds it to the layer. Null is "not set here".
func (w *walker) leaf(full string, s Spec, n *yaml.Node) {
	if isNull(n) {
		return
	}
	v, at := plain(n), w.at(n)
	if e := judge(Setter{Layer: w.layer.name}, full, s, v, at, w.places); e != nil {
		w.problems.add(s.Key, e)
		return
	}
	var bad *badValue
	if s.Type == Objects && n.Kind == yaml.SequenceNode {
		raw, err := objectsJSON(n)
		if err != nil {
			bad = &badValue{value: "this list", problem: "cannot be used: " + shorten(err.Error()), element: -1}
		}
		v = raw
	}
	if bad == nil {
		v, bad = s.check(v, true)
	}
	if bad == nil {
		dir := filepath.Dir(w.file)
		v = w.places.resolve(s, v, dir)
		if path, _ := v.(string); s.contained && path != "" && w.layer.name == LayerProjectFile && leaves(path, dir) {
			w.problems.add(s.Key, outsideOfProject(full, at, path, w.places))
			return
		}
		w.layer.values[full] = setting{v, at}
		return
	}
	// In a list of many lines, the element's line.
	if bad.element >= 0 && bad.element < len(n.Content) {
		at.Line = n.Content[bad.element].Line
	}
	w.problems.add(s.Key, bad.in(s, full, at))
}

// objectsJSON writes a list of objects as JSON.
func objectsJSON(n *yaml.Node) (json.RawMessage, error) {
	if alias := firstAlias(n); alias != nil {
		return nil, fmt.Errorf("line %d has an alias of YAML, which is not supported", alias.Line)
	}
	var v []any
	if err := n.Decode(&v); err != nil {
		if many, ok := errors.AsType[*yaml.TypeError](err); ok {
			return nil, errors.New(many.Errors[0])
		}
		return nil, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, errors.New("JSON has no keys but text, and no infinite numbers")
	}
	return raw, nil
}

// firstAlias returns the first alias below a node; nil if there is none.
func firstAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for _, child := range n.Content {
		if alias := firstAlias(child); alias != nil {
			return alias
		}
	}
	return nil
}

// odd is a value that no setting can have, such as one with a tag of its own, as written in the file.
type odd string

// String makes [show] print it without quotes.
func (o odd) String() string { return string(o) }

// plain returns a node as JSON would decode it: nil, bool, string, []any, an empty map for a mapping (no setting is
// one), int, int64, uint64 or float64; [odd] for everything else.
func plain(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		return map[string]any{}
	case yaml.SequenceNode:
		items := make([]any, len(n.Content))
		for i, item := range n.Content {
			items[i] = plain(item)
		}
		return items
	case yaml.AliasNode:
		return odd("an alias")
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!str", "!!timestamp": // a date is text that happens to look like one
		return n.Value
	case "!!bool", "!!int", "!!float":
		var v any
		if err := n.Decode(&v); err == nil {
			return v
		}
	}
	return odd(shorten(strings.TrimSpace(n.Tag + " " + n.Value)))
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
