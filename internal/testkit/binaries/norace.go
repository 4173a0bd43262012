//go:build !race

package binaries

const underRace = false
