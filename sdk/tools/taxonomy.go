package tools

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Taxonomy is a compiled list of rules. The zero value, and nil, know no tool. It is immutable and safe for concurrent
// use.
type Taxonomy struct {
	rules    []*rule
	byName   map[string][]int // positions of the rules with that name, ascending
	patterns []int            // positions of the rules whose names must be matched one by one
	// want has the names of all parameters that some rule or the subject looks at: others are skipped while reading.
	want map[string]string
	json []byte
}

// rule is a compiled [Rule].
type rule struct {
	class    Class
	has      []string
	when     map[string][]string
	patterns []pattern

	paths, patch, ranges, command, workdir, continues []locator

	whole     bool
	directory Directory
	// preset: another agent's rule may be meant instead.
	preset  bool
	failure *signs
}

// New returns the taxonomy with these rules: for every call the first that fits decides. It copies them; none make a
// taxonomy that knows no tool. The error is a [*RuleError].
func New(rules ...Rule) (*Taxonomy, error) {
	t := &Taxonomy{byName: make(map[string][]int), want: subjectNames()}
	for _, name := range backgrounds {
		t.want[name] = name
	}
	for i := range rules {
		r, err := compile(&rules[i])
		if err != nil {
			err.Index = i
			return nil, err
		}
		t.add(&rules[i], r)
	}
	t.json = encode(rules)
	return t, nil
}

func (t *Taxonomy) add(src *Rule, r *rule) {
	at := len(t.rules)
	// A name in several rules has several positions.
	t.rules = append(t.rules, r)
	for _, name := range src.Names {
		if p, ok := newPattern(name, src.IgnoreCase); ok {
			r.patterns = append(r.patterns, p)
		} else if known := t.byName[name]; len(known) == 0 || known[len(known)-1] != at {
			t.byName[name] = append(known, at)
		}
	}
	if len(r.patterns) > 0 {
		t.patterns = append(t.patterns, at)
	}
	// The map's values are its own keys: no parameter's name is copied while it is read.
	for _, name := range r.has {
		t.want[name] = name
	}
	for name := range r.when {
		t.want[name] = name
	}
	for _, ls := range [...][]locator{r.paths, r.patch, r.ranges, r.command, r.workdir, r.continues} {
		for _, l := range ls {
			t.want[l.name] = l.name
		}
	}
}

// Use says what a call of the tool name with these parameters reads, writes and runs. It never fails: without a rule
// that fits, nothing is known. Its cost is linear in the size of params, and it copies only the values that it returns.
func (t *Taxonomy) Use(name string, params json.RawMessage) Use {
	var room [8]member
	if t == nil || len(t.rules) == 0 {
		return Use{Subject: subject(scan(room[:0], params, subjectNames()))}
	}
	p := scan(room[:0], params, t.want)
	unfit := false
	for r := range t.named(name) {
		if r.fits(p) {
			u := r.use(p)
			if u.Command != "" && r.preset && !t.agreed(name, p, r.directory) {
				u.Directory = ""
			}
			return u
		}
		// A rule for this tool would have named files, but its conditions do not hold: which files it was is unknown.
		unfit = unfit || r.namesFiles()
	}
	return Use{Subject: subject(p), NoFile: unfit}
}

// agreed reports whether all rules that fit a call say the same of the directory.
func (t *Taxonomy) agreed(name string, p params, directory Directory) bool {
	for r := range t.named(name) {
		if r.class == ClassShell && r.directory != directory && r.fits(p) {
			return false
		}
	}
	return true
}

// Runs reports whether [Taxonomy.Use] could find a command in a call of the tool name. It needs no parameters, so most
// calls of a history need not be read.
func (t *Taxonomy) Runs(name string) bool {
	if t == nil {
		return false
	}
	for r := range t.named(name) {
		if len(r.command) > 0 {
			return true
		}
	}
	return false
}

// JSON returns the rules as [Parse] reads them, always in the same form. It must not be changed.
func (t *Taxonomy) JSON() []byte {
	if t == nil || t.json == nil {
		return encode(nil)
	}
	return t.json
}

func (t *Taxonomy) named(name string) iter.Seq[*rule] {
	return func(yield func(*rule) bool) {
		// Merges two ascending lists: the first rule in the user's order decides, whatever kind of name it has.
		exact, patterns := t.byName[name], t.patterns
		for len(exact) > 0 || len(patterns) > 0 {
			var at int
			switch {
			case len(patterns) == 0 || len(exact) > 0 && exact[0] <= patterns[0]:
				at = exact[0]
				if len(patterns) > 0 && patterns[0] == at {
					patterns = patterns[1:]
				}
				exact = exact[1:]
			default:
				at = patterns[0]
				patterns = patterns[1:]
				if !t.rules[at].matches(name) {
					continue
				}
			}
			if !yield(t.rules[at]) {
				return
			}
		}
	}
}

func (r *rule) matches(name string) bool {
	for _, p := range r.patterns {
		if p.match(name) {
			return true
		}
	}
	return false
}

func (r *rule) fits(p params) bool {
	for _, name := range r.has {
		if p.get(name) == nil {
			return false
		}
	}
	for name, allowed := range r.when {
		v := p.get(name)
		if v == nil {
			return false
		}
		s, ok := rawjson.Text(v)
		if !ok {
			// A number or true is compared by its JSON text.
			s = string(v)
		}
		if !slices.Contains(allowed, s) {
			return false
		}
	}
	return true
}

// pattern is a name with "*" or "?", or one that is matched without regard to case.
type pattern struct {
	glob string
	fold bool
}

// newPattern returns ok false for a name that only matches itself.
func newPattern(name string, fold bool) (p pattern, ok bool) {
	if !fold && !strings.ContainsAny(name, "*?") {
		return pattern{}, false
	}
	if fold {
		name = strings.ToLower(name)
	}
	return pattern{name, fold}, true
}

// match takes "*" for any characters, none included, and "?" for one byte.
func (p pattern) match(name string) bool {
	if p.fold {
		name = strings.ToLower(name)
	}
	// Greedy, with one place to return to: the last "*". At most len(glob) × len(name) steps.
	g, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case g < len(p.glob) && p.glob[g] == '*':
			star, mark = g, n
			g++
		case g < len(p.glob) && (p.glob[g] == '?' || p.glob[g] == name[n]):
			g++
			n++
		case star >= 0:
			mark++
			g, n = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(p.glob[g:], "*") == ""
}
