// Package turns knows which parts of a history belong together, for strategies that remove entries or cut a history.
//
// A model refuses a history in which a tool's response has lost its call. So the unit of removal is not the entry but
// the exchange: a call with all of its responses. A strategy that keeps the last entries only needs [SafeTail]; one
// that cuts uses [CutForward] or [CutBackward]; one that removes from the middle uses [Exchanges]. All of them use
// [Pair], which finds the call of every response by the rule of [Matcher]. [Pairs.Late] tells where providers are
// stricter than that rule.
//
// Calls count in entries of the AI, responses in entries of a tool. Every function here takes time proportional to the
// history and never changes it.
package turns
