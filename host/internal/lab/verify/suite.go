package verify

import (
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
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// bounds are what a plugin is held to.
type bounds struct {
	start  time.Duration // from the process to the accepted Configure
	call   time.Duration // one Optimize or Compress, of the largest history
	react  time.Duration // to a cancellation, and to the end of the host
	stop   time.Duration // to SIGTERM
	held   time.Duration // a call while another waits for its model
	slow   time.Duration // what a slow host service takes for one request
	memory int64         // bytes of memory at most, for the large history
	large  int           // bytes of the large history
	calls  int           // at once
}

func defaultBounds() bounds {
	set := config.Defaults().Plugins
	return bounds{
		start: set.StartTimeout, call: set.OptimizeTimeout, react: time.Second, stop: set.StopTimeout,
		held: 5 * time.Second, slow: 300 * time.Millisecond, memory: 512 << 20, large: 16 << 20, calls: 32,
	}
}

// suite is one run over one plugin.
type suite struct {
	binary  *discover.Binary
	spawner *process.Spawner // of the raw processes
	bounds  bounds
	log     hclog.Logger

	info     sdk.Info // of the first process that came up
	running  *plugins.Strategy
	managers []*plugins.Manager
	broken   bool   // it was reported that the plugin does not start
	asked    *tally // what a first Compress asked the host for; nil: there was none yet
	unusable error  // why it cannot use what the scripted model answers
	huge     *sample
	few      []sample
}

// judge runs one check. A check that finds fault returns an error, one that has nothing to look at a skipped.
func (s *suite) judge(ctx context.Context, c Check) Result {
	start := time.Now()
	detail, err := c.run(ctx, s)
	r := Result{Check: c.Name, Meaning: c.Meaning, Outcome: Pass, Detail: detail, Duration: time.Since(start)}
	var skip skipped
	switch {
	case errors.As(err, &skip):
		r.Outcome, r.Detail = Skip, string(skip)
	case err != nil:
		r.Outcome, r.Detail = Fail, sentence(err)
		s.noticeHang(err)
	}
	return r
}

// noticeHang gives a plugin less time for all further calls once it has hung: what there is to say about it is said,
// and the run is to end.
func (s *suite) noticeHang(err error) (hung bool) {
	if s.broken || !errors.Is(err, plugins.ErrTimeout) && status.Code(err) != codes.DeadlineExceeded {
		return false
	}
	s.bounds.call = min(s.bounds.call, hurry)
	s.running = nil // its host has the old bound
	return true
}

// hurry is what a call gets of a plugin that has hung.
const hurry = 2 * time.Second

// skipped says why a check has nothing to look at.
type skipped string

func (s skipped) Error() string { return string(s) }

// errNoStart is for all checks after the one that said that the plugin does not start.
const errNoStart = skipped("the plugin does not start: see above")

// strategy returns the plugin under a host, started once for all checks.
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

// fresh returns the plugin in a process of its own, under a host of its own. end ends it; so does the end of the run.
func (s *suite) fresh(ctx context.Context) (st *plugins.Strategy, end func(), err error) {
	if s.broken {
		return nil, nil, errNoStart
	}
	m := plugins.New(plugins.Options{
		Plugins: config.Plugins{
			Dirs: []string{filepath.Dir(s.binary.Path)}, StartTimeout: s.bounds.start, StopTimeout: s.bounds.stop,
			OptimizeTimeout: s.bounds.call, CompressTimeout: s.bounds.call,
		},
		Logger: s.log, HostVersion: "verify",
	})
	s.managers = append(s.managers, m)
	if st, err = m.Strategy(ctx, s.binary.Name); err != nil {
		s.broken = true
		return nil, nil, err
	}
	s.info = st.Info()
	return st, func() { _ = m.Close() }, nil // what it leaves behind is for other checks to find
}

func (s *suite) close() {
	for _, m := range s.managers {
		_ = m.Close()
	}
	_ = s.spawner.Close()
}

// continuous returns the plugin if it has an Optimize.
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

// sentence is an error in one line that is fit for a terminal.
func sentence(err error) string {
	var failure *plugins.Error
	said := err.Error()
	if errors.As(err, &failure) && failure.Stderr != "" {
		said = strings.ReplaceAll(said, failure.Error(), failure.Sentence())
	}
	return text.OneLine(said, 600)
}

// on names the sample in an error about what a plugin did with it.
func on(sm *sample, err error) error { return fmt.Errorf("history %q: %w", sm.name, err) }
