package verify

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
)

// bounds are the limits that a plugin must keep. Tests shorten them; see defaultBounds for the real ones.
type bounds struct {
	start  time.Duration // from the process to the accepted Configure
	call   time.Duration // one Optimize or Compress, of the largest history
	react  time.Duration // to a cancellation, and to the end of the host
	stop   time.Duration // to SIGTERM
	memory int64         // bytes of memory at most, for the large history
	conform.Limits
}

// defaultBounds returns the host's own timeouts where there is one, so a plugin which passes does not time out
// in a host with default settings. The others leave a healthy plugin a factor of ten or more: they must hold on a
// loaded CI runner.
func defaultBounds() bounds {
	set, limits := config.Defaults().Plugins, client.DefaultLimits()
	return bounds{
		start: set.StartTimeout, call: set.OptimizeTimeout, react: time.Second, stop: limits.StopTimeout,
		memory: 512 << 20, Limits: conform.DefaultLimits(),
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
	lacking  error // the fault of the machine that ends the run; nil: there was none
	broken   bool  // the plugin does not start, which some check has reported
	// strategies runs the checks that every strategy has to pass, over the wire; the suite is its subject.
	strategies *conform.Runner
}

// judge runs one check.
func (s *suite) judge(ctx context.Context, c conform.Check) conform.Result {
	r, err := c.Judge(ctx, s.strategies)
	// The machine's fault, such as a full disk: the run ends without a verdict on the plugin.
	if errors.Is(err, plugins.ErrHost) {
		s.lacking = err
	} else if r.Outcome == conform.Fail {
		s.noticeHang(err)
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

// errNoStart skips all checks after the one that found that the plugin does not start.
const errNoStart = conform.Skipped("the plugin does not start: see above")

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
