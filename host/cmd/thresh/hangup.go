package main

import (
	"context"
	"os/signal"
	"syscall"
	"time"
)

// watchHangup decides what SIGHUP does, which a closing terminal sends: it ends the command, like SIGTERM, unless the
// command has a use for it. If the signal is ignored from the start, as under nohup, it ends nothing. The returned
// context ends when SIGHUP ends the command.
func (a *app) watchHangup(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	ignored := signal.Ignored(syscall.SIGHUP)
	if !ignored {
		signal.Notify(a.hangups, syscall.SIGHUP)
	}
	go func() {
		defer cancel()
		// Another one ends the process at once, like the other signals.
		defer time.AfterFunc(sameSignal, func() { signal.Reset(syscall.SIGHUP) })
		for range a.hangups {
			if f := a.hangup.Load(); f != nil {
				(*f)()
			} else if !ignored {
				return
			}
		}
	}()
	return ctx
}

// onHangup makes f what SIGHUP does until the returned function is called, under nohup too. f is called by one
// goroutine.
func (a *app) onHangup(f func()) (undo func()) {
	a.hangup.Store(&f)
	signal.Notify(a.hangups, syscall.SIGHUP)
	return func() { a.hangup.Store(nil) }
}
