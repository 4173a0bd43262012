//go:build man

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// buildCommands are commands of the build: 'make dist' makes the manual pages with a thresh of its own, so the one that
// ships does not carry the generator.
func buildCommands() []*cobra.Command {
	return []*cobra.Command{{
		Use:    "man DIR",
		Short:  "Write a manual page for each command into a directory",
		Hidden: true,
		Args:   args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			// The date is from SOURCE_DATE_EPOCH: the same source makes the same pages.
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "thresh", Manual: "thresh"}, names[0])
		},
	}}
}
