// Package verify judges strategy plugins: it runs a binary as a host would, in every way that has gone wrong before,
// and reports what happened in each.
//
// It is for those who are about to trust a plugin, its author or the person who installs it, through `thresh plugins
// verify`. Start at [Run], which returns a [Report]; [Checks] lists what is checked.
//
// # How it works
//
// What every strategy is held to, package conform checks: remote.go makes an sdk.Strategy of a process. It talks to the
// plugin through package plugins, and judges what it answers with the host's own validator, so what passes here passes
// in the host too. Here are the checks that need a process: checks.go lists them, the files check_….go hold them, and
// suite.go holds the state of one run. They start the binary (raw.go) through the
// host's process layer, plugins/process, and call it through plugins/client's Raw, without supervision: a host would
// tidy up what the check has to see, such as exit codes, noise on standard output, or a process that outlives its
// host. Such a process is not isolated, and its host services do not end with a call, so it shows whether the
// plugin cancels its requests by itself.
//
// Every check on time is a bound that a healthy plugin stays far below. Work that goes on after a cancellation is
// measured in processor time, so a busy machine fails no plugin.
//
// No money is touched; of the settings, those about isolation hold.
package verify
