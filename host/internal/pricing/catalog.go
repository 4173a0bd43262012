package pricing

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/internal/nearest"
)

// own has the lists that are kept here, and base those that are converted from a catalogue that others keep (see
// convert). Of two with one name, that of own counts.
var (
	//go:embed prices.yaml
	own []byte
	//go:embed base.yaml
	base []byte
)

var shipped = sync.OnceValues(func() (lists, error) {
	all, err := parse("prices.yaml", own)
	if err != nil {
		return lists{}, fmt.Errorf("the embedded price lists: %w", err)
	}
	more, err := parse("base.yaml", base)
	if err != nil {
		return lists{}, fmt.Errorf("the embedded price lists: %w", err)
	}
	return lists{all: all, versions: true}.and(lists{all: more, versions: true}), nil
})

// BaseDay returns the day of the catalogue that the shipped lists are converted from.
func BaseDay() string {
	_, day, _ := strings.Cut(string(base), "\n# Of ")
	day, _, _ = strings.Cut(day, ",")
	return day
}

// ErrUnknown: no list has the name.
var ErrUnknown = errors.New("no such price list")

// Catalog is a set of price lists with unique names, safe for concurrent use. The lists must not be modified.
type Catalog struct {
	lists []*List
	// resold are lists of others who sell the models of a provider, by its name for them. They hold for models that no
	// other list has. exact are lists whose patterns do not match later versions of a model.
	resold, exact map[*List]bool

	mu    sync.Mutex
	known map[string]*List // by model: every turn asks
	fast  map[*List]*List  // by the list for ordinary speed
}

const maxKnown = 100

// lists are those of one file.
type lists struct {
	all    []*List
	resold int // how many of the last are resold
	// versions says that "*" does not stand for a later version: "x-5*" is not for "x-5-1".
	versions bool
}

// and returns the lists with more behind them, those that have the name of one of l left out.
func (l lists) and(more lists) lists {
	taken := map[string]bool{}
	for _, x := range l.all {
		taken[x.Name] = true
	}
	for _, x := range more.all {
		if !taken[x.Name] {
			l.all = append(l.all, x)
		}
	}
	return l
}

// Load returns the shipped lists and those of a user's file, which replace shipped ones of the same name. "" means no
// file. A file is YAML, or one of the catalogues that [Forms] names as it is. The error joins an [*Error] for each
// problem, or says why the file cannot be read.
func Load(file string) (*Catalog, error) {
	all, err := shipped()
	if err != nil || file == "" {
		return newCatalog(time.Now(), all), err
	}
	mine, err := read(file)
	if err != nil {
		return nil, err
	}
	// First, so they also win where a model matches two lists equally well.
	return newCatalog(time.Now(), mine, all), nil
}

// newCatalog makes a catalog of files, with the prices of a day. The lists stay as they are: several catalogs have them.
func newCatalog(day time.Time, files ...lists) *Catalog {
	c := &Catalog{resold: map[*List]bool{}, exact: map[*List]bool{}}
	named := map[string]*List{}
	add := func(l *List) bool {
		if named[l.Name] != nil {
			return false
		}
		named[l.Name] = l
		c.lists = append(c.lists, l)
		return true
	}
	for _, f := range files {
		written := map[string]bool{}
		for _, l := range f.all {
			written[l.Name] = true
		}
		for i, was := range f.all {
			l := *was.today(day)
			if add(&l) {
				c.resold[&l], c.exact[&l] = i >= len(f.all)-f.resold, f.versions
			}
			if l.CacheWriteHour > 0 && !written[l.Name+hourSuffix] {
				add(l.hourly())
			}
		}
	}
	for _, l := range c.lists {
		l.Hour = named[l.Name+hourSuffix]
	}
	return c
}

// Lists returns all lists, the user's own first.
func (c *Catalog) Lists() []*List { return slices.Clone(c.lists) }

// Named returns the list of that name. The error wraps [ErrUnknown] and suggests a name.
func (c *Catalog) Named(name string) (*List, error) {
	find := func(name string) *List {
		i := slices.IndexFunc(c.lists, func(l *List) bool { return l.Name == name })
		if i < 0 {
			return nil
		}
		return c.lists[i]
	}
	if l := find(name); l != nil {
		return l, nil
	}
	if l := find(strings.TrimSuffix(name, fastSuffix)); l != nil && l.Fast > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.faster(l), nil
	}
	hint := "'thresh config prices' lists them"
	if near := c.nearest(name); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return nil, fmt.Errorf("price list %.80q: %w; %s", name, ErrUnknown, hint)
}

// faster returns the list of what gateways sell as a model of its own: the speed of another. c.mu is held.
func (c *Catalog) faster(l *List) *List {
	if c.fast == nil {
		c.fast = map[*List]*List{}
	}
	if c.fast[l] == nil {
		c.fast[l] = l.faster()
	}
	return c.fast[l]
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
// ignored: "anthropic/claude-…", "bedrock/us.anthropic.claude-…". Gateways add "-fast" to a name for the model's fast mode.
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
		if l = c.match(model); l != nil && l.Fast > 0 && strings.HasSuffix(strings.ToLower(model), fastSuffix) {
			l = c.faster(l)
		}
		c.known[model] = l
	}
	return l
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
	out := &Catalog{resold: c.resold, exact: c.exact}
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
