package verify

import (
	"context"

	"github.com/thresh-dev/thresh/internal/conform"
)

// Checks returns all checks in the order in which they run: cheap and fundamental ones first, so a plugin that does not
// start at all is reported as that; then those of every strategy, which package conform has; and last those that stress
// or kill processes. Names are stable, since CI configurations mention them.
func Checks() []conform.Check { return (&suite{}).checks() }

// checks are those of one run. A check may start processes and must leave none behind; checks share state through the
// suite only.
func (s *suite) checks() []conform.Check {
	own := func(name, meaning string, run func(context.Context, *suite) (string, error)) conform.Check {
		return conform.Check{Name: name, Meaning: meaning, Run: func(ctx context.Context, _ *conform.Runner) (string, error) {
			return run(ctx, s)
		}}
	}
	out := []conform.Check{
		own("handshake", "the handshake line is right, and the plugin is ready in time", checkHandshake),
		own("stdout", "nothing but the handshake line is on standard output", checkStdout),
		own("getinfo", "what GetInfo answers is acceptable to a host", checkGetInfo),
		own("getinfo-stable", "GetInfo answers the same again and again, over three starts", checkGetInfoStable),
		own("settings-defaults",
			"the plugin accepts its own defaults and every bound that it declares", checkSettingsDefaults),
		own("settings-garbage",
			"garbage settings are refused as INVALID_ARGUMENT with the key, or ignored; they end nothing", checkSettingsGarbage),
		own("call-order",
			"calls before Configure are refused, and so is Optimize without a continuous trigger", checkCallOrder),
	}
	out = append(out, conform.Checks()...)
	return append(out,
		own("cancellation", "work for a cancelled call stops within a second", checkCancellation),
		own("memory", "the largest history needs at most 512 MiB of memory", checkMemory),
		own("sigint", "SIGINT, which reaches every process of a terminal, is ignored", checkSIGINT),
		own("sigterm", "SIGTERM ends the process within two seconds, with exit code 0", checkSIGTERM),
		own("lifeline", "the plugin goes within a second when the host is gone, however that came about", checkLifeline),
	)
}
