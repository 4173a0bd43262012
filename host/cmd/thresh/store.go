package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/backends"
)

// The store of sessions and access tokens, as the commands open it: with the settings of 'thresh serve', to see what a
// service sees.

// openStore opens the store of a configuration; nil if sessions are in memory only. The caller closes it. Other
// processes may use it at the same time.
func openStore(ctx context.Context, c *config.Config) (store.Store, error) {
	return backends.Open(ctx, c.Settings().Sessions.Store)
}

// storeShown is the value of sessions.store without a password.
func storeShown(c *config.Config) string {
	e, err := c.Explain("sessions.store")
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(e[0].Value)
}

// withStore calls f with the store of sessions and access tokens. Without create, for commands that do not write, a
// missing file is an error. The configuration is that of 'thresh serve', so both use the same store by default.
func (a *app) withStore(
	cmd *cobra.Command, create bool, f func(context.Context, *config.Config, store.Store) error,
) (err error) {
	c, err := a.serveConfig(cmd)
	if err != nil {
		return err
	}
	// Opening a database creates its tables, if they are missing.
	if path, file := strings.CutPrefix(c.Settings().Sessions.Store, "sqlite:"); file && !create {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("no sessions are stored: there is no file %s", displayPath(path))
		}
	}
	kept, err := openStore(cmd.Context(), c)
	if err != nil {
		return err
	}
	if kept == nil {
		return errors.New("sessions.store is memory, which keeps nothing: set it to sqlite or a database")
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	return f(cmd.Context(), c, kept)
}
