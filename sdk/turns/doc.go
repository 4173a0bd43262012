// Package turns knows which parts of a history belong together, for strategies that remove entries or cut a history.
//
// A model refuses a history in which a tool's response has lost its call. So the unit in which old things go is not the
// entry but the exchange: a call with all of its responses. A strategy that keeps the last entries needs [SafeTail] and
// nothing else; one that cuts uses [CutForward] or [CutBackward]; one that removes from the middle uses [Exchanges].
// They all stand on [Pair], which finds the call of every response by the rule of [Matcher]. [Pairs.Late] tells where
// providers are stricter than that rule: they take responses right after the calls only.
//
// Calls count in entries of the AI, responses in entries of a tool; in an entry of any other speaker neither is one.
// Every function here takes time in proportion to the history and never changes it.
package turns
