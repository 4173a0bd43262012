// Package distill is the strategy distill: it keeps what people and the AI said and what the AI wrote, and of the rest
// what is newest. It needs no LLM and rewrites the history rarely.
//
// It is written with the public SDK alone, and is the example of docs/strategies-in-depth.md for a strategy of some
// size. Start reading at [Strategy.Compress].
//
//   - schedule.go says when to compress, and how far.
//   - strategy.go declares the settings.
//   - ingest.go leaves out what new results repeat (Optimize). It changes only what was never sent. repeats.go finds
//     where a run of lines stands.
//   - plan.go takes a history apart and decides what stays. render.go makes the new entries.
//   - fold.go makes one line of the calls that went.
package distill
