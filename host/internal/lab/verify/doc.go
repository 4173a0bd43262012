// Package verify judges strategy plugins: it runs a binary as a host would, in every way that has gone wrong before,
// and reports what happened in each.
//
// It is for those who are about to trust a plugin, its author or the person who installs it, through `thresh plugins
// verify`. Start at [Run], which returns a [Report]; [Checks] lists what is checked.
//
// # How it works
//
// checks.go lists the checks; the files check_….go hold them; suite.go holds the state of one run. A check about
// answers talks to the plugin through package plugins, so what passes here passes in the host too, and judges
// the answer with the host's own validator. A check about the process itself (raw.go) starts the binary through the
// host's process layer, plugins/process, and calls it through plugins/client's Raw, without supervision: a host would
// tidy up what the check has to see, such as exit codes, noise on standard output, or a process that outlives its
// host. Such a process is not isolated, and its host services do not end with a call, so it shows whether the
// plugin cancels its requests by itself.
//
// Every check on time is a bound that a healthy plugin stays far below. Work that goes on after a cancellation is
// measured in processor time, so a busy machine fails no plugin.
//
// Input is made for the purpose (package samples) and the same in every run, but for recordings that the user names; so
// is the model that strategies with requires_llm are given (services.go). No money is touched; of the settings, those
// about isolation hold. What a plugin reacts to it is shown more of. The answers to all histories are asked for once and
// judged by several checks. A check reports what it finds (findings.go), or that it saw nothing to judge.
package verify
