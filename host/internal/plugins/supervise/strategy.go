package supervise

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// Host is what supervision needs from its surroundings, for all strategies.
type Host struct {
	Ctx context.Context
	Log hclog.Logger
	// MaxCrashes is how many crashes within crashWindow (five minutes) put a plugin into quarantine.
	MaxCrashes  int
	StopTimeout time.Duration
	// IdlePeriod is how long an idle process may use more than IdleShare of a processor; 0 are ten seconds and 0.25.
	// Tests set both: on a machine under load a process gets little, however much it wants.
	IdlePeriod time.Duration
	IdleShare  float64
	// Start may block. It may return a plugin together with an error, for what is known about it.
	Start func(strategy string, s Start) (*client.Plugin, error)
	// Rescan causes [Strategy.Look] to be called on all strategies soon. It must not block.
	Rescan func()
}

type Start struct {
	// Known is what the strategy's binary reported when it was last started.
	Known trust.Snapshot
	// Unless is the hash of a binary that already runs: Start then returns [ErrSame].
	Unless string
	// Reached is called with each state on the way, from Start's goroutine, and with the binary as soon as it is open.
	Reached func(outcome.PluginState, *discover.Binary)
}

// Strategy runs in its own process, one for all sessions. It outlives its processes: a call after a process has ended
// starts another. It is safe for concurrent use. mu guards public; everything else that changes belongs to the owner.
type Strategy struct {
	name     string
	host     *Host
	commands chan func(*owner)
	ended    chan struct{}

	offered atomic.Pointer[instance] // what take may lease; nil: ask the owner. Only the owner sets it.

	mu     sync.Mutex
	public public
}

var _ prepare.Strategy = (*Strategy)(nil)

// public is what can be read of a strategy without waiting for its owner.
type public struct {
	state  outcome.PluginState
	reason string
	info   sdk.Info // of the last process that reported it
	// lacking are the measures of isolation that this process did without.
	lacking []string
}

func New(h *Host, name string) *Strategy {
	return &Strategy{
		name: name, host: h,
		commands: make(chan func(*owner)), ended: make(chan struct{}),
		public: public{state: outcome.StateDiscovered},
	}
}

// Run supervises the strategy. It returns when the host is closed and nothing of any process is left.
func (s *Strategy) Run() { newOwner(s).run() }

// Ended makes calls fail as they do after Run has returned. It is for a strategy that is created when the host is
// already closed. Never call it together with Run.
func (s *Strategy) Ended() { close(s.ended) }

func (s *Strategy) Name() string { return s.name }

// Info returns what the strategy reported about itself when it was last started; the zero value if it never was.
func (s *Strategy) Info() sdk.Info { return client.Clone(s.published().info) }

// Lacking returns the measures of isolation that the running or last process does without, each with the reason. The
// result must not be changed.
func (s *Strategy) Lacking() []string { return s.published().lacking }

// State returns the state and the reason; "" if there is none.
func (s *Strategy) State() (outcome.PluginState, string) {
	p := s.published()
	return p.state, p.reason
}

// Config returns the strategy's own settings as a JSON object with defaults filled in: what a call carries in Config.
// Errors wrap [fault.ErrBadConfig].
func (s *Strategy) Config(settings client.Settings) (sdk.Config, error) {
	return client.Own(s.name, s.Info().Config, settings)
}

// Optimize is [client.Plugin.Optimize] on the current process. It changes nothing, so after a crash the call is made
// once more, on a fresh process.
func (s *Strategy) Optimize(ctx context.Context, in prepare.OptimizeCall) (prepare.OptimizeAnswer, error) {
	answer, err := s.optimize(ctx, in)
	if errors.Is(err, fault.ErrPluginCrashed) && ctx.Err() == nil {
		s.host.Log.Warn("plugin process crashed in Optimize, retrying once", "strategy", s.name)
		answer, err = s.optimize(ctx, in)
	}
	return answer, err
}

func (s *Strategy) optimize(ctx context.Context, in prepare.OptimizeCall) (prepare.OptimizeAnswer, error) {
	l, err := s.Acquire(ctx)
	if err != nil {
		return prepare.OptimizeAnswer{}, err
	}
	defer l.Release()
	return l.Plugin().Optimize(ctx, in)
}

// Compress is [client.Plugin.Compress] on the current process. It may have cost money already when the process crashes,
// so it is not retried here: the error is Retryable.
func (s *Strategy) Compress(
	ctx context.Context, in prepare.CompressCall, services sdk.Host,
) (prepare.CompressAnswer, error) {
	l, err := s.Acquire(ctx)
	if err != nil {
		return prepare.CompressAnswer{}, err
	}
	defer l.Release()
	return l.Plugin().Compress(ctx, in, services)
}

// EndSession tells the current process that a session has ended. It starts nothing and does not wait.
func (s *Strategy) EndSession(id string) {
	if i := s.offered.Load(); i != nil { // not later than a call that takes it, too
		i.EndSession(id)
		return
	}
	s.do(func(o *owner) {
		if o.current != nil {
			o.current.EndSession(id)
		}
	})
}

// Rewritten lets the client of a running process drop the entries that are gone. Otherwise it finds out with the next
// call.
func (s *Strategy) Rewritten(in prepare.Call) {
	if i := s.offered.Load(); i != nil {
		i.Rewritten(in)
	}
}

// Acquire grants a lease on a process that was alive a moment ago; it starts one if there is none. It waits until ctx
// ends. Release the lease.
func (s *Strategy) Acquire(ctx context.Context) (Lease, error) {
	if l, ok := s.take(); ok {
		return l, nil
	}
	i, err := s.request(ctx, func(o *owner, answer chan lease) { o.acquire(answer) })
	if err == nil {
		i.Use()
	}
	return Lease{i}, err
}

// take is Acquire for the usual case, in which the owner offers a process: asking it would wake two goroutines, which
// takes as long as the call itself. ok is false if the owner must be asked.
//
// The user is counted first: either the owner sees it when it retires the process, or the retirement is seen here.
func (s *Strategy) take() (l Lease, ok bool) {
	i := s.offered.Load()
	if i == nil {
		return Lease{}, false
	}
	i.hold()
	if i.retired.Load() != nil || !i.Alive() {
		i.release()
		return Lease{}, false
	}
	i.Use()
	return Lease{i}, true
}

// Need makes sure that a process runs, and keeps it running from then on: a session will call the strategy. Without it,
// a process that was started for `plugins list` would end at once.
func (s *Strategy) Need(ctx context.Context) error {
	if l, ok := s.take(); ok {
		l.Release()
		return nil
	}
	i, err := s.request(ctx, func(o *owner, answer chan lease) {
		o.demand.kept = true
		o.acquire(answer)
	})
	if err == nil {
		i.Use()
		i.release()
	}
	return err
}

// Ask starts the strategy if it does not run, and ends it again unless it is needed. It returns after the process is
// gone. The returned plugin serves only for what it reported about itself; it may come with an error.
func (s *Strategy) Ask(ctx context.Context) (*client.Plugin, error) {
	i, err := s.request(ctx, func(o *owner, answer chan lease) { o.acquire(answer) })
	if err != nil {
		if ctx.Err() != nil {
			s.do(func(o *owner) { o.dropUnlessKept() })
		}
		if i == nil {
			return nil, err
		}
		return i.Plugin, err
	}
	i.release()
	ends := make(chan bool, 1)
	if s.do(func(o *owner) { ends <- o.dropUnlessKept() }) && <-ends {
		<-i.gone
	}
	return i.Plugin, nil
}

// Reset ends a quarantine and the delay after a crash. It reports whether the strategy is still supervised.
func (s *Strategy) Reset(why string) bool { return s.do(func(o *owner) { o.clearCrashes(why) }) }

// Look compares the strategy's file with the one that runs. exists reports whether there is a usable file.
func (s *Strategy) Look(c discover.Candidate, exists bool) {
	s.do(func(o *owner) { o.look(c, exists) })
}

type Inspection struct {
	// Users are the calls that the current process is serving, Waiting those that wait for a process.
	Users, Waiting int
	// Leases are those granted on the current process so far.
	Leases int
	// Starting leaves out a new version next to the current process.
	Starting bool
	// NextStart is the earliest time of the next start after a crash.
	NextStart time.Time
}

// Inspect is for tests and debugging. After Run it returns zero.
func (s *Strategy) Inspect() Inspection {
	got := make(chan Inspection, 1)
	if !s.do(func(o *owner) {
		i := Inspection{Waiting: len(o.demand.waiting), Starting: o.coming.starting, NextStart: o.crashes.next}
		if o.current != nil {
			i.Users, i.Leases = int(o.current.users.Load()), int(o.current.leases.Load())
		}
		got <- i
	}) {
		return Inspection{}
	}
	return <-got
}

func (s *Strategy) published() public {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.public
}

// publish calls change under the lock: it must not call back.
func (s *Strategy) publish(change func(*public)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.public)
}

// do has the owner run f soon; false if the owner is gone. It blocks only until the owner has taken f.
func (s *Strategy) do(f func(*owner)) bool {
	select {
	case s.commands <- f:
		return true
	case <-s.ended:
		return false
	}
}

type lease struct {
	instance *instance // with an error: what failed to start, good only for what it reported about itself
	err      error
}

func (s *Strategy) request(ctx context.Context, ask func(*owner, chan lease)) (*instance, error) {
	answer := make(chan lease, 1)
	if !s.do(func(o *owner) { ask(o, answer) }) {
		return nil, fault.ErrClosed
	}
	select {
	case l := <-answer:
		return l.instance, l.err
	case <-ctx.Done():
		s.do(func(o *owner) { o.abandon(answer) })
		return nil, ctx.Err()
	}
}
