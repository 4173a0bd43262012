package engine

import (
	"fmt"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
)

// catalog reads the price lists when they are first needed, once: those that ship and those of a file ("" for none).
type catalog func() (*pricing.Catalog, error)

// newCatalog reads nothing yet. A file that cannot be read is an error at the first use, and at each one after it.
func newCatalog(file string) catalog {
	return sync.OnceValues(func() (*pricing.Catalog, error) {
		c, err := pricing.Load(file)
		if err != nil {
			return nil, fmt.Errorf("model.priceFile: %w", err)
		}
		return c, nil
	})
}

// choose returns the price list that the settings ask for: the one that model.priceList names or, for "auto" and
// "auto-1h", one of model.name. It is nil if there is none. Where no list can apply, the catalog is not read.
func (c catalog) choose(set config.Settings) (*pricing.List, error) {
	m := set.Model
	if m.PriceList == pricing.None || strings.HasPrefix(m.PriceList, pricing.Auto) && m.Name == "" {
		return nil, nil
	}
	all, err := c()
	if err != nil {
		return nil, err
	}
	l, err := all.Choose(m.PriceList, m.Name)
	if err != nil {
		return nil, fmt.Errorf("model.priceList: %w", err)
	}
	return l, nil
}

// PriceList returns the price list that a configuration of this host asks for; nil if there is none. The file of
// price lists is the host's: model.priceFile cannot be changed for a session.
func (h *Host) PriceList(c *config.Config) (*pricing.List, error) {
	return h.prices.choose(c.Settings())
}

// cadence is the setting or, without one, "priced" if there is a price list and "every-turn" if there is none.
func cadence(setting string, prices *pricing.List) outcome.Cadence {
	switch {
	case setting != "":
		return outcome.Cadence(setting)
	case prices != nil:
		return outcome.CadencePriced
	default:
		return outcome.CadenceEveryTurn
	}
}
