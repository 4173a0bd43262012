package keep

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/internal/nearest"
)

// Bounds of the setting: each path of a call is compared with each pattern.
const (
	MaxPatterns  = 50
	longest      = 200 // bytes of a pattern
	maxWildcards = 4   // in a pattern
)

// The kinds of patterns. One without a kind is a path.
const (
	kindPath = "path"
	kindTool = "tool"
	kindText = "text"
)

// Rules are the patterns of compression.keep. The zero value has none.
type Rules struct {
	patterns           []string
	paths, tools, text []rule
}

// rule is one pattern.
type rule struct {
	name    string // as it was written
	literal string // what it stands for; "" for one with wildcards
	// parts are what stands between the slashes of a pattern with wildcards, each cut at its *; nil for **. The pattern of
	// a tool has one.
	parts [][]string
}

// Compile reads patterns. The error says what is wrong with the first bad one.
func Compile(patterns []string) (*Rules, error) {
	r := &Rules{patterns: slices.Clone(patterns)}
	for _, p := range patterns {
		if err := r.add(p); err != nil {
			return nil, fmt.Errorf("%q %w", p, err)
		}
	}
	return r, nil
}

// Check returns what is wrong with a pattern, as the end of a sentence about it.
func Check(p string) error { return new(Rules).add(p) }

func (r *Rules) add(p string) error {
	kind, rest := kindPath, p
	if before, after, ok := strings.Cut(p, ":"); ok && isWord(before) {
		kind, rest = before, after
	}
	switch {
	case len(p) > longest:
		return fmt.Errorf("has %d bytes, more than %d", len(p), longest)
	case !utf8.ValidString(p), strings.ContainsFunc(p, unicode.IsControl):
		return errors.New("has a character that cannot be printed: a pattern is one line of text")
	case kind != kindText && len(wildcards().FindAllStringIndex(rest, -1)) > maxWildcards:
		return fmt.Errorf("has more than %d wildcards", maxWildcards)
	case strings.TrimSpace(rest) == "":
		return errors.New("is empty")
	}
	switch kind {
	case kindPath:
		if strings.HasSuffix(rest, "/") {
			return fmt.Errorf("is a directory: %s** names the files below it", rest)
		}
		rest = path.Clean(rest)
		parts := strings.Split(rest, "/")
		if !path.IsAbs(rest) && parts[0] != anyParts { // it may begin anywhere
			parts = append([]string{anyParts}, parts...)
		}
		r.paths = append(r.paths, newRule(p, rest, parts...))
	case kindTool:
		r.tools = append(r.tools, newRule(p, rest, rest))
	case kindText:
		r.text = append(r.text, rule{name: p, literal: rest})
	default:
		kinds := []string{kindPath, kindTool, kindText}
		if guess := nearest.One(kind, kinds); guess != "" {
			return fmt.Errorf("begins with an unknown kind; did you mean %s:%s?", guess, rest)
		}
		return fmt.Errorf("begins with an unknown kind: write path:%s for a path with a colon; there are also tool: "+
			"and text:", p)
	}
	return nil
}

var wildcards = lazyregexp.New(`\*+`)

func isWord(s string) bool {
	return len(s) > 1 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

// newRule makes a rule. Only * has a meaning of its own: app/[id]/page.tsx is the name of a file.
func newRule(name, literal string, parts ...string) rule {
	if !strings.Contains(literal, "*") {
		return rule{name: name, literal: literal}
	}
	r := rule{name: name}
	for _, part := range parts {
		if part == anyParts {
			r.parts = append(r.parts, nil)
		} else {
			r.parts = append(r.parts, strings.Split(part, "*"))
		}
	}
	return r
}

// anyParts is a part that stands for any number of them.
const anyParts = "**"

// match reports whether the parts of a pattern with wildcards are those of a path. What stands before one ** need not be
// looked at again behind it, so a path of n parts takes n times the pattern's at most.
func match(pattern [][]string, parts []string) bool {
	behind, from := -1, 0 // the last ** and where what stands behind it was tried
	p, i := 0, 0
	for i < len(parts) {
		switch {
		case p < len(pattern) && pattern[p] == nil:
			if p++; p == len(pattern) {
				return true
			}
			behind, from = p, i
			continue
		case p < len(pattern) && matchPart(pattern[p], parts[i]):
			p, i = p+1, i+1
			continue
		case behind < 0:
			return false
		}
		from++
		p, i = behind, from
	}
	return p == len(pattern) // a ** at the end stands for something: docs/** is not docs
}

// matchPart reports whether the pieces of a part, between which anything may stand, are in a text.
func matchPart(pieces []string, text string) bool {
	if pieces == nil {
		return true
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	if len(pieces) == 1 {
		return text == first
	}
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, piece := range pieces[1 : len(pieces)-1] {
		_, behind, found := strings.Cut(text, piece)
		if !found {
			return false
		}
		text = behind
	}
	return true
}

// path returns the first pattern that names a file, by its absolute path; "" if none does.
func (r *Rules) path(p string) string {
	var parts []string
	for i := range r.paths {
		rule := &r.paths[i]
		switch {
		case rule.parts != nil:
			if parts == nil {
				parts = strings.Split(p, "/")
			}
			if match(rule.parts, parts) {
				return rule.name
			}
		case p == rule.literal:
			return rule.name
		case !path.IsAbs(rule.literal):
			if rest, ok := strings.CutSuffix(p, rule.literal); ok && strings.HasSuffix(rest, "/") {
				return rule.name
			}
		}
	}
	return ""
}

// tool returns the first pattern that names a tool; "" if none does.
func (r *Rules) tool(name string) string {
	for i := range r.tools {
		if rule := &r.tools[i]; rule.parts == nil && rule.literal == name ||
			rule.parts != nil && matchPart(rule.parts[0], name) {
			return rule.name
		}
	}
	return ""
}

// words returns the first pattern whose words stand in a text; "" if none do.
func (r *Rules) words(text string) string {
	for i := range r.text {
		if strings.Contains(text, r.text[i].literal) {
			return r.text[i].name
		}
	}
	return ""
}
