package prepare

import (
	"time"

	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk"
)

// State is what a pipeline remembers between turns.
type State struct {
	// Optimized is [history.Snapshot.Added] as of the last Optimize. If more was added since, the history is dirty:
	// another Optimize may find something. Held: the cadence held back what that Optimize would have
	// pruned.
	Optimized uint64
	Held      bool
	// Stuck: the last Compress at the threshold left the request over it, because it did nothing, failed or was not
	// enough.
	Stuck bool
	// Left is how many tokens of history the last Compress left, or would have, or found that it cannot make fewer.
	Left        int
	Failing     Calls    // those that failed and have not worked since
	NoOp        *NoOp    // nil: the last Compress did something
	Failure     *Failure // nil: no cooldown
	Calibration tokens.Calibration
	Growth      Growth
	Sent        Sent
}

// NoOp is a Compress that had nothing to do when so many entries had been added. The strategy is not asked again about
// the same history.
type NoOp struct {
	Strategy string
	Added    uint64
	Reason   sdk.NoOpReason
}

// Failure is a Compress that failed with a non-retryable error, and the end of its cooldown: it is not tried again at
// every turn.
type Failure struct {
	Strategy, Error string
	Until           time.Time
}

// State returns a copy. What its pointers refer to never changes.
func (p *Pipeline) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known
}

// Restore replaces what the pipeline remembers. A running turn stores nothing of what it learned.
func (p *Pipeline) Restore(s State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version++
	p.known = s
}
