// Package prepare runs a session's turns. A turn is what happens to the history between "the agent is about to call the
// model" and "this is what it may send".
//
// It is for package engine; agent authors reach it through Session.Prepare. Start at [Pipeline.Prepare] and turn.run,
// which read as the turn goes:
//
//	optimise → threshold? → compress → hard limit? → ladder
//
// How the files relate:
//
//	pipeline.go     one session's pipeline: Prepare, Reset, and what is remembered between turns
//	request.go      what a turn is asked: Request and Settings
//	turn.go         one turn, its steps and what they share
//	optimize.go     the density step, with cadence.go (may it change the history now?), sent.go (what the prompt cache
//	                holds) and growth.go (how many requests the savings last)
//	compress.go     the compress step, with failure.go (retry and cooldown)
//	ladder.go       making room without a strategy, with ladder_rungs.go and ladder_plan.go
//	overflow.go     the error when nothing made the request fit
//	port.go         what this package needs from outside: Strategy and Counter
//	services.go     what a strategy may ask the host for during a Compress, with llm.go and budget.go
//	usage.go        the provider's token counts, learned from reported usage
//	manual.go       what users and the lab ask for outside a turn
//
// Nothing here knows what a process or a wire message is: strategies are reached through [Strategy].
//
// # Locking
//
// Pipeline.running is held for the whole of a turn, so that turns of one session never overlap. Pipeline.mu guards
// what is remembered between turns and is held for moments only, never during a call of a strategy, a counter or a
// model: usage may be reported, and settings changed, while a turn runs. The history has a lock of its own; entries
// may be added at any time. Lock order: running, then mu. No lock of this package is held while the history's is
// taken, except running.
package prepare
