//go:build !race

package engine_test

// longest is the largest recorded session that is played, in bytes.
const longest = 1 << 30
