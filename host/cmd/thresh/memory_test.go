package main

import (
	"context"
	"runtime"
	"testing"
	"time"
)

var sink []byte

// Memory is given back once what took much has ended, and once only.
func TestMemoryIsGivenBack(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ticks, backs, ended := make(chan time.Time), 0, make(chan struct{})
	go func() {
		defer close(ended)
		giveBack(ctx, ticks, func() { backs++ })
	}()
	tick := func() { ticks <- time.Time{} }
	tick()
	sink = make([]byte, 64<<20)
	tick() // much has happened just now
	tick()
	tick()
	runtime.KeepAlive(sink)
	stop()
	if <-ended; backs != 1 {
		t.Errorf("memory was given back %d times, want 1", backs)
	}
}
