package tools

import (
	"errors"
	"iter"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// locator is a place in the parameters. Its text form is described at [Rule].
type locator struct {
	name string
	list bool   // every element of the array
	sub  string // this member of every element
	want map[string]string
}

var errStop = errors.New("stop")

var errLocator = errors.New(`a locator is "name", "name[]", "name[].member" or "$"`)

// parseLocator parses "name", "name[]" and "name[].member". "$" is the parameters as a whole, and has no elements.
func parseLocator(s string) (locator, error) {
	name, sub, list := strings.Cut(s, "[]")
	l := locator{name: name, list: list}
	if sub != "" {
		l.sub = strings.TrimPrefix(sub, ".")
		l.want = map[string]string{l.sub: l.sub}
	}
	// "a[]b" lacks the dot, and brackets in names would make a second list.
	if name == "" || sub != "" && (l.sub == "" || l.sub == sub) || strings.ContainsAny(name+l.sub, "[]") || list &&
		name == itself {
		return locator{}, errLocator
	}
	return l, nil
}

// decide returns the first locator whose member is present and not null. Rules list several, as versions of a tool name
// the same parameter differently.
func decide(ls []locator, p params) (locator, bool) {
	for _, l := range ls {
		if p.get(l.name) != nil {
			return l, true
		}
	}
	return locator{}, false
}

// values yields what l points to: one value, or one for each element, nil if the element has no such member.
func (l locator) values(p params) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		v := p.get(l.name)
		switch {
		case v == nil:
		case !l.list:
			yield(v)
		// Elements of an unexpected type yield nil, which rules take for "not known".
		default:
			for e := range elements(v) {
				if l.sub != "" {
					e = scan(nil, e, l.want).get(l.sub)
				}
				if !yield(e) {
					return
				}
			}
		}
	}
}

func (l locator) any(p params) bool {
	for v := range l.values(p) {
		if !rawjson.IsNull(v) {
			return true
		}
	}
	return false
}
