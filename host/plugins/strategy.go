package plugins

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/thresh-dev/thresh/sdk"
)

// Strategy is a strategy that runs in a process of its own, one for all sessions. It outlives its process: a call after the
// process has ended starts another. It is safe for concurrent use.
type Strategy struct {
	manager *Manager
	name    string

	mu      sync.Mutex
	current *incarnation // nil: none, or the last one failed to start
	kept    bool         // somebody got it from Manager.Strategy
	info    sdk.Info     // of the last process that was described
}

// incarnation is one process of a strategy, or the attempt to start it.
type incarnation struct {
	ready   chan struct{} // closed when it is clear whether it started
	process *process      // valid after ready; beside an error: what was described before it failed
	err     error
	gone    chan struct{} // closed when nothing of the process is left
}

// Name is the strategy's name.
func (s *Strategy) Name() string { return s.name }

// Info is what the strategy said about itself when it was last started.
func (s *Strategy) Info() sdk.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return clone(s.info)
}

// Config returns the strategy's own settings as a JSON object with defaults filled in: what a call carries in Config. Errors
// wrap [ErrBadConfig].
func (s *Strategy) Config(settings Settings) (json.RawMessage, error) {
	return own(s.name, s.Info().Config, settings)
}

// keep says that somebody uses the strategy, so that its process is to stay.
func (s *Strategy) keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = true
}

// acquire returns a process that was alive a moment ago, and starts one if there is none.
func (s *Strategy) acquire(ctx context.Context) (*process, error) {
	in, err := s.incarnation()
	if err != nil {
		return nil, err
	}
	select {
	case <-in.ready:
		return in.process, in.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// incarnation returns the one that runs or starts, and begins one if there is none.
func (s *Strategy) incarnation() (*incarnation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.current; in != nil {
		select {
		case <-in.ready:
			if in.process.alive() {
				return in, nil
			}
		default:
			return in, nil
		}
	}
	in := &incarnation{ready: make(chan struct{}), gone: make(chan struct{})}
	if !s.manager.goes(func() { s.live(in) }) {
		return nil, ErrClosed
	}
	s.current = in
	return in, nil
}

// live is the life of one incarnation.
func (s *Strategy) live(in *incarnation) {
	defer close(in.gone)
	in.process, in.err = s.manager.start(s.name)
	s.mu.Lock()
	if in.err != nil {
		s.forget(in)
	} else {
		s.info = in.process.info
	}
	s.mu.Unlock()
	close(in.ready)
	if in.err != nil {
		return
	}
	stop := context.AfterFunc(s.manager.ctx, func() { in.process.end(ErrClosed) })
	defer stop()
	in.process.supervise()
}

// forget makes the next call start anew. s.mu is held.
func (s *Strategy) forget(in *incarnation) {
	if s.current == in {
		s.current = nil
	}
}

// release ends the process if nobody uses the strategy, and waits until it is gone.
func (s *Strategy) release(in *incarnation) {
	s.mu.Lock()
	idle := !s.kept
	if idle {
		s.forget(in)
	}
	s.mu.Unlock()
	<-in.ready
	if idle && in.err == nil {
		in.process.end(ErrClosed)
		<-in.gone
	}
}
