// Package trust decides which plugin files may be run.
//
// It is for package plugins. Start at [New], which makes a [Policy]: [Policy.Judge] says whether an opened file may
// be started, and [Policy.Remember] and [Policy.Lock] write to the lock file what a plugin was.
//
//   - guard.go refuses files and directories that other users could change.
//   - lockfile.go reads and writes the lock file, in which each plugin's hash and self-description are recorded.
//   - trust.go combines both according to the setting plugins.integrity.
//   - snapshot.go holds what a plugin says about itself in the form in which it is compared and stored.
//
// Strategies that are built into the host need no lock file: who can change them can change the host.
package trust
