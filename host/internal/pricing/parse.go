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

// maxProblems bounds the problems reported for a file, to fit a screen.
const maxProblems = 20

// parse reads and checks the lists of a file. It works on YAML nodes, to report all problems with their lines.
func parse(file string, data []byte) ([]*List, error) {
	p := parser{file: file, names: map[string]int{}}
	var doc, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Line: 1, Problem: `is empty; want "lists:" with at least one list`}
	} else if err != nil {
		return nil, syntaxError(file, err)
	}
	// A second document would be ignored silently.
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		p.fail(max(second.Line, 1), "another YAML document follows the first; want one")
	}
	p.document(&doc)
	if err := p.err(); err != nil {
		return nil, err
	}
	return p.lists, nil
}

func syntaxError(file string, err error) error {
	e := &Error{File: file, Line: 1, Problem: err.Error()}
	// The parser's errors have no type, only this text.
	if rest, ok := strings.CutPrefix(e.Problem, "yaml: line "); ok {
		line, what, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(line); err == nil {
			e.Line, e.Problem = n, "is not YAML: "+what
		}
	}
	return e
}

// parser collects the lists of one file and its problems. A file with any problem is refused as a whole: missing prices
// lead to wrong decisions.
type parser struct {
	file  string
	list  string // the list being read, for messages
	lists []*List
	names map[string]int // the line of each list, by name
	errs  []error        // at most maxProblems
	more  int            // problems beyond these
}

func (p *parser) fail(line int, format string, args ...any) {
	if len(p.errs) == maxProblems {
		p.more++
		return
	}
	p.errs = append(p.errs, &Error{File: p.file, Line: line, List: p.list, Problem: fmt.Sprintf(format, args...)})
}

func (p *parser) err() error {
	if p.more > 0 {
		return errors.Join(append(p.errs, fmt.Errorf("%s: and %d more problems", p.file, p.more))...)
	}
	return errors.Join(p.errs...)
}

// document reads the top level, a table with the one key "lists". An unknown key is most often a misspelt one.
func (p *parser) document(doc *yaml.Node) {
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
		// found is set even for a list with problems: it is not missing too.
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

// fields yields the keys and values of a table. A repeated key is a problem: which value applies is unclear.
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

// source is required to check the prices, and asOf to recognise old ones.
var requiredFields = []string{"name", "input", "output", "asOf", "source"}

const allFields = "name, models, input, cacheRead, cacheWrite, cacheWriteHour, output, over, from, fast, cacheTTL, " +
	"cacheMinimum, asOf, source or note"

// one reads a price list, then checks what concerns more than one field.
func (p *parser) one(n *yaml.Node) {
	defer func() { p.list = "" }()
	if n.Kind != yaml.MappingNode {
		p.fail(n.Line, "%s: want a price list, a table with name, input, output, asOf and source", quote(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 { // every message about this list mentions its name
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
	// A refused value is 0 here, and makes no second problem.
	switch {
	case l.CacheWrite > 0 && l.CacheRead == 0:
		p.fail(lines["cacheWrite"], "cacheWrite without cacheRead: a cache that is never read")
	case l.CacheRead > l.Input:
		p.fail(lines["cacheRead"], "cacheRead is %g, more than input, which is %g", l.CacheRead, l.Input)
	case l.CacheWriteHour > 0 && l.CacheWrite == 0:
		p.fail(lines["cacheWriteHour"], "cacheWriteHour without cacheWrite: what does a shorter cache cost to write?")
	}
	for _, r := range l.rest() {
		if (r.CacheWriteHour > 0) != (l.CacheWriteHour > 0) {
			p.fail(n.Line, "cacheWriteHour: want it in over and from too, or nowhere")
			break
		}
	}
	if line, twice := p.names[l.Name]; twice && l.Name != "" {
		p.fail(lines["name"], "the list on line %d has the same name", line)
	}
	p.names[l.Name] = n.Line
	// Also with problems, to find repeated names. The lists are returned only if there are no problems.
	p.lists = append(p.lists, &l)
}

// field reads one field into l. A refused value leaves the zero value, which other checks accept.
func (p *parser) field(l *List, key, value *yaml.Node) {
	switch key.Value {
	case "name":
		l.Name = p.name(key, value)
	case "models":
		l.Models = p.models(key, value)
	case "over":
		l.Over = p.over(value)
	case "from":
		l.From = p.from(value)
	case "fast":
		l.Fast = p.times(key, value)
	case "cacheTTL":
		d, err := time.ParseDuration(value.Value)
		// A duration needs a unit, but people write 0 without one.
		if value.Value == "0" {
			d, err = 0, nil
		}
		if err != nil || d < 0 || value.Kind != yaml.ScalarNode {
			p.fail(value.Line, "cacheTTL: %s: want a duration of 0 or more, such as 5m or 1h", quote(value))
		}
		l.CacheTTL = d
	case "cacheMinimum":
		l.CacheMinimum = p.tokens(key, value)
	case "asOf":
		l.AsOf = p.day(key, value, "the day on which the prices were looked up")
	case "source":
		l.Source = p.text(key, value)
	case "note":
		l.Note = p.text(key, value)
	default:
		r := l.rates()
		if !p.rate(&r, key, value) {
			p.fail(key.Line, "%s is not known; want %s", quote(key), allFields)
		}
		l.set(r, l.Over)
	}
}
