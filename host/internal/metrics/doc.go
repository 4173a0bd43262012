// Package metrics measures what a host does, with OpenTelemetry.
//
// It is for the host, which makes a [Recorder] when it is opened with a meter provider (host.Options.Meter) and tells it what
// each turn did. Without a provider there is no recorder, and nothing is measured; the global provider is never used. An
// agent's own provider decides where measurements go; a program without one can have them served by package endpoint.
//
// # The instruments
//
//	instrument                   kind        unit       attributes
//	thresh.turns                 counter     {turn}     strategy, outcome
//	thresh.tokens.before         counter     {token}    strategy
//	thresh.tokens.after          counter     {token}    strategy
//	thresh.tokens.saved          counter     {token}    strategy, step
//	thresh.request.tokens        histogram   {token}    strategy
//	thresh.host.duration         histogram   s          strategy
//	thresh.optimize.runs         counter     {run}      strategy, result, reason
//	thresh.compress.runs         counter     {run}      strategy, trigger, result, reason
//	thresh.ladder.steps          counter     {step}     strategy, rung
//	thresh.calibration.ratio     histogram   1
//	thresh.plugin.call.duration  histogram   s          strategy, call
//	thresh.plugin.failures       counter     {failure}  strategy, call, reason
//	thresh.plugin.state          gauge       {plugin}   strategy, state
//	thresh.sessions              up-down     {session}
//	thresh.llm.calls             counter     {call}     profile, model
//	thresh.llm.attempts          counter     {attempt}  profile, model
//	thresh.llm.tokens            counter     {token}    profile, model, type
//	thresh.llm.cost              counter     {USD}      profile, model
//	thresh.llm.duration          histogram   s          profile, model
//
// A turn is one Prepare of a session. Its tokens before are what the request would have counted without the turn, after what
// it counts, pending tokens not included; thresh.request.tokens has the whole request, by the provider's own count where
// the agent reported one. Tokens are saved once, in the turn that removes them, though every later request is smaller too.
// A Compress by hand is no turn, but its run, its savings, the plugin's time and the model's cost are measured.
//
// thresh.calibration.ratio is recorded once a turn, as soon as the agent reported usage.
//
// thresh.host.duration is the turn without the plugin's and the model's time, which are in thresh.plugin.call.duration and
// thresh.llm.duration. The latter is the time of all calls of one Compress.
//
// # The attributes
//
//	outcome   ok, overflow (too large for the model although everything was done), canceled (the agent gave up), error
//	step      optimize, compress, and the last three rungs
//	rung      optimize, compress, tool-results, oldest-exchanges, oldest-human-text (see window.Rung)
//	result    of an optimize: applied, empty, held (the cadence left what the strategy would prune), skipped, failed, canceled
//	          of a compress: applied, noop, remembered (it had nothing to do, and nothing was added since), cooldown
//	          (a Compress that failed is not tried again yet), failed, canceled
//	reason    of an optimize that was applied or held: what the cadence decided by, a window.DecisionReason
//	          of skipped: not-continuous, clean, gated
//	          of a compress that was applied: ineffective, where it gained little
//	          of noop and remembered: empty-history, tail-covers-all, already-under-target, no-gain, too-few-compressible,
//	          shrunk-below-minimum, ineffective, other
//	          of a plugin's failure: quarantined, crashed, timeout, bad-answer, strategy (it returned an error), llm (the
//	          model failed it), not-plugin, incompatible, bad-info, info-changed, bad-config, untrusted, not-granted,
//	          not-isolated, other
//	trigger   threshold, hard-limit, manual, other
//	call      optimize, compress; of a failure also start
//	state     a plugins.State; the series of the state that the plugin is in is 1, and there is no other
//	type      input (neither read from nor written to the cache), cache_read, cache_write, output
//	strategy  the name of the plugin's file; none where a turn failed before there was a plugin
//	profile, model  as they are configured, not as the provider calls the model
//
// An attribute without a value is left out. Names over the first hundred of each are "other", so that the number of series
// is bounded whatever sessions set. What plugins and models say, ids, paths, names of tools, texts of errors and of the
// conversation are in no attribute.
package metrics
