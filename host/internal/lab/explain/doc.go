// Package explain shows what became of each entry of a recorded session: whether it is kept, or in which turn, by which
// step and by which rule it was trimmed or removed, what superseded it, and what that saved. It also compares two
// histories.
//
// It is for the commands `thresh explain`, `thresh diff` and `thresh restore`. Start at [Run], which replays a
// session and feeds a [Recorder] with its turns; the result is an [Explanation]. [Diff] compares two histories, and
// [Describe] says in one line what an entry is.
//
// Files: run.go, recorder.go and explanation.go are explain; diff.go, match.go and align.go are diff, from the
// comparison of blocks down to the alignment of two lists of keys; what.go has the descriptions that both use.
package explain
