package window

import (
	"fmt"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/outcome"
)

// catalog reads the price lists, shipped ones and those of a file ("" for none), when they are first needed.
type catalog func() (*pricing.Catalog, error)

// newCatalog reads nothing yet. If a file cannot be read, every use is an error.
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
// "auto-1h", one of model.name; nil if there is none. If no list can apply, it does not read the catalog.
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

// check is choose for the configuration of a host. A mistake in the file is one even if no list of it is chosen.
func (c catalog) check(conf *config.Config) error {
	set := conf.Settings()
	if set.Model.PriceFile != "" {
		if _, err := c(); err != nil {
			return At(conf, "model.priceFile", err)
		}
	}
	_, err := c.choose(set)
	return At(conf, "model.priceList", err)
}

// PriceList returns the price list that a configuration of this host asks for, or nil. The file of price lists is the
// host's: model.priceFile cannot be changed for a session.
func (h *Host) PriceList(c *config.Config) (*pricing.List, error) {
	return h.prices.choose(c.Settings())
}

// PriceListOf is [Session.PriceList] of an open session; nil if it is not open.
func (h *Host) PriceListOf(key store.Key) *pricing.List {
	h.mu.Lock()
	s := h.sessions[key]
	h.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.PriceList()
}

// PriceList returns the price list that is in force, or nil.
func (s *Session) PriceList() *pricing.List {
	list, err := s.host.prices.choose(s.Config().Settings())
	if err != nil { // no session opens with a list that cannot be read
		return nil
	}
	return list
}

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
