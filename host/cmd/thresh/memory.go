package main

import "runtime/debug"

// limitMemory keeps a program that serves near what its sessions may take, unless GOMEMLIMIT says something else: one
// half more, for the program and what is not collected yet. It is a limit for the collector and refuses nothing.
func (a *app) limitMemory(sessions int) {
	const (
		least = 256 << 20 // bytes; below, the collector would do nothing else
		code  = 32 << 20  // of the program itself, which Go does not count
	)
	if sessions > 0 && a.getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(max(sessions, least))/2*3 - code)
	}
}
