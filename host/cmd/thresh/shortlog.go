package main

import (
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// openQuietly is open for replays of many sessions with many variants. Warnings of sessions are not logged: the tables
// have their figures, and a log line could not say which file and variant it is about.
func (a *app) openQuietly(cmd *cobra.Command) (*window.Host, error) { return a.openToTry(cmd, true) }

// openToTry is open for commands that try strategies on recorded sessions: one, or many. Who names a plugin directory on
// the command line builds what is in it: it is run as it is, without a look into the lock file and without a new entry.
func (a *app) openToTry(cmd *cobra.Command, many bool) (*window.Host, error) {
	c, attach, err := a.loadAttached(cmd)
	if err == nil && !many {
		c, err = useAttached(cmd, c, attach)
	}
	if err != nil {
		return nil, err
	}
	named := func(key string) bool { return c.Origin(key).Layer == config.LayerFlag }
	set := c.Settings().Plugins
	if named("plugins.dirs") && !named("plugins.lockFile") && set.Integrity == trust.TOFU && len(set.Dirs) > 0 {
		if c, err = c.With("plugins.lockFile", "", cmd.Name()); err != nil {
			return nil, err
		}
		a.say(hclog.Info, "plugins in "+strings.Join(set.Dirs, ", ")+" are run as they are, as you named the directory")
	}
	return a.openHost(c, attach, many)
}

func (a *app) openHost(c *config.Config, attach map[string]string, withoutSessions bool) (*window.Host, error) {
	return window.Open(window.Options{Config: c, Logger: a.shortLog(c.Settings().Log, withoutSessions), Attach: attach})
}

// shortLog says once what this machine lacks for isolation, not once for each process of each strategy, and leaves it
// to the command to say why a plugin cannot be used. Without sessions, it has no warnings of sessions. The levels debug
// and trace have everything.
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
