// Package prepare runs a session's turns. A turn is what happens to the history between "the agent is about to call the
// model" and "this is what it may send". It is for package window. Start at [Pipeline.Prepare] and turn.run, which read
// as the turn runs:
//
//	optimise → threshold? → compress → hard limit? → ladder
//
// optimize.go is the density step, with cadence.go (may it change the history now?), sent.go (what the prompt cache
// holds) and growth.go (how many requests the savings last). huge.go cuts huge results before a Compress. ladder*.go make
// room without a strategy. Every failure of the strategy ends in failure.go (turn.fails); missing.go is a strategy that
// cannot be had. thinking.go takes out thinking that a model would refuse behind a change. port.go is what this package
// needs from outside, services.go what a strategy may ask the host for during a Compress. Nothing here knows what a
// process or a wire message is.
//
// # Locking
//
// Pipeline.running is held for the whole of a turn: turns of one session never overlap. Pipeline.mu guards what is
// remembered between turns and is held for moments only, never during a call of a strategy, a counter or a model: usage
// may be reported, and settings changed, while a turn runs. The history has a lock of its own; entries may be added at
// any time. Lock order: running, then mu. No lock of this package is held while the history's is taken, except running.
package prepare
