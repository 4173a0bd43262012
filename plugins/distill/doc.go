// Package distill is the strategy distill: it keeps what people and the AI said and what the AI wrote, and of results
// the lines that later calls are likely to need. It needs no LLM and rewrites the history rarely.
//
// It is written with the public SDK alone, and is the example of docs/strategies-in-depth.md for a strategy of some
// size. Start reading at [Strategy.Compress], in strategy.go.
//
//   - schedule.go says when to compress, and how far.
//   - optimize.go leaves out what new results repeat. It changes only what was never sent. repeats.go finds where a run
//     of lines stands.
//   - plan.go takes a history apart: what stays, and what may go.
//   - choose.go decides what of the AI stays, and which lines of results. words.go finds the identifiers in them.
//   - render.go makes the new history, and fold.go the line in it that names the calls that went.
package distill
