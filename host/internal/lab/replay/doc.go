// Package replay drives recorded sessions through the real host and the real plugins, turn by turn.
//
// It is for the rooms of the lab that measure strategies (compare, explain) and for the command line. A recorded
// session is first read into a [Recording] by [Record]: entries are counted once, and the requests that the recorded
// agent made are found, with what each of them would have counted if nothing had been done. Then [Recording.Turns]
// replays it with given settings and yields a [Turn] for each of those requests. Everything else is a fold over
// turns: [Totals.Count] adds them up. Leaving the loop stops the replay.
//
// Files: recording.go knows what does not depend on the strategy, window.go how much its model takes, turns.go drives a session, turn.go and totals.go
// say what came of one turn and of many.
package replay
