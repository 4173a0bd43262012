// Package pricing knows what providers charge for tokens, and what a prompt costs that shares its beginning with the
// prompt before it.
//
// It is for the host, which asks whether rewriting the history pays, and for the lab, which compares strategies by
// cost. Start at [Load], which returns the price lists that ship together with the user's own; [Catalog.Choose],
// which picks one as the setting model.priceList says; and [NewMeter], which prices a session request by request.
//
// How the files relate: catalog.go finds lists by name and by model; file.go reads a user's file within bounds;
// parse.go and values.go check it and report every problem with its line; yaml.go writes a catalog back in the same
// format; meter.go applies a list to requests.
//
// The lists that ship are in prices.yaml. Each carries the day and the web page of its prices. Prices change often:
// look before you decide by them.
//
// # What the meter assumes
//
// The cache holds the last prompt as a whole, and the next request reads all that it has in common with it from the
// beginning. That is the best case. Real providers cache at block boundaries or breakpoints only, so a little more is
// written. A request may reach a machine that has nothing cached. An agent that sets few breakpoints rewrites
// everything after any change. Surcharges for long prompts and storage fees are not part of a list; the notes mention
// them. The system prompt and the tool schemas are not part of the history, so they are priced only if the caller
// adds them.
package pricing
