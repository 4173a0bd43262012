package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// maxSettings limits how many values of settings are compared: each takes a process of its own.
const maxSettings = 6

// checkSettingsCalls demands that a call follows its own settings: sessions of one process can have different ones. An
// answer of a process that had calls with others is compared with one of a process that had none.
func checkSettingsCalls(ctx context.Context, s *suite) (string, error) {
	st, err := s.strategy(ctx)
	if err != nil {
		return "", err
	}
	info := st.Info()
	if len(info.Config) == 0 {
		return "", skipped("it declares no settings")
	}
	ops := operations(info)
	if _, err := s.compressing(ctx); errors.As(err, new(skipped)) && len(ops) > 1 {
		ops = ops[:1]
	} else if err != nil {
		return "", err
	}
	sm := newSample(samples.Mixed(samples.Matters(), 1))
	defaults, err := withSettings(ctx, st, sm, ops, defaultsOf(info))
	if err != nil {
		return "", err
	}
	alone := func(settings []byte) (answers, error) {
		other, end, err := s.fresh(ctx)
		if err != nil {
			return answers{}, err
		}
		defer end()
		return withSettings(ctx, other, sm, ops, settings)
	}
	var found findings
	tried, followed := 0, 0
	for _, f := range info.Config {
		for _, value := range edges(f) {
			if tried == maxSettings {
				break
			}
			tried++
			settings := settingsOf(info, f.Key, value)
			among, err := withSettings(ctx, st, sm, ops, settings)
			if err != nil {
				continue // other checks complain
			}
			first, err := alone(settings)
			if s.broken { // it did not start
				return "", err
			}
			how := fmt.Sprintf("%s = %s, the first call of a process and one after calls with other settings", f.Key,
				text.OneLine(string(value), 100))
			switch {
			case err != nil:
			case first.optimized != among.optimized:
				found.judged(sm.name, &check.Error{Index: -1, Err: conform.ErrSettings, Detail: "Optimize: " + how,
					Was: first.edits, Came: among.edits})
			case first != among:
				// A Compress may answer at random: another process has to agree with the first one.
				if again, err := alone(settings); err == nil && again == first {
					found.judged(sm.name, first.Different(conform.ErrSettings, among.Compressed, "Compress: "+how))
				}
			}
			if first != defaults {
				followed++
			}
		}
	}
	if err := found.err(); err != nil {
		return "", err
	}
	if followed == 0 {
		return "", nothing(fmt.Sprintf("%d values of settings change nothing in the history %q", tried, sm.name))
	}
	return fmt.Sprintf("%d values, of which %d change the answer", tried, followed), nil
}

// answers are what a plugin makes of a history with some settings. They are the same if and only if they are equal.
type answers struct {
	optimized, edits string
	conform.Compressed
}

func withSettings(ctx context.Context, st *plugins.Strategy, sm sample, ops []plugins.Op, settings []byte) (a answers, err error) {
	for _, op := range ops {
		st.EndSession("settings")
		if op == plugins.OpOptimize {
			call := prepare.OptimizeCall{Call: callOf(sm, "settings", 1), OptimizeParams: sdk.OptimizeParams{Density: density}}
			call.Config = settings
			got, err := judgeOptimize(ctx, st, sm, call)
			if err != nil {
				return a, err
			}
			a.optimized, a.edits = got.bytes, got.String()
			continue
		}
		sm := sm.curated()
		call := compressCall(sm, st.Info())
		call.SessionID, call.Config = "settings", settings
		got, err := judgeCompress(ctx, st, sm, call, &services{})
		if err != nil {
			return a, err
		}
		a.Compressed = got.said()
	}
	return a, nil
}
