package pricing

import (
	_ "embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

//go:embed prices.yaml
var shipped []byte

// ErrUnknown is wrapped by the error of [Catalog.Named].
var ErrUnknown = errors.New("there is no such price list")

// Catalog is a number of price lists with unique names. It never changes, and neither may the lists that it returns.
type Catalog struct{ lists []*List }

// Load returns the lists that ship and those of a user's YAML file, of which each wins over a list that ships with its name.
// "" is no file. The error joins all that is wrong with the file, each with its line: an [*Error], or the cause why it
// cannot be read.
func Load(file string) (*Catalog, error) {
	all, err := parse("prices.yaml", shipped)
	if err != nil {
		return nil, fmt.Errorf("the price lists that ship: %w", err)
	}
	if file == "" {
		return &Catalog{lists: all}, nil
	}
	own, err := read(file)
	if err != nil {
		return nil, err
	}
	// One's own come first: they also win where a model fits two lists equally well.
	taken := map[string]bool{}
	for _, l := range own {
		taken[l.Name] = true
	}
	for _, l := range all {
		if !taken[l.Name] {
			own = append(own, l)
		}
	}
	return &Catalog{lists: own}, nil
}

// Lists returns all lists, one's own first.
func (c *Catalog) Lists() []*List { return slices.Clone(c.lists) }

// Named returns the list of that name. The error wraps [ErrUnknown] and says which name was probably meant.
func (c *Catalog) Named(name string) (*List, error) {
	for _, l := range c.lists {
		if l.Name == name {
			return l, nil
		}
	}
	hint := "'thresh prices' shows those that there are"
	if near := c.nearest(name); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return nil, fmt.Errorf("price list %.80q: %w; %s", name, ErrUnknown, hint)
}

// nearest returns the name that was most likely meant: one within a third of the letters, else one that begins the same.
func (c *Catalog) nearest(name string) string {
	const long = 100 // the distance costs the product of the lengths, and what is longer is no spelling mistake
	if name == "" || len(name) > long {
		return ""
	}
	name = strings.ToLower(name)
	best, least := "", max(2, len(name)/3)+1
	for _, l := range c.lists {
		if d := levenshtein.Distance(name, strings.ToLower(l.Name), nil); d < least {
			best, least = l.Name, d
		}
	}
	if best != "" {
		return best
	}
	for _, l := range c.lists {
		if strings.HasPrefix(strings.ToLower(l.Name), name) {
			return l.Name
		}
	}
	return ""
}

// ForModel returns the list whose pattern fits a model's name, the one with the longest pattern if several do, nil if none
// does. What providers and gateways put before a name does not count: "anthropic/claude-…", "bedrock/us.anthropic.claude-…".
func (c *Catalog) ForModel(model string) *List {
	const long = 256 // no model has such a name
	if len(model) > long {
		return nil
	}
	var best *List
	most := 0
	for name := range bare(strings.ToLower(model)) {
		for _, l := range c.lists {
			for _, pattern := range l.Models {
				letters := len(pattern) - strings.Count(pattern, "*")
				if letters < most || letters == most && best != nil {
					continue
				}
				if ok, _ := path.Match(strings.ToLower(pattern), name); ok {
					best, most = l, letters
				}
			}
		}
	}
	return best
}

// bare yields a model's name and what is left of it without the prefixes: behind the last "/", then behind each word that
// ends in a dot and has no digit ("us.", "anthropic."), as versions have dots too ("gpt-4.1").
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

// Select returns the lists of those names in that order, all of them if there are none. The error joins those of
// [Catalog.Named].
func (c *Catalog) Select(names ...string) (*Catalog, error) {
	if len(names) == 0 {
		return c, nil
	}
	out := &Catalog{}
	var errs []error
	for _, name := range names {
		l, err := c.Named(name)
		if err != nil {
			errs = append(errs, err)
		} else if !slices.Contains(out.lists, l) {
			out.lists = append(out.lists, l)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}
