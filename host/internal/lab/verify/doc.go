// Package verify judges strategy plugins: it runs a binary as a host would, in every way that has gone wrong before, and
// says for each what came of it.
//
// It is for whoever is about to trust a plugin, its author or the one who installs it, through `thresh plugins verify`.
// A program can call it too: start at [Run], which returns a [Report]; [Checks] lists what is checked and
// [Report.WriteTable], [Report.WriteJUnit] and the report's JSON show it.
//
// # How it works
//
// checks.go lists the checks, and the files check_….go hold them. A check about answers talks to the plugin through package
// plugins, so that what passes here passes in the host too, and judges what comes back with the host's own validator. A
// check about the process itself (bare.go) starts the binary without a host between, since a host would tidy up what is
// to be seen: exit codes, noise on standard output, a process that outlives its host.
//
// All input is made for the purpose (package samples) and the same in every run; so is the model that strategies with
// requires_llm are given (services.go). Nobody's real conversation, settings or money is touched.
package verify
