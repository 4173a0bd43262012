package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/failure"
)

// ErrQuery is wrapped by the errors for queries that cannot be searched for.
var ErrQuery = failure.New(failure.Request, "cannot be searched for")

const (
	// Of a query's terms as many count as this, the rarest. A [Hit] has a bit for each. Others than these words are
	// looked for only if a query has no more.
	maxTerms = 32
	// The defaults of a query's limits.
	defaultLimit, defaultTokens = 3, 500
	moreTokens                  = 150 // for each passage above the default
)

const (
	// MaxQuery bounds a query's words, in bytes.
	MaxQuery = 1 << 10
	// MaxPassages and MaxTokens are the greatest limits, at every door.
	MaxPassages, MaxTokens = 100, 100_000
)

// Query is what to search for. The zero value of a limit is its default.
type Query struct {
	// Words are words, names and paths: passages with more of them, and with rarer ones, come first, and a word counts
	// half for what is found after a passage with it. "What stands in quotes" must be in a passage exactly as written; a
	// quote in it is written \", a backslash before it \\.
	Words string
	// Limit is the most passages, 3 by default; Tokens is how many they have together at most, 500 by
	// default, and 150 for each passage above three.
	Limit, Tokens int
}

// Parsed is a query in terms.
type Parsed struct {
	// Terms are all that may be looked for, each once.
	Terms []string
	asked []asked
	words []written
	limit int
	// tokens bounds what is found.
	tokens  int
	phrases []phrase
}

// asked is a term of the query, other forms of it, and what means the same: positions in Terms.
type asked struct {
	term         int
	alone        bool // and no part of a name
	forms, alike []int
}

// written is a word of the query as it was written. any are terms of which one says that it occurs, parts all of which say
// so in one passage.
type written struct {
	text       string
	any, parts []int
}

// phrase is a text that must occur exactly. whole are the terms of a passage that has it between words, inner those of
// any passage that has it: its first and last name may be parts of longer ones there.
type phrase struct {
	text         string
	whole, inner []string
}

// Parse reads a query. The error wraps [ErrQuery].
func (q Query) Parse() (p Parsed, err error) {
	switch {
	case strings.TrimSpace(q.Words) == "":
		return p, fmt.Errorf("an empty query %w: give words, names or paths", ErrQuery)
	case len(q.Words) > MaxQuery:
		return p, fmt.Errorf("words of %d bytes %w: give at most %d, those that tell the passage from others", len(q.Words),
			ErrQuery, MaxQuery)
	case q.Limit < 0 || q.Limit > MaxPassages:
		return p, fmt.Errorf("a limit of %d passages %w: give 1 to %d", q.Limit, ErrQuery, MaxPassages)
	case q.Tokens < 0 || q.Tokens > MaxTokens:
		return p, fmt.Errorf("a limit of %d tokens %w: give 1 to %d", q.Tokens, ErrQuery, MaxTokens)
	}
	p.limit, p.tokens = q.Limit, q.Tokens
	if p.limit == 0 {
		p.limit = defaultLimit
	}
	if p.tokens == 0 {
		p.tokens = defaultTokens + moreTokens*max(0, p.limit-defaultLimit)
	}
	words, quoted := unquote(q.Words)
	p.ask(words)
	for _, text := range quoted {
		f := phrase{text: text}
		for t := range terms(text) {
			if !t.joined { // it may go on in the passage
				f.whole = append(f.whole, t.text)
			}
		}
		for t := range terms(inner(text)) {
			f.inner = append(f.inner, t.text)
		}
		p.ask(text)
		p.ask(inner(text))
		p.phrases = append(p.phrases, f)
	}
	if len(p.asked) <= maxTerms {
		for i := range p.asked {
			p.extend(&p.asked[i])
		}
	}
	if len(p.Terms)+len(p.phrases) == 0 {
		return p, fmt.Errorf("%q %w: it has no letter and no digit; put what must occur exactly between two \"", q.Words,
			ErrQuery)
	}
	return p, nil
}

// inner returns a text without the names that it begins and ends with.
func inner(text string) string {
	in := func(r rune) bool { return inName(r) || unspaced(r) || r < utf8.RuneSelf && joins(byte(r)) }
	text = text[run(text, 0, in):]
	return strings.TrimRightFunc(text, in)
}

// ask adds the terms of a text.
func (p *Parsed) ask(text string) {
	for w := range words(text) {
		one := written{text: w}
		for t := range spelled(w) {
			at := p.add(t.text)
			if t.stem {
				continue // among what is alike, or needed by what is in quotes
			}
			if !slices.ContainsFunc(p.asked, func(a asked) bool { return a.term == at }) {
				p.asked = append(p.asked, asked{term: at})
			}
			if t.joined {
				one.any = append(one.any, at)
			} else {
				one.parts = append(one.parts, at)
			}
		}
		for i := range p.asked {
			if len(one.parts) == 1 && len(one.any) == 0 && p.asked[i].term == one.parts[0] {
				p.asked[i].alone = true
			}
		}
		p.words = append(p.words, one)
	}
}

// add returns where in Terms a term is.
func (p *Parsed) add(term string) int {
	at := slices.Index(p.Terms, term)
	if at < 0 {
		at = len(p.Terms)
		p.Terms = append(p.Terms, term)
	}
	return at
}

// extend adds the other forms of a term, and what means the same.
func (p *Parsed) extend(a *asked) {
	add := func(to []int, all []string) []int {
		for _, text := range all {
			for t := range terms(text) {
				if at := p.add(t.text); at != a.term && !slices.Contains(to, at) {
					to = append(to, at)
				}
			}
		}
		return to
	}
	word := p.Terms[a.term]
	a.forms = add(nil, forms(word))
	if a.alone {
		a.alike = add(nil, synonyms(word))
	}
}

// unquote divides a query into what is outside of quotes and what is in them. A quote without another is a letter like
// others.
func unquote(q string) (words string, quoted []string) {
	var b strings.Builder
	for {
		from := strings.IndexByte(q, '"')
		if from < 0 {
			break
		}
		text, end, ok := untilQuote(q[from+1:])
		if !ok {
			break
		}
		b.WriteString(q[:from])
		b.WriteByte(' ')
		if q = q[from+1+end:]; text != "" {
			quoted = append(quoted, text)
		}
	}
	b.WriteString(q)
	return b.String(), quoted
}

// untilQuote reads up to the next quote and returns what is before it, and where what follows it begins.
func untilQuote(q string) (text string, end int, ok bool) {
	var b strings.Builder
	for i := 0; i < len(q); i++ {
		switch {
		case q[i] == '"':
			return b.String(), i + 1, true
		case q[i] == '\\' && i+1 < len(q) && (q[i+1] == '"' || q[i+1] == '\\'):
			i++
		}
		b.WriteByte(q[i])
	}
	return "", 0, false
}
