// Package sdktest runs a strategy inside a test: no process, no plugin directory, no model.
//
// It is for authors of strategies. Start with [Compress], and [Optimize] if the strategy is continuous: they call it as
// the host would, with the token counter, todos, prompts and model answers of a [Config], and fail the test where the
// host would refuse the answer. [ParseHistory] reads a history from JSON; [CheckInfo] checks what the strategy says of
// itself. [Remains] and [RemainsText] say what should be left.
//
// [Conformance] tries a strategy on histories that have confused one before, as `thresh plugins verify` does.
//
// The rules that it applies are the host's own (internal/check), so a strategy that passes here is not refused
// later. Settings that a test leaves out are the host's defaults.
//
// What it does not show is how the strategy behaves as a process; for that, build it and run `thresh plugins verify`.
package sdktest
