package main

import (
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// openQuietly is open for replays of many sessions with many variants. Warnings of sessions are not logged: the tables
// have their figures, and a log line could not say which file and variant it is about.
func (a *app) openQuietly(cmd *cobra.Command) (*window.Host, error) { return a.openLogging(cmd, true) }

func (a *app) openLogging(cmd *cobra.Command, withoutSessions bool) (*window.Host, error) {
	c, attach, err := a.loadAttached(cmd)
	if err != nil {
		return nil, err
	}
	return window.Open(window.Options{Config: c, Logger: a.shortLog(c.Settings().Log, withoutSessions), Attach: attach})
}

// shortLog says once what this machine lacks for isolation, not once for each process of each strategy, and leaves it to
// the command to say why a plugin cannot be used. Without sessions, it has no warnings of sessions. The levels debug and
// trace have everything.
func (a *app) shortLog(set config.Log, withoutSessions bool) hclog.Logger {
	if level := hclog.LevelFromString(set.Level); level == hclog.Debug || level == hclog.Trace {
		return window.DefaultLogger(a.err, set)
	}
	var mu sync.Mutex
	said := map[any]bool{}
	return window.FilteredLogger(a.err, set, func(level hclog.Level, _ string, args ...any) bool {
		for i := 0; i+1 < len(args); i += 2 {
			switch args[i] {
			case "session":
				return withoutSessions && level == hclog.Warn
			case "to":
				return args[i+1] == plugins.StateBroken
			case "missing":
				mu.Lock()
				defer mu.Unlock()
				known := said[args[i+1]]
				said[args[i+1]] = true
				return known
			}
		}
		return false
	})
}
