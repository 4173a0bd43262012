//go:build race

package engine_test

// longest is the largest recorded session that is played, in bytes: the race detector makes counting tokens ten times
// slower.
const longest = 100 << 10
