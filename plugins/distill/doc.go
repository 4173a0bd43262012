// Package distill is the strategy distill: it keeps what people and the AI said and what the AI wrote, and of results,
// line by line, what later calls need. It needs no LLM and rewrites the history rarely.
//
// It is written with the public SDK alone, and is the example of docs/strategies-in-depth.md for a strategy of some
// size. Start reading at [Strategy.Compress].
//
//   - schedule.go says when to compress, and how far.
//   - strategy.go declares the settings.
//   - ingest.go leaves out what new results repeat (Optimize). It changes only what was never sent. repeats.go finds
//     where a run of lines stands.
//   - plan.go takes a history apart: what stays, and what may lose lines.
//   - words.go finds identifiers in text, index.go numbers them.
//   - cut.go finds the texts of a history that may lose lines, and divides them into lines.
//   - choose.go decides what of the AI stays, and at a price which lines. render.go makes the new entries.
//   - fold.go makes one line of exchanges of which nothing is left.
package distill
