// Package pricing knows what providers ask for prompt tokens, and what a prompt costs that shares its beginning with the one
// before it.
//
// It is for the host, which asks whether a rewrite of the history pays, and for programs that compare strategies. Start at
// [Load], which returns the lists that ship together with one's own, and [NewMeter], which prices a session request by
// request.
//
// The lists that ship are in prices.yaml. Every list has the day and the page of its prices: they change often, and whoever
// decides by them should look.
//
// # What the meter takes for granted
//
// The cache holds the last prompt as a whole, and the next one reads all that it has in common with it from the beginning
// on. That is the best case. A provider caches at block boundaries or breakpoints only, so that a little more is written;
// requests may reach a machine that has nothing cached; an agent that marks few breakpoints writes everything anew after
// any change. Surcharges for long prompts and storage fees are not in a list; the notes name them. The system prompt and
// the tool schemas are in no history and so not priced unless the caller counts them in.
package pricing
