// Package trust decides which plugin files may be run.
//
// It is for package plugins. Start at [New], which makes a [Policy]: [Policy.Judge] says whether an opened file may be
// started, and [Policy.Remember] and [Policy.Lock] write to the lock file what a plugin was.
//
// Strategies that are built into the host need no lock file: who can change them can change the host.
package trust
