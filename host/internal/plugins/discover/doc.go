// Package discover finds the files of strategy plugins, opens them, and reports when they change.
//
// It is for package plugins and its rooms. Start at [Scan], which lists what the plugin directories hold: a [Catalog]
// of [Candidate] files. [Open] opens one of them as a [Binary], and [Watcher] calls back when files in the directories
// change.
//
// Nothing here starts a process or decides whether a file may be run: package trust does, which Scan asks through
// [Guard].
package discover
