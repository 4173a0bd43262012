// Package outcome describes what one turn of a session did to its history, what that cost, and what limits applied.
//
// It is for programs that embed the host, which meet [Outcome] as api.PrepareAnswer.Outcome, and for readers of the JSON
// that 'thresh run' returns under "outcome". [Plugin] is apart: it describes a plugin that was found. The types are
// data only and import nothing of the host.
//
// Start at [Outcome]. Its parts follow the steps of a turn, a file each: [Optimize] (optimize.go), [Compress]
// (compress.go), then the steps taken at the hard limit (ladder.go). change.go holds what happened to single entries.
//
// Unless a comment says otherwise, token counts are counts of the host in the encoding of the session, durations are
// in nanoseconds in JSON, and the zero value of a field means that the step did not run.
package outcome
