package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
)

// Options say what to run. The zero value runs every check.
type Options struct {
	// Only names the checks to run, in any order; empty: all of [Checks].
	Only []string
	// Logger gets what happens to the plugin and what it logs; nil: nobody does.
	Logger hclog.Logger
	// Progress is called before each check with its name, how many were done, and how many there are; nil: nobody is.
	Progress func(check string, done, of int)
}

// ErrBadBinary: there is nothing to be checked. The message says what to do.
var ErrBadBinary = errors.New("no strategy plugin")

// ErrUnknownCheck: [Options.Only] names a check that there is not.
var ErrUnknownCheck = errors.New("unknown check")

// Run checks the plugin in the file binary, whose name must be thresh-strategy-<name>, as in a plugin directory. The
// plugin is started many times, with the rights of the caller. Nothing of it is left when Run returns.
//
// What is wrong with the plugin is in the report. An error means that there is none: [ErrBadBinary],
// [ErrUnknownCheck], a temporary directory that cannot be made, or ctx's error. It takes some seconds; with a plugin
// that hangs about a minute, since every call has a bound, and all calls have less of it once one has hung.
func Run(ctx context.Context, binary string, o Options) (*Report, error) {
	return run(ctx, binary, o, defaultBounds())
}

func run(ctx context.Context, binary string, o Options, limits bounds) (*Report, error) {
	chosen, err := choose(o.Only)
	if err != nil {
		return nil, err
	}
	b, err := examine(binary)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	spawner, err := process.NewSpawner("")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the plugin: %w", err)
	}
	s := &suite{binary: b, spawner: spawner, bounds: limits, log: o.Logger}
	if s.log == nil {
		s.log = hclog.NewNullLogger()
	}
	defer s.close()

	r := &Report{Binary: b.Path, Name: b.Name, SHA256: b.Sum}
	start := time.Now()
	for i, c := range chosen {
		if o.Progress != nil {
			o.Progress(c.Name, i, len(chosen))
		}
		result := s.judge(ctx, c)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.Results = append(r.Results, result)
	}
	r.Version, r.Trigger, r.RequiresLLM = s.info.Version, s.info.Trigger.Mode, s.info.RequiresLLM
	r.Duration = time.Since(start)
	return r, nil
}

// choose returns the checks with the given names, in the order in which they run.
func choose(names []string) ([]Check, error) {
	all := Checks()
	if len(names) == 0 {
		return all, nil
	}
	known := make([]string, len(all))
	for i, c := range all {
		known[i] = c.Name
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%w %q; there are %s", ErrUnknownCheck, name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(c Check) bool { return !slices.Contains(names, c.Name) }), nil
}

// examine opens the file without starting it.
func examine(binary string) (*discover.Binary, error) {
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
		return nil, fmt.Errorf("%w: %s is no regular file", ErrBadBinary, path)
	case !ok || name == "":
		return nil, fmt.Errorf("%w: %s: the file must be named %s<name>, with the strategy's name", ErrBadBinary, path, discover.FilePrefix)
	case info.Mode().Perm()&0o111 == 0:
		return nil, fmt.Errorf("%w: %s is not executable (chmod +x)", ErrBadBinary, path)
	}
	b, err := discover.Open(discover.Candidate{Name: name, Path: path}, &discover.Hashes{}, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadBinary, err)
	}
	return b, nil
}
