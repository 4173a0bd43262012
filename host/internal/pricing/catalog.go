package pricing

import (
	_ "embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/internal/nearest"
)

//go:embed prices.yaml
var shipped []byte

// ErrUnknown: no list has the name.
var ErrUnknown = errors.New("no such price list")

// Catalog is a set of price lists with unique names, safe for concurrent use. The lists must not be modified.
type Catalog struct {
	lists []*List

	mu    sync.Mutex
	known map[string]*List // by model: every turn asks
}

const maxKnown = 100

// Load returns the shipped lists and those of a user's YAML file, which replace shipped ones of the same name. "" means
// no file. The error joins an [*Error] with its line for each problem, or says why the file cannot be read.
func Load(file string) (*Catalog, error) {
	all, err := parse("prices.yaml", shipped)
	if err != nil {
		return nil, fmt.Errorf("the embedded price lists: %w", err)
	}
	if file == "" {
		return newCatalog(all), nil
	}
	own, err := read(file)
	if err != nil {
		return nil, err
	}
	// First, so they also win where a model matches two lists equally well.
	taken := map[string]bool{}
	for _, l := range own {
		taken[l.Name] = true
	}
	for _, l := range all {
		if !taken[l.Name] {
			own = append(own, l)
		}
	}
	return newCatalog(own), nil
}

func newCatalog(lists []*List) *Catalog {
	named := map[string]*List{}
	for _, l := range lists {
		named[l.Name] = l
	}
	for _, l := range lists {
		l.Hour = named[l.Name+"-1h"]
	}
	return &Catalog{lists: lists}
}

// Lists returns all lists, the user's own first.
func (c *Catalog) Lists() []*List { return slices.Clone(c.lists) }

// Named returns the list of that name. The error wraps [ErrUnknown] and suggests a name.
func (c *Catalog) Named(name string) (*List, error) {
	for _, l := range c.lists {
		if l.Name == name {
			return l, nil
		}
	}
	hint := "'thresh config prices' lists them"
	if near := c.nearest(name); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return nil, fmt.Errorf("price list %.80q: %w; %s", name, ErrUnknown, hint)
}

// nearest returns the name most likely meant: a similar one, or else one with the same beginning, such as a provider's.
func (c *Catalog) nearest(name string) string {
	names := make([]string, len(c.lists))
	for i, l := range c.lists {
		names[i] = l.Name
	}
	if near := nearest.One(name, names); near != "" || name == "" {
		return near
	}
	for _, known := range names {
		if strings.HasPrefix(strings.ToLower(known), strings.ToLower(name)) {
			return known
		}
	}
	return ""
}

// ForModel returns the list with a pattern that matches a model's name, ignoring case, or nil. The match with the most
// letters wins ("gpt-5-mini*" beats "gpt-5*"); among equals, the user's list. Prefixes of providers and gateways are
// ignored: "anthropic/claude-…", "bedrock/us.anthropic.claude-…".
func (c *Catalog) ForModel(model string) *List {
	const long = 256 // no model has such a name
	if len(model) > long {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.known[model]
	if !ok {
		if len(c.known) >= maxKnown {
			c.known = nil
		}
		if c.known == nil {
			c.known = map[string]*List{}
		}
		l = c.match(model)
		c.known[model] = l
	}
	return l
}

func (c *Catalog) match(model string) *List {
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

// The values of the setting model.priceList that name no list.
const (
	// Auto chooses by the model's name; so does "". AutoHour prefers the list for a cache that lasts an hour.
	Auto     = "auto"
	AutoHour = "auto-1h"
	None     = "none"
)

// Choose returns the list that the setting model.priceList selects: by name, for [Auto] what [Catalog.ForModel] finds,
// for [AutoHour] preferably the one with "-1h" added to that name. It returns nil, without an error, for [None] and if
// no list matches the model. The error is [Catalog.Named]'s.
func (c *Catalog) Choose(setting, model string) (*List, error) {
	switch setting {
	case None:
		return nil, nil
	case "", Auto:
		return c.ForModel(model), nil
	case AutoHour:
		if l := c.ForModel(model); l != nil {
			return l.ForHour(), nil
		}
		return nil, nil
	}
	return c.Named(setting)
}

// Select returns the lists with the names, in that order; c itself without names. The error joins [Catalog.Named]'s.
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
