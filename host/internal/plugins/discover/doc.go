// Package discover finds the files of strategy plugins, opens them, and reports when they change.
//
// It is for package plugins and its rooms. Start at [Scan], which lists what the plugin directories hold: a [Catalog]
// of [Candidate] files. [Open] opens one of them as a [Binary], and [Watcher] calls back when files in the
// directories change.
//
//   - scan.go searches directories; names.go holds the rule for file names.
//   - binary.go opens and hashes a file; execute_*.go make the open file executable, so that what was hashed is
//     what runs.
//   - interpreter.go reads which program runs a file: a script's interpreter or a program's loader.
//   - watch.go decides when to look again; dirwatch.go keeps file system watches on directories that come and go.
//
// Nothing here starts a process, and nothing here decides whether a file may be run: package trust does. Scan asks it
// through the interface [Guard].
package discover
