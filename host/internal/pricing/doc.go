// Package pricing knows what providers charge for tokens, and what a prompt costs that begins like the last.
//
// It is for the host, which asks whether rewriting the history pays, and for the lab, which compares strategies by
// cost. Start at [Load] for the price lists, [Catalog.Choose], which picks one as the setting model.priceList says, and
// [NewMeter], which prices a session request by request. [NewLedger] tells what a session saved by its bill.
//
// catalog.go and match.go find lists by name and by model; tariff.go says which of a list's prices a request is billed by; file.go
// reads a user's file; parse.go and values.go check it, and foreign.go, genai.go, litellm.go and modelsdev.go read the
// catalogues of others; yaml.go writes a catalog in the same format; meter.go applies a list to requests; ledger.go
// compares what was sent with what would have been.
//
// The shipped lists are in base.yaml, which convert.go makes of a catalogue that others keep ('make prices'), and in
// prices.yaml, where that lacks a model or is behind: each with the day and the web page of its prices. What models take
// and give, in tokens, is in windows.yaml and windows-base.yaml ([WindowOf]).
//
// # What the meter assumes
//
// The cache holds the whole last prompt, and the next request reads all that it shares with it from the beginning. That
// is the best case. Real providers cache only at block boundaries or breakpoints, so a little more is written; a
// request may reach a machine that has nothing cached; an agent with few breakpoints rewrites everything after any
// change. Storage fees and prices by the time of day are only in a list's note. The system prompt and the tool schemas
// are priced only if the caller adds them.
package pricing
