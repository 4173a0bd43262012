package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// configCheck finds what is wrong with a configuration before a service is started or reloaded with it.
func configCheck(a *app) *cobra.Command {
	var insecure bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the configuration as 'thresh serve' would use it",
		Long: `Finds everything that is wrong with a configuration and can be known without serving: files and
settings, strategies without a plugin, also in profiles, the model's key, price lists, addresses,
certificates, the store. Each problem is a line on standard error with the file and line to mend;
the exit status is 1 if there is one. It calls no model, starts no plugin and changes nothing.`,
		Example: `  thresh config check
  thresh config check --config /etc/thresh/thresh.yaml && systemctl reload thresh`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.serveConfig(cmd)
			if err != nil {
				return err
			}
			attach, err := a.attach(cmd)
			if err != nil {
				return err
			}
			set := c.Settings()
			h, err := window.Open(window.Options{Config: c, Logger: hclog.NewNullLogger(), Attach: attach,
				Store: store.NewMemory()})
			problems := []error{err}
			if err == nil {
				problems = []error{h.Check(c), h.Close()}
			}
			problems = append(problems, checkListen(c, insecure))
			// Only that it opens: to read a large one takes minutes, and is what doctor does.
			if path, file := strings.CutPrefix(set.Sessions.Store, "sqlite:"); !file || exists(path) {
				kept, err := openStore(cmd.Context(), c)
				if kept != nil {
					err = errors.Join(kept.Ready(cmd.Context()), kept.Close())
				}
				if err != nil {
					problems = append(problems, window.At(c, "sessions.store", fmt.Errorf("sessions.store: %w", err)))
				}
			}
			return errors.Join(problems...)
		},
	}
	cmd.Flags().BoolVar(&insecure, "insecure", false, "as 'thresh serve --insecure' would use it")
	return cmd
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}
