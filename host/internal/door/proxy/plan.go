package proxy

import (
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/apis"
)

// plans are what clients used of their plans with providers, by the names of the clients. Most agents' users have no
// bill.
type plans struct {
	mu sync.Mutex
	of map[string]*plan
}

type plan struct {
	by map[provider.API]*provider.Plan
	// paid is what answers would have cost by price lists, and saved the difference to what they would have cost
	// otherwise, in USD; whole and sent are tokens, for models without a list.
	list        *pricing.List // of the last conversation
	paid, saved float64
	whole, sent int
}

// planned takes in what an answer told of the client's plan, what it used, and what that saved.
func (s *Server) planned(x *exchange, u provider.Usage, saved float64) {
	s.plans.mu.Lock()
	defer s.plans.mu.Unlock()
	p := s.plans.of[x.grant.Name]
	if p == nil {
		if len(x.windows) == 0 {
			return // a plan tells of itself with each answer
		}
		p = &plan{by: map[provider.API]*provider.Plan{}}
		if s.plans.of == nil {
			s.plans.of = map[string]*plan{}
		}
		s.plans.of[x.grant.Name] = p
	}
	if x.branch != nil {
		p.list = x.branch.session.PriceList()
		p.saved, p.whole, p.sent = p.saved+saved, p.whole+x.size.whole, p.sent+x.size.sent
	}
	if l := p.list; l != nil {
		prompt := pricing.Prompt{CacheRead: u.CacheRead, CacheWrite: u.CacheWrite - u.CacheWriteHour,
			CacheWriteHour: u.CacheWriteHour, Uncached: u.Input}
		p.paid += l.Cost(prompt).USD + float64(u.Output)*l.Output/1e6
	}
	if len(x.windows) > 0 {
		of := p.by[x.route.api]
		if of == nil {
			of = &provider.Plan{}
			p.by[x.route.api] = of
		}
		of.Add(x.windows, time.Now())
	}
	if w := s.options.Watch; w != nil {
		w.Planned(x.grant.Name, p.parts(s.options.DryRun))
	}
}

// parts returns what was used of each window, and what it would have been otherwise: providers count by what requests
// cost them, so that it is in proportion to their prices.
func (p *plan) parts(dry bool) (all []watch.Plan) {
	is, more := p.paid, p.saved
	if p.list == nil {
		is, more = float64(p.sent), float64(p.whole-p.sent)
	}
	if dry {
		if more = -more; p.list == nil {
			is = float64(p.whole)
		}
	}
	ratio := 1.0
	if is > 0 {
		ratio = max(0, 1+more/is)
	}
	for _, f := range apis.All() {
		if of := p.by[f.API]; of != nil {
			for _, part := range of.Parts() {
				all = append(all, watch.Plan{API: string(f.API), Hours: part.Length.Hours(), Used: part.Used,
					Resets: part.Reset, Session: part.Session, Otherwise: part.Session * ratio})
			}
		}
	}
	return all
}

// Plan returns what a client used of its plans; "" is the local user.
func (s *Server) Plan(name string) []watch.Plan {
	s.plans.mu.Lock()
	defer s.plans.mu.Unlock()
	p := s.plans.of[name]
	if p == nil {
		return nil
	}
	return p.parts(s.options.DryRun)
}
