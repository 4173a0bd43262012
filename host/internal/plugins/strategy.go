package plugins

import (
	"context"
	"sync"

	"github.com/thresh-dev/thresh/sdk/contract"
)

// Strategy is a strategy that runs in a process of its own, one for all sessions. It outlives its process: a call after the
// process has ended starts another. It is safe for concurrent use.
//
// Its state belongs to one goroutine, the owner, which executes commands one by one. So events are serialised: a crash, a call, a
// stop and a new version of the file never interleave.
type Strategy struct {
	manager  *Manager
	name     string
	commands chan func(*owner)
	ended    chan struct{} // closed when the owner is gone

	mu     sync.Mutex
	public public
}

// public is what is visible of a strategy without asking its owner.
type public struct {
	state  State
	reason string
	info   contract.Info // of the last process that was described
}

// newStrategy makes a strategy whose owner is still to be started.
func newStrategy(m *Manager, name string) *Strategy {
	return &Strategy{
		manager: m, name: name,
		commands: make(chan func(*owner)), ended: make(chan struct{}),
		public: public{state: StateDiscovered},
	}
}

// Name is the strategy's name.
func (s *Strategy) Name() string { return s.name }

// Info is what the strategy reported about itself when it was last started.
func (s *Strategy) Info() contract.Info { return clone(s.published().info) }

// State is where the strategy is in its life, and the reason, "" where there is none.
func (s *Strategy) State() (State, string) {
	p := s.published()
	return p.state, p.reason
}

// Config returns the strategy's own settings as a JSON object with defaults filled in: what a call carries in Config. Errors
// wrap [ErrBadConfig].
func (s *Strategy) Config(settings Settings) (contract.Config, error) {
	return own(s.name, s.Info().Config, settings)
}

func (s *Strategy) published() public {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.public
}

func (s *Strategy) publish(change func(*public)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.public)
}

// do has the owner run f soon, unless the owner is gone.
func (s *Strategy) do(f func(*owner)) bool {
	select {
	case s.commands <- f:
		return true
	case <-s.ended:
		return false
	}
}

// lease is the answer to a request for a process.
type lease struct {
	process *process // with an error: what failed to start, good only for what it reported about itself
	err     error
}

// acquire returns a process that was alive a moment ago, and starts one if there is none. The caller releases it: until then it is
// not ended, except by a crash or [Manager.Close].
func (s *Strategy) acquire(ctx context.Context) (*process, error) {
	return s.lease(ctx, func(o *owner, answer chan lease) { o.acquire(answer) })
}

// acquireToKeep is acquire for a session that is going to call the strategy, so that the process stays when it is released.
func (s *Strategy) acquireToKeep(ctx context.Context) (*process, error) {
	return s.lease(ctx, func(o *owner, answer chan lease) {
		o.demand.kept = true
		o.acquire(answer)
	})
}

func (s *Strategy) lease(ctx context.Context, ask func(*owner, chan lease)) (*process, error) {
	answer := make(chan lease, 1)
	if !s.do(func(o *owner) { ask(o, answer) }) {
		return nil, ErrClosed
	}
	select {
	case l := <-answer:
		return l.process, l.err
	case <-ctx.Done():
		s.do(func(o *owner) { o.abandon(answer) })
		return nil, ctx.Err()
	}
}
