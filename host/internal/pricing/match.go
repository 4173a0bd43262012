package pricing

import (
	"path"
	"strings"
)

func (c *Catalog) match(model string) *List {
	model = strings.ToLower(model)
	if l := c.best(model, false); l != nil {
		return l
	}
	return c.best(model, true)
}

// best returns the list that matches best among those of providers, or those of others who sell their models.
func (c *Catalog) best(model string, resold bool) (best *List) {
	most := 0
	for name := range bare(model) {
		for _, l := range c.lists {
			if c.resold[l] != resold {
				continue
			}
			for _, pattern := range l.Models {
				letters := len(pattern) - strings.Count(pattern, "*")
				if letters < most || letters == most && best != nil {
					continue
				}
				pattern = strings.ToLower(pattern)
				if ok, _ := path.Match(pattern, name); ok && !(c.exact[l] && successor(pattern, name)) {
					best, most = l, letters
				}
			}
		}
	}
	return best
}

// successor reports whether "*" at the end of a pattern stands for a version that follows the one before it: "x-5*" and
// "x-5-1", "x-5.1" or "x-50", but not "x-5-20261101". A successor has prices of its own.
func successor(pattern, name string) bool {
	before, ok := strings.CutSuffix(pattern, "*")
	rest, is := strings.CutPrefix(name, before)
	if !ok || !is || before == "" || !digit(before[len(before)-1]) {
		return false
	}
	rest = strings.TrimLeft(rest, "-.")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	return digits == 1 || digits == 2
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// bare yields a model's name, then what is left as prefixes are removed: everything up to the last "/", then each
// leading word that ends in a dot and has no digit ("us.", "anthropic."): versions contain dots too ("gpt-4.1").
func bare(model string) func(func(string) bool) {
	return func(yield func(string) bool) {
		if !yield(model) {
			return
		}
		if at := strings.LastIndexByte(model, '/'); at >= 0 {
			if model = model[at+1:]; !yield(model) {
				return
			}
		}
		for {
			word, rest, ok := strings.Cut(model, ".")
			if !ok || strings.ContainsAny(word, "0123456789") {
				return
			}
			if model = rest; !yield(model) {
				return
			}
		}
	}
}
