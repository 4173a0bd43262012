// Package replay runs recorded sessions through the real window and the real plugins, turn by turn, and says what that
// saved.
//
// It is for the command line and for programs that evaluate strategies. Start at [Run].
package replay
