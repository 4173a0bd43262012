package prepare

import (
	"errors"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk"
)

// State is what a pipeline remembers between turns. [Pipeline] explains its fields.
type State struct {
	Optimized   uint64
	Held, Stuck bool
	Failures    int
	NoOp        *NoOp    // nil: the last Compress did something
	Failure     *Failure // nil: no cooldown
	Calibration tokens.Calibration
	Growth      Growth
	Sent        Sent
}

// NoOp is a Compress that had nothing to do when so many entries had been added.
type NoOp struct {
	Strategy string
	Added    uint64
	Reason   sdk.NoOpReason
}

// Failure is a Compress that failed, the text of its error, and the end of its cooldown.
type Failure struct {
	Strategy, Error string
	Until           time.Time
}

// Growth is how fast the history grows: see growth.
type Growth struct {
	Requests, Since, Base int
	Epoch                 uint64
}

// Sent is the last request that a turn returned. At is zero if there was none.
type Sent struct {
	View history.View
	At   time.Time
}

func (p *Pipeline) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := State{
		Optimized: p.optimized, Held: p.held, Stuck: p.stuck, Failures: p.failures, Calibration: p.calibration,
		Growth: Growth{p.growth.requests, p.growth.since, p.growth.base, p.growth.epoch},
		Sent:   Sent{p.sent.view, p.sent.at},
	}
	if n := p.noop; n != nil {
		s.NoOp = &NoOp{n.strategy, n.added, n.reason}
	}
	if f := p.failure; f != nil {
		s.Failure = &Failure{f.strategy, f.err.Error(), f.until}
	}
	return s
}

// Restore replaces what the pipeline remembers. A running turn stores nothing of what it learned.
func (p *Pipeline) Restore(s State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version++
	p.optimized, p.held, p.stuck, p.failures, p.calibration = s.Optimized, s.Held, s.Stuck, s.Failures, s.Calibration
	p.growth = growth{s.Growth.Requests, s.Growth.Since, s.Growth.Base, s.Growth.Epoch}
	p.sent = sent{s.Sent.View, s.Sent.At}
	p.noop, p.failure = nil, nil
	if n := s.NoOp; n != nil {
		p.noop = &noop{n.Strategy, n.Added, n.Reason}
	}
	if f := s.Failure; f != nil {
		p.failure = &failure{f.Strategy, f.Until, errors.New(f.Error)}
	}
}
