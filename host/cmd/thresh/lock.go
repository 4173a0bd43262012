package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
)

func lockCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lock [NAME]...",
		Short: "Say that plugins are good as they are",
		Long: `Starts the plugins with these names, or all that were found, and writes the SHA-256 of each file and what it says about
itself to the lock file (plugins.lockFile), by its path. From then on a plugin whose file has changed is refused until it is
locked again; a file that was moved is what it was. Plugins of the same name in two directories are two.

What came with thresh, in the folder plugins beside its executable and of the same owner, is trusted without being locked,
except with plugins.integrity=locked.`,
		Example: `  thresh plugins lock high-density
  thresh plugins lock --plugin-dir ./plugins`,
		RunE: func(cmd *cobra.Command, names []string) error {
			h, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer h.Close()
			locked, err := h.LockPlugins(cmd.Context(), names...)
			if a.output == "json" {
				return errors.Join(a.printJSON(locked), err)
			}
			for _, name := range slices.Sorted(maps.Keys(locked)) {
				fmt.Fprintf(a.out, "%s  %s  %s\n", locked[name].SHA256, name, locked[name].Path)
			}
			return err
		},
	}
	a.addOutput(cmd)
	return cmd
}
