package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// bounds are the limits that a plugin must keep. Tests shorten them; see defaultBounds for the real ones.
type bounds struct {
	start time.Duration // from the process to the accepted Configure
	call  time.Duration // one Optimize or Compress, of the largest history
	react time.Duration // to a cancellation, and to the end of the host
	stop  time.Duration // to SIGTERM
	// Larger than any call of a healthy plugin on these samples.
	held   time.Duration // one call while another waits for its model
	slow   time.Duration // what a slow host service takes for one request
	memory int64         // bytes of memory at most, for the large history
	large  int           // bytes of the large history
	long   int           // entries of the longest of the others, which is shortened to them; 0 for as it is
	calls  int           // parallel calls in the check on concurrency
	many   int           // entries of the history that shows how time grows
}

// defaultBounds returns the host's own timeouts where there is one, so a plugin which passes does not time out
// in a host with default settings. The others leave a healthy plugin a factor of ten or more: they must hold on a
// loaded CI runner.
func defaultBounds() bounds {
	set, limits := config.Defaults().Plugins, client.DefaultLimits()
	return bounds{
		start: set.StartTimeout, call: set.OptimizeTimeout, react: time.Second, stop: limits.StopTimeout,
		held: 5 * time.Second, slow: 300 * time.Millisecond, memory: 512 << 20, large: 16 << 20, calls: 32,
		many: 100_000,
	}
}

// suite is the state of one run over one plugin. Checks run one after the other on one goroutine, so it needs no
// lock; goroutines that a check starts only read it.
type suite struct {
	binary  *discover.Binary
	spawner *process.Spawner // of the raw processes
	bounds  bounds
	plugins config.Plugins // see Options
	log     hclog.Logger

	info sdk.Info // of the first process that came up
	// the plugin under a host, shared by most checks; nil: not started yet, or to be restarted
	running *plugins.Strategy
	// all hosts of this run, to be closed at its end
	managers []*plugins.Manager
	lacking  error          // the fault of the machine that ends the run; nil: there was none
	broken   bool           // the plugin does not start, which some check has reported
	asked    *tally         // requests of the first Compress; nil: there was none yet
	idle     sdk.NoOpReason // what it answered; "" if it did something
	unusable error          // why the plugin cannot use the scripted model's answer; nil: it can
	with     []samples.Sample
	huge     *sample  // cache of large()
	few      []sample // cache of base(), and then of small()
	reacted  bool     // few holds all of small()
	// Caches of optimized and compressed, and the model that the latter asked.
	pruned   []tried[optimized]
	squeezed []tried[compressed]
	model    services
}

// judge runs one check and turns its outcome into a result: an error of type skipped means skip, any other error
// fail.
func (s *suite) judge(ctx context.Context, c Check) Result {
	start := time.Now()
	detail, err := c.run(ctx, s)
	r := Result{Check: c.Name, Meaning: c.Meaning, Outcome: Pass, Detail: detail, Duration: time.Since(start)}
	skip, isSkip := errors.AsType[skipped](err)
	saw, isNothing := errors.AsType[nothing](err)
	switch {
	case isSkip:
		r.Outcome, r.Detail = Skip, string(skip)
	case isNothing:
		r.Outcome, r.Detail = Nothing, string(saw)
	// The machine's fault, such as a full disk: the run ends without a verdict on the plugin.
	case errors.Is(err, plugins.ErrHost):
		s.lacking = err
	case err != nil:
		found, ok := errors.AsType[*findings](err)
		if !ok {
			found = &findings{}
			found.add("", err)
			s.noticeHang(err)
		}
		r.Outcome, r.Detail, r.Findings, r.More = Fail, found.Error(), found.all, found.more
		for i := range r.Findings {
			r.Findings[i].Rule = cmp.Or(r.Findings[i].Rule, c.Name)
		}
	}
	return r
}

// noticeHang shortens the time limit of all further calls once a call has timed out. The hang is already reported;
// without this, a plugin that always hangs would take the full limit in every check, and the run half an hour. It
// reports whether err was a timeout.
func (s *suite) noticeHang(err error) (hung bool) {
	if s.broken || !errors.Is(err, plugins.ErrTimeout) && status.Code(err) != codes.DeadlineExceeded {
		return false
	}
	s.bounds.call = min(s.bounds.call, hurry)
	// The old process stays with its manager until the end of the run.
	s.running = nil // its host still has the old limit: start a new one
	return true
}

// hurry is the time limit of calls to a plugin that has hung before.
const hurry = 2 * time.Second

// skipped is the error of a check that has nothing to look at. The text is the reason.
type skipped string

func (s skipped) Error() string { return string(s) }

// errNoStart skips all checks after the one that found that the plugin does not start.
const errNoStart = skipped("the plugin does not start: see above")

// strategy returns the plugin under a host, which is started once and shared by all checks. A check that must not
// share a process uses fresh.
func (s *suite) strategy(ctx context.Context) (*plugins.Strategy, error) {
	if s.running != nil {
		return s.running, nil
	}
	st, _, err := s.fresh(ctx)
	if err == nil {
		s.running = st
	}
	return st, err
}

// fresh returns the plugin in a process of its own, under a host of its own. end stops both; close does it otherwise.
// Only the directory of the binary is searched, with no lock file: trust is not what is checked. One that is built in
// is in no directory.
func (s *suite) fresh(ctx context.Context) (st *plugins.Strategy, end func(), err error) {
	if s.broken {
		return nil, nil, errNoStart
	}
	var dirs, builtIn []string
	if s.binary.BuiltIn {
		builtIn = []string{s.binary.Name}
	} else {
		dirs = []string{filepath.Dir(s.binary.Path)}
	}
	m := plugins.New(plugins.Options{
		Plugins: config.Plugins{
			Dirs: dirs, StartTimeout: s.bounds.start,
			OptimizeTimeout: s.bounds.call, CompressTimeout: s.bounds.call,
			Isolation: s.plugins.Isolation, Grants: s.plugins.Grants, MaxMemoryBytes: s.plugins.MaxMemoryBytes,
		},
		Limits: client.Limits{StopTimeout: s.bounds.stop},
		Logger: s.log, HostVersion: "verify", BuiltIn: builtIn,
	})
	// Before the start, so a plugin that fails to start is cleaned up as well.
	s.managers = append(s.managers, m)
	if st, err = m.Strategy(ctx, s.binary.Name); err != nil {
		s.broken = true
		return nil, nil, err
	}
	s.info = st.Info()
	return st, func() { _ = m.Close() }, nil // check_end.go judges how the plugin stops
}

// close stops all processes of the run. It ignores errors: they are about cleaning up, and the report is complete.
func (s *suite) close() {
	for _, m := range s.managers {
		_ = m.Close()
	}
	_ = s.spawner.Close()
}

// continuous returns the plugin if it has an Optimize, and skipped otherwise.
func (s *suite) continuous(ctx context.Context) (*plugins.Strategy, error) {
	st, err := s.strategy(ctx)
	if err != nil {
		return nil, err
	}
	if st.Info().Trigger.Mode != sdk.ModeContinuous {
		return nil, skipped("its trigger is threshold: it has no Optimize")
	}
	return st, nil
}

// freshContinuous is fresh for a plugin that has an Optimize.
func (s *suite) freshContinuous(ctx context.Context) (st *plugins.Strategy, end func(), err error) {
	if _, err := s.continuous(ctx); err != nil {
		return nil, nil, err
	}
	return s.fresh(ctx)
}

// sentence returns an error as one line that is safe for a terminal. If it carries the plugin's standard error, the
// usual text of several lines is replaced by a short form.
func sentence(err error) string {
	said := err.Error()
	if failure, ok := errors.AsType[*plugins.Error](err); ok && failure.Stderr != "" {
		said = strings.ReplaceAll(said, failure.Error(), failure.Sentence())
	}
	return text.OneLine(said, 2000)
}

// on adds the name of the sample to an error about what a plugin did with it; nil stays nil.
func on(sm *sample, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("history %q: %w", sm.name, err)
}
