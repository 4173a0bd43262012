package verify

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
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
	st, err := s.continuous(ctx)
	if err != nil {
		return "", err
	}
	info := st.Info()
	if len(info.Config) == 0 {
		return "", skipped("it declares no settings")
	}
	sm := newSample(samples.Mixed(samples.Matters(), 1))
	ask := func(st *plugins.Strategy, settings []byte) (optimized, error) {
		call := prepare.OptimizeCall{Call: callOf(sm, "settings", 1), OptimizeParams: sdk.OptimizeParams{Density: density}}
		call.Config = settings
		st.EndSession("settings")
		return judgeOptimize(ctx, st, sm, call)
	}
	defaults, err := ask(st, defaultsOf(info))
	if err != nil {
		return "", err
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
			among, err := ask(st, settings)
			if err != nil {
				continue // other checks complain
			}
			other, end, err := s.fresh(ctx)
			if err != nil {
				return "", err
			}
			alone, err := ask(other, settings)
			end()
			if err == nil && alone.bytes != among.bytes {
				found.judged(sm.name, different(conform.ErrSettings, alone, among, fmt.Sprintf("%s = %s, the first call of a "+
					"process and one after calls with other settings", f.Key, text.OneLine(string(value), 100))))
			}
			if alone.bytes != defaults.bytes {
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
