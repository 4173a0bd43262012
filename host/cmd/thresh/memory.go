package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// limitMemory keeps a program that serves near what its sessions may take, unless GOMEMLIMIT says something else: one
// half more, for the program and what is not collected yet. It is a limit for the collector and refuses nothing. Until
// ctx ends, what is free goes back to the machine when nothing happens: Go gives it back minutes later, or never.
func (a *app) limitMemory(ctx context.Context, sessions int) {
	const (
		least = 256 << 20 // bytes; below, the collector would do nothing else
		code  = 64 << 20  // of the program and its database, which Go does not count
	)
	if sessions > 0 && a.getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(max(sessions, least))/2*3 - code)
	}
	go giveBack(ctx, time.Tick(10*time.Second), debug.FreeOSMemory)
}

// giveBack calls back at a tick since whose predecessor little was allocated, if much was since the last time.
func giveBack(ctx context.Context, ticks <-chan time.Time, back func()) {
	const little, much = 4 << 20, 16 << 20 // bytes
	all := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	for seen, given := uint64(0), uint64(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		metrics.Read(all)
		now := all[0].Value.Uint64()
		if now-seen < little && now-given >= much {
			back()
			given = now
		}
		seen = now
	}
}
