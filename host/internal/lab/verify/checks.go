package verify

import (
	"context"

	"github.com/thresh-dev/thresh/internal/conform"
)

// Check is one requirement on a plugin.
type Check struct {
	// Name is what [Options.Only] and the report call it.
	Name string
	// Meaning is the requirement in one sentence, for the help text and reports. It states what must hold, not what
	// is done to find out.
	Meaning string

	// run returns a detail (what was observed, for a passing check) or an error: what is wrong with the plugin, or
	// [conform.Skipped]. It may start processes and must leave none behind; checks share state through the suite only.
	run func(context.Context, *suite) (detail string, err error)
}

// Checks returns all checks in the order in which they run: cheap and fundamental ones first, so a plugin that does not
// start at all is reported as that; then those of every strategy, which package conform has; and last those that stress
// or kill processes. Names are stable, since CI configurations mention them.
func Checks() []Check {
	out := []Check{
		{"handshake", "the handshake line is right, and the plugin is ready in time", checkHandshake},
		{"stdout", "nothing but the handshake line is on standard output", checkStdout},
		{"getinfo", "what GetInfo answers is acceptable to a host", checkGetInfo},
		{"getinfo-stable", "GetInfo answers the same again and again, over three starts", checkGetInfoStable},
		{
			"settings-defaults",
			"the plugin accepts its own defaults and every bound that it declares",
			checkSettingsDefaults,
		},
		{
			"settings-garbage",
			"garbage settings are refused as INVALID_ARGUMENT with the key, or ignored; they end nothing",
			checkSettingsGarbage,
		},
		{
			"call-order",
			"calls before Configure are refused, and so is Optimize without a continuous trigger",
			checkCallOrder,
		},
	}
	for _, c := range conform.Checks() {
		out = append(out, Check{c.Name, c.Meaning, func(ctx context.Context, s *suite) (string, error) {
			return c.Run(ctx, s.strategies)
		}})
	}
	return append(out,
		Check{"cancellation", "work for a cancelled call stops within a second", checkCancellation},
		Check{"memory", "the largest history needs at most 512 MiB of memory", checkMemory},
		Check{"sigint", "SIGINT, which reaches every process of a terminal, is ignored", checkSIGINT},
		Check{"sigterm", "SIGTERM ends the process within two seconds, with exit code 0", checkSIGTERM},
		Check{"lifeline", "the plugin goes within a second when the host is gone, however that came about", checkLifeline},
	)
}
