package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/builtin"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
)

// Options say what to run. The zero value runs every check.
type Options struct {
	// Only names the checks to run, in any order; empty: all of [Checks]. Checks always run in the order of [Checks].
	Only []string
	// Logger gets events in the life of the plugin's processes and the plugin's own log. Nil discards them.
	Logger hclog.Logger
	// Plugins are settings, of which those about isolation count: Isolation, Grants and MaxMemoryBytes. The zero value
	// isolates as well as the machine can, and grants nothing.
	Plugins config.Plugins
	// With are further histories to try the plugin on.
	With []samples.Sample
	// RunDir is where files of the run are made, a short path; "" is the system's temporary directory.
	RunDir string
	// Progress is called before each check, on the goroutine of [Run], with the check's name, the number of checks
	// that are done, and the number of checks to run. It may be nil.
	Progress func(check string, done, of int)
}

// ErrBadBinary means that the file cannot be a plugin: it is missing, not executable or misnamed. Nothing was
// started. The message says what to do.
var ErrBadBinary = errors.New("not a strategy plugin")

// ErrUnknownCheck means that [Options.Only] names a check that does not exist. The message lists those that do.
var ErrUnknownCheck = errors.New("unknown check")

// Run checks the plugin in the file binary, whose name must be thresh-strategy-<name>, as in a plugin directory, or the
// strategy of that name that is built in. The plugin is started many times, also without isolation and with the
// permissions of the caller: do not run it on a binary that you would not execute. When Run returns, all processes are
// stopped and all files removed.
//
// Faults of the plugin are in the report, not in the error. An error means that there is no report: [ErrBadBinary],
// [ErrUnknownCheck], a fault of the machine such as a temporary directory that cannot be created, or ctx's error. A run
// takes some seconds; with a plugin that hangs about a minute, since every call has a time limit, which is shortened
// once a call has hung.
func Run(ctx context.Context, binary string, o Options) (*Report, error) {
	return run(ctx, binary, o, defaultBounds())
}

func run(ctx context.Context, binary string, o Options, limits bounds) (*Report, error) {
	s := &suite{bounds: limits, plugins: o.Plugins, log: o.Logger}
	chosen, err := choose(s.checks(), o.Only)
	if err != nil {
		return nil, err
	}
	b, err := examine(binary)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	spawner, err := process.NewSpawner(o.RunDir)
	if err != nil {
		return nil, fmt.Errorf("creating a directory for the plugin: %w", err)
	}
	s.binary, s.spawner = b, spawner
	s.strategies = &conform.Runner{Subject: s, Around: conform.Standard, Limits: limits.Limits, With: o.With,
		More: "name a recording in which it does: --with FILE"}
	if s.log == nil {
		s.log = hclog.NewNullLogger()
	}
	defer s.close()

	r := &Report{Binary: b.Path, Name: b.Name}
	if !b.BuiltIn {
		r.SHA256 = b.Sum
	}
	start := time.Now()
	for i, c := range chosen {
		if o.Progress != nil {
			o.Progress(c.Name, i, len(chosen))
		}
		result := s.judge(ctx, c)
		// A check that was interrupted looks like a failure of the plugin, so no report at all is returned.
		if err := cmp.Or(ctx.Err(), s.lacking); err != nil {
			return nil, err
		}
		r.Results = append(r.Results, result)
	}
	r.Version, r.Trigger, r.RequiresLLM = s.info.Version, s.info.Trigger.Mode, s.info.RequiresLLM
	r.Duration = time.Since(start)
	return r, nil
}

// choose returns the checks with the given names, in the order in which they run; without names, all.
func choose(all []conform.Check, names []string) ([]conform.Check, error) {
	if len(names) == 0 {
		return all, nil
	}
	known := make([]string, len(all))
	for i, c := range all {
		known[i] = c.Name
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%w %q; want %s", ErrUnknownCheck, name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(c conform.Check) bool { return !slices.Contains(names, c.Name) }), nil
}

// examine opens and hashes the file without starting it. All later starts use this open file, so the report describes
// one version of it even if a build replaces the file meanwhile.
func examine(binary string) (*discover.Binary, error) {
	if slices.Contains(builtin.Names(), binary) {
		return discover.Open(discover.BuiltIn(binary), &discover.Hashes{})
	}
	path, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadBinary, err)
	}
	name, ok := discover.StrategyName(filepath.Base(path))
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is not a regular file", ErrBadBinary, path)
	case !ok || name == "":
		return nil, fmt.Errorf("%w: %s: the file must be named %s<name>, with the strategy's name",
			ErrBadBinary, path, discover.FilePrefix)
	case !discover.Executable(info):
		return nil, fmt.Errorf("%w: %s is not executable (chmod +x)", ErrBadBinary, path)
	}
	b, err := discover.Open(discover.Candidate{Name: name, Path: path}, &discover.Hashes{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadBinary, err)
	}
	return b, nil
}
