package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/internal/text"
)

// lockCommand records the hashes of plugins in the lock file, the user's statement of trust; with
// plugins.integrity=locked, only locked plugins start. If some plugins cannot be locked, the others still are.
func lockCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lock [NAME]...",
		Short: "Trust plugins in their present state",
		Long: `Starts the named plugins, or all in the plugin directories, and writes the path, the SHA-256 and the
description of each one to the lock file (plugins.lockFile). From then on a plugin whose file has
changed is refused until it is locked again. A plugin that was moved without a change stays locked.
Plugins of the same name in two directories are locked separately.

Strategies that are built in are trusted as thresh is, and are not locked.`,
		Example: `  thresh plugins lock keep-last
  thresh plugins lock --plugin-dir ./plugins`,
		// A plugin must run to be locked: its description is part of what is trusted.
		RunE: func(cmd *cobra.Command, names []string) error {
			h, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer h.Close()
			locked, err := h.LockPlugins(cmd.Context(), names...)
			for _, name := range slices.Sorted(maps.Keys(locked)) {
				a.logChange(h.Config(), "plugin locked", "plugin", name, "sha256", locked[name].SHA256)
			}
			switch set := h.Config().Settings().Plugins; {
			case len(locked) > 0:
				a.say(hclog.Info, "written to "+set.LockFile)
			case err == nil:
				a.say(hclog.Info, "nothing to lock: no plugin in "+strings.Join(set.Dirs, ", "))
			}
			if a.output == "json" {
				return errors.Join(a.printJSON(locked), err)
			}
			// Like sha256sum with the name in between, sorted: two runs can be compared with diff.
			for _, name := range slices.Sorted(maps.Keys(locked)) {
				fmt.Fprintf(a.out, "%s  %s  %s\n", locked[name].SHA256, name,
					text.Printable(locked[name].Path, maxName))
			}
			return err
		},
	}
	a.addOutput(cmd)
	return cmd
}
