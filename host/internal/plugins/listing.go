package plugins

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// Listing is [outcome.Plugin].
type Listing = outcome.Plugin

// Explanation returns the reason of a listing, followed by the last lines of a broken plugin's standard error. It is
// safe for a terminal; "" if there is nothing to explain.
func Explanation(l Listing) string {
	const maxReason = 16 << 10
	if l.Reason == "" {
		return ""
	}
	return text.Printable(l.Reason, maxReason) + fault.Excerpt(l.Stderr)
}

// startsAtOnce bounds how many plugins List starts at the same time: each is a process, which takes memory and
// processor time.
const startsAtOnce = 16

// List describes everything in the plugin directories, in the order of the directories and by name within each, and
// then what is built in. Plugins that do not run are started to ask them what they are, and ended again unless a
// session uses them meanwhile. Listing trusts nothing: it does not write to the lock file. What is wrong with one is in
// its listing and affects no other. When ctx ends, plugins not yet asked are broken for that reason.
func (m *Manager) List(ctx context.Context) []Listing {
	found := m.scan()
	var list []Listing
	for _, d := range found.Dirs {
		if d.Problem != "" {
			list = append(list, Listing{Path: d.Path, State: StateNoDirectory, Reason: d.Problem})
		}
	}
	// Each goroutine writes its own element, so the order is that of the scan.
	offset := len(list)
	list = append(list, make([]Listing, len(found.Candidates))...)
	var group errgroup.Group
	group.SetLimit(startsAtOnce)
	for i, c := range found.Candidates {
		group.Go(func() error {
			list[offset+i] = m.list(ctx, c)
			return nil
		})
	}
	_ = group.Wait() // none returns an error
	return list
}

func (m *Manager) list(ctx context.Context, c discover.Candidate) Listing {
	l := Listing{Name: text.Printable(c.Name, 100), Path: c.Path, BuiltIn: c.BuiltIn}
	if c.Problem != "" { // not hashed: it may be anything, of any size
		l.State, l.Reason = StateBroken, c.Problem
		if c.Lack != nil {
			l.State = StateHostFault
		}
		return l
	}
	if !c.BuiltIn {
		l.SHA256 = m.hashes.OfFile(c.Path)
	}
	if c.ShadowedBy != "" {
		l.State, l.Reason = StateShadowed, "hidden by "+c.ShadowedBy
		return l
	}
	strategy := m.handle(c.Name)
	p, err := strategy.Ask(ctx)
	if p != nil {
		describe(&l, p.Info())
		if runs := p.Binary(); !c.BuiltIn && runs != nil && runs.Sum != "" && runs.Sum != l.SHA256 {
			l.SHA256, l.NewSHA256 = runs.Sum, l.SHA256
		}
		l.Lacking = p.Lacking()
		for _, measure := range p.Isolation() {
			l.Isolation = append(l.Isolation, string(measure))
		}
	}
	if err == nil {
		l.State = StateReady
		// A newer version of its file cannot be used.
		if state, reason := strategy.State(); state == StateReady {
			l.Reason = reason
		}
		return l
	}
	l.State, l.Reason = StateBroken, err.Error()
	if failure, ok := errors.AsType[*Error](err); ok {
		l.Reason, l.Stderr = failure.Reason(), failure.Stderr
	}
	if errors.Is(err, ErrUntrusted) {
		l.State = StateUntrusted
	}
	switch state, _ := strategy.State(); state {
	case StateQuarantined, StateCrashed, StateHostFault:
		l.State = state
		describe(&l, strategy.Info())
	}
	return l
}

func describe(l *Listing, info sdk.Info) {
	l.Version, l.Description = info.Version, info.Description
	l.Trigger, l.DefaultThreshold = info.Trigger.Mode, info.Trigger.DefaultThreshold
	l.EarlyThreshold = info.Trigger.EarlyThreshold
	l.RequiresLLM = info.RequiresLLM
}
