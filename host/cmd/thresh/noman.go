//go:build !man

package main

import "github.com/spf13/cobra"

// buildCommands are commands of the build; there are none in the thresh that ships.
func buildCommands() []*cobra.Command { return nil }
