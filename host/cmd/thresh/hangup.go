package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// watchHangup decides what SIGHUP does, which a closing terminal sends: it ends the command, as SIGTERM does, unless
// the command has a use for it. nohup ignores the signal, and that stays so. The returned context ends when SIGHUP
// ends the command.
func (a *app) watchHangup(ctx context.Context) context.Context {
	if signal.Ignored(syscall.SIGHUP) {
		return ctx
	}
	ctx, cancel := context.WithCancel(ctx)
	// Hangups that arrive while one is handled count as one more.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer cancel()
		// Another one ends the process at once, as with the other signals.
		defer time.AfterFunc(sameSignal, func() { signal.Reset(syscall.SIGHUP) })
		for range hangups {
			if f := a.hangup.Load(); f != nil {
				(*f)()
				continue
			}
			return
		}
	}()
	return ctx
}

// onHangup makes f what SIGHUP does until the returned function is called. f is called by one goroutine.
func (a *app) onHangup(f func()) (undo func()) {
	a.hangup.Store(&f)
	return func() { a.hangup.Store(nil) }
}
