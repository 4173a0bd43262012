package pricing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxProblems bounds how many problems are reported for one file. More would fill a screen, and the first are enough to
// see what is wrong.
const maxProblems = 20

// parse reads the lists of a file and checks each of them. It works on YAML nodes instead of decoding into structs,
// so that every problem has a line and all of them are reported at once.
func parse(file string, data []byte) ([]*List, error) {
	p := parser{file: file, names: map[string]int{}}
	var doc, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Line: 1, Problem: `is empty; want "lists:" with at least one list`}
	} else if err != nil {
		return nil, syntaxError(file, err)
	}
	// A second document would be ignored without a word.
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		p.fail(max(second.Line, 1), "another YAML document follows the first; want one")
	}
	p.document(&doc)
	if err := p.err(); err != nil {
		return nil, err
	}
	return p.lists, nil
}

// syntaxError extracts the line number from an error of the YAML parser. YAML's lines count from 1, as people's do.
func syntaxError(file string, err error) error {
	e := &Error{File: file, Line: 1, Problem: err.Error()}
	// The parser has no type for its errors, only this text. Without a line it is shown as it is.
	if rest, ok := strings.CutPrefix(e.Problem, "yaml: line "); ok {
		line, what, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(line); err == nil {
			e.Line, e.Problem = n, "is not YAML: "+what
		}
	}
	return e
}

// parser collects the lists of one file and the problems found on the way. A file with any problem is refused as a
// whole, because prices that are silently missing lead to wrong decisions.
type parser struct {
	file  string
	list  string // the name of the list that is being read, for messages
	lists []*List
	names map[string]int // the line on which each list begins, by name
	errs  []error        // at most maxProblems
	more  int            // problems beyond these
}

// fail records a problem on a line. Parsing continues, so that one run reports all problems.
func (p *parser) fail(line int, format string, args ...any) {
	// A file in the wrong format has a problem on every line.
	if len(p.errs) == maxProblems {
		p.more++
		return
	}
	p.errs = append(p.errs, &Error{File: p.file, Line: line, List: p.list, Problem: fmt.Sprintf(format, args...)})
}

// err joins the problems found so far; nil if there are none.
func (p *parser) err() error {
	if p.more > 0 {
		return errors.Join(append(p.errs, fmt.Errorf("%s: and %d more problems", p.file, p.more))...)
	}
	return errors.Join(p.errs...)
}

// document reads the top level: a table with the one key "lists". A key that is not known is a problem: it is most
// often a misspelt one.
func (p *parser) document(doc *yaml.Node) {
	// The decoder gives a document around the value.
	root := doc
	if doc.Kind == yaml.DocumentNode && len(doc.Content) > 0 {
		root = doc.Content[0]
	}
	if root.Kind != yaml.MappingNode {
		p.fail(max(root.Line, 1), `want a table with "lists:"`)
		return
	}
	found := false
	for key, value := range p.fields(root) {
		switch {
		// found is set in any case, so that a list with problems is not missing too.
		case key.Value != "lists":
			p.fail(key.Line, "%s is not known; want lists", quote(key))
		case value.Kind != yaml.SequenceNode || len(value.Content) == 0:
			found = true
			p.fail(value.Line, "lists: want a list of at least one price list")
		default:
			found = true
			for _, n := range value.Content {
				p.one(n)
			}
		}
	}
	if !found {
		p.fail(root.Line, `has no "lists:"`)
	}
}

// fields yields the keys and values of a table. A repeated key is a problem, because it is unclear which value
// applies.
func (p *parser) fields(n *yaml.Node) func(func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		seen := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if line, twice := seen[key.Value]; twice {
				p.fail(key.Line, "%s is already on line %d", quote(key), line)
				continue
			}
			seen[key.Value] = key.Line
			if !yield(key, value) {
				return
			}
		}
	}
}

// requiredFields are the keys without which a price list is refused; allFields are all that it may have. source is
// required so that a reader can check the prices, and asOf so that old ones are recognised.
var requiredFields = []string{"name", "input", "output", "asOf", "source"}

const allFields = "name, models, input, cacheRead, cacheWrite, output, cacheTTL, cacheMinimum, asOf, source or note"

// one reads one price list, then checks what concerns more than one field: required fields, a cache that is written
// but never read, reading that costs more than no cache, and repeated names.
func (p *parser) one(n *yaml.Node) {
	defer func() { p.list = "" }()
	if n.Kind != yaml.MappingNode {
		p.fail(n.Line, "%s: want a price list, a table with name, input, output, asOf and source", quote(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 { // find the name first: every message about this list mentions it
		if n.Content[i].Value == "name" && n.Content[i+1].Kind == yaml.ScalarNode {
			p.list = n.Content[i+1].Value
		}
	}
	var l List
	lines := map[string]int{}
	for key, value := range p.fields(n) {
		lines[key.Value] = value.Line
		p.field(&l, key, value)
	}
	for _, key := range requiredFields {
		if lines[key] == 0 {
			p.fail(n.Line, "%s is missing", key)
		}
	}
	// A value that was refused is 0 here, and makes no second problem. Prices are in US dollars for a million tokens; 0
	// in cacheRead means that there is no cache.
	switch {
	case l.CacheWrite > 0 && l.CacheRead == 0:
		p.fail(lines["cacheWrite"], "cacheWrite without cacheRead: a cache that is never read")
	case l.CacheRead > l.Input:
		p.fail(lines["cacheRead"], "cacheRead is %g, more than input, which is %g", l.CacheRead, l.Input)
	}
	if line, twice := p.names[l.Name]; twice && l.Name != "" {
		p.fail(lines["name"], "the list on line %d has the same name", line)
	}
	p.names[l.Name] = n.Line
	// Also with problems: names must be known to find repeated ones. The lists are returned only if there are none.
	p.lists = append(p.lists, &l)
}

// field reads one field into l. A value that is refused leaves the zero value, which no other check complains about.
func (p *parser) field(l *List, key, value *yaml.Node) {
	switch key.Value {
	case "name":
		l.Name = p.name(key, value)
	case "models":
		l.Models = p.models(key, value)
	case "input":
		l.Input = p.price(key, value)
	case "cacheRead":
		l.CacheRead = p.price(key, value)
	case "cacheWrite":
		l.CacheWrite = p.price(key, value)
	case "output":
		l.Output = p.price(key, value)
	// Written as Go durations.
	case "cacheTTL":
		d, err := time.ParseDuration(value.Value)
		// A duration needs a unit, except for 0, which people write without one.
		if value.Value == "0" {
			d, err = 0, nil
		}
		if err != nil || d < 0 || value.Kind != yaml.ScalarNode {
			p.fail(value.Line, "cacheTTL: %s: want a duration of 0 or more, such as 5m or 1h", quote(value))
		}
		l.CacheTTL = d
	case "cacheMinimum":
		// The smallest prompt that the provider caches, in tokens.
		tokens, err := strconv.Atoi(value.Value)
		if err != nil || tokens < 0 || value.Kind != yaml.ScalarNode {
			p.fail(value.Line, "cacheMinimum: %s: want a whole number of tokens, 0 or more", quote(value))
		}
		l.CacheMinimum = tokens
	case "asOf":
		l.AsOf = p.text(key, value)
		if _, err := time.Parse(time.DateOnly, l.AsOf); err != nil && l.AsOf != "" {
			p.fail(value.Line, "asOf: %s: want the day on which the prices were looked up, such as 2026-11-20",
				quote(value))
		}
	case "source":
		l.Source = p.text(key, value)
	case "note":
		l.Note = p.text(key, value)
	default:
		p.fail(key.Line, "%s is not known; want %s", quote(key), allFields)
	}
}
