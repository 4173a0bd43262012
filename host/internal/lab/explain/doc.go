// Package explain shows what became of each entry of a recorded session: whether it is kept, or in which turn, by which
// step and by which rule it was trimmed or removed, what superseded it, and what that saved.
//
// It is for the commands `thresh explain` and `thresh sessions show`. Start at [Run], which replays a session and feeds
// a [Recorder] with its turns; the result is an [Explanation].
// [Describe] says in one line what an entry is.
//
// Files: run.go drives the replay, recorder.go folds its turns, explanation.go is the result, what.go the descriptions,
// shares.go what tools and files take.
package explain
