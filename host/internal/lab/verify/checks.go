package verify

import "context"

// Check is one requirement on a plugin.
type Check struct {
	// Name is what [Options.Only] and the report call it.
	Name string
	// Meaning is the requirement in one sentence, for the help text and reports. It states what must hold, not what
	// is done to find out.
	Meaning string

	// run returns a detail (what was observed, for a passing check) or an error: what is wrong with the plugin, or
	// skipped. It may start processes and must leave none behind; checks share state through the suite only.
	run func(context.Context, *suite) (detail string, err error)
}

// Checks returns all checks in the order in which they run: cheap and fundamental ones first, so a plugin that
// does not start at all is reported as that, and checks that stress or kill processes last. Names are stable, since
// CI configurations mention them.
func Checks() []Check {
	return []Check{
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
		{"settings-calls", "each call follows its own settings, whatever the calls before had", checkSettingsCalls},
		{
			"call-order",
			"calls before Configure are refused, and so is Optimize without a continuous trigger",
			checkCallOrder,
		},
		{
			"optimize-valid",
			"the host accepts what Optimize makes of every history, the largest included",
			checkOptimizeValid,
		},
		{
			"optimize-deterministic",
			"Optimize answers the same request the same in three processes",
			checkOptimizeDeterministic,
		},
		{
			"optimize-pure",
			"Optimize does not depend on what else it was asked, on sessions, or on time",
			checkOptimizePure,
		},
		{"optimize-idempotent", "Optimize finds nothing to do in what it made itself", checkOptimizeIdempotent},
		{
			"optimize-delta",
			"Optimize answers the same whether the plugin is sent what is new or the whole history",
			checkOptimizeDelta,
		},
		{
			"compress-valid",
			"the host accepts what Compress makes of every history, the largest included",
			checkCompressValid,
		},
		{
			"compress-human",
			"what people said is kept, or the metadata counts what is gone; the newest of it stays",
			checkCompressHuman,
		},
		{
			"compress-target",
			"Compress gets to the target, or says that it missed it, or that there is nothing to do",
			checkCompressTarget,
		},
		{
			"compress-pure",
			"Compress does not depend on what else it was asked, or on sessions",
			checkCompressPure,
		},
		{
			"statements",
			"what is written into a history is true, as far as that can be told",
			checkStatements,
		},
		{"services-slow", "Compress works when host services are slow", checkServicesSlow},
		{
			"services-failing",
			"a failing host service makes the call fail with its code; no no-op hides it",
			checkServicesFailing,
		},
		{"services-window", "what is sent to the model fits its window, with the answer", checkServicesWindow},
		{"services-huge", "enormous answers of host services end nothing", checkServicesHuge},
		{"concurrency", "32 calls at once get the answers that they would get one by one", checkConcurrency},
		{"growth", "four times the history takes about four times the processor time", checkGrowth},
		{"cancellation", "work for a cancelled call stops within a second", checkCancellation},
		{"memory", "the largest history needs at most 512 MiB of memory", checkMemory},
		{"sigint", "SIGINT, which reaches every process of a terminal, is ignored", checkSIGINT},
		{"sigterm", "SIGTERM ends the process within two seconds, with exit code 0", checkSIGTERM},
		{"lifeline", "the plugin goes within a second when the host is gone, however that came about", checkLifeline},
	}
}
