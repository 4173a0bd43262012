// Package metrics measures what a host does, with OpenTelemetry.
//
// It is for package window, which creates a [Recorder] when it is opened with a meter provider (host.Options.Meter) and
// passes it the outcome of each turn. Without a provider nothing is measured; the global one is never used. Package
// endpoint is a provider that serves Prometheus.
//
// # The instruments
//
// docs/production.md lists them.
//
// A turn is one Prepare. tokens.before is what the request would have counted without the turn, tokens.after what it
// counts, both without pending tokens; thresh.request.tokens has the whole request, by the provider's own count where
// known. Savings are counted once, in the turn that removes the tokens, although every later request is smaller too. A
// manual Compress is not a turn, but its run, its savings, the plugin's time and the model's cost are measured.
//
// thresh.calibration.ratio is recorded once a turn, from the agent's first report of usage on. thresh.host.duration
// excludes thresh.plugin.call.duration and thresh.llm.duration; the latter is for all calls of one Compress.
//
// thresh.service.duration is for a served host ([Requests]). A watch lasts as long as its client.
//
// The proxy's instruments ([Proxy]) are about requests to models. tokens.before is a client's request, tokens.after
// what was sent of it, both by the host's count; usage is the provider's. added.duration begins when the body has
// arrived; upstream.duration ends with the header of the answer.
//
// # The attributes
//
//	outcome   of a turn: ok, overflow (too large for the model after everything was tried), canceled (by the agent),
//	          error
//	          of a request: ok, the status of gRPC such as not_found, or "http 404" where no method was reached
//	          of a request to the proxy: edited, unchanged, dry-run, passed (as it came), failed, refused
//	          of a provider's answer: ok, 4xx, 5xx, unreachable
//	api       messages, chat, responses, gemini
//	method    of the service, such as Prepare; absent if a request reached none
//	          of a panic: that of the door, such as window.prepare, or which door it was: http, mcp, proxy
//	step      optimize, compress, and the rungs of the ladder
//	rung      optimize, huge-results, compress, tool-results, oldest-exchanges, last-results, oldest-human-text
//	          (see outcome.Rung)
//	result    of an optimize: applied, noop, held (the cadence did not let the edits through), skipped, failed,
//	          canceled
//	          of a compress: applied, noop, remembered (it had nothing to do, and nothing was added since), cooldown
//	          (a Compress that failed is not tried again yet), failed, canceled
//	reason    of an optimize that was applied or held: what the cadence decided by, an outcome.DecisionReason
//	          of skipped: not-continuous, clean, gated
//	          of a compress that was applied: ineffective, where it gained little
//	          of noop and remembered: empty-history, tail-covers-all, already-under-target, no-gain,
//	          too-few-compressible, shrunk-below-minimum, ineffective, does-not-pay, other
//	          of a request that was passed: single-question, compaction, continued, open-tools, unpaired, unknown-form,
//	          too-large, encoded-body, busy; of one that failed: an api.Kind, limit (of a token), view (it cannot be
//	          written in the API's form), panic
//	          of a plugin's failure: quarantined, host (the machine lacked something for a start), crashed,
//	          timeout, bad-answer, strategy (it returned an error), llm (the model failed it), not-plugin,
//	          incompatible, bad-info, info-changed, bad-config, untrusted,
//	          not-granted, not-isolated, other
//	trigger   threshold, hard-limit, manual, cache-cold, other
//	call      optimize, compress; of a failure also start
//	state     a plugins.State; the series of the state that the plugin is in is 1, and there is no other
//	type      input (neither read from nor written to the cache), cache_read, cache_write, output
//	strategy  the strategy in force; none for a turn that failed before its settings were read
//	profile, model  as they are configured, not as the provider calls the model
//
// An attribute without a value is left out. Names over the first hundred of each kind are "other", which bounds the
// number of series. Attributes never contain output of plugins or models, ids, paths, names of tools, error texts, or
// text of a conversation.
package metrics
