package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/internal/buildinfo"
)

// versionCommand prints what a bug report needs. It reads no settings: it works on a machine whose settings are broken.
// The commit is unknown if the build had no version control data, as with 'go build' from an unpacked archive.
func versionCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go version of this build",
		Example: `  thresh version
  thresh version -o json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			info := buildinfo.Get()
			if a.output == "json" {
				return a.printJSON(info)
			}
			_, err := fmt.Fprintf(
				a.out, "thresh %s\ncommit %s\n%s\n", info.Version, cmp.Or(info.Commit, "unknown"), info.Go,
			)
			return err
		},
	}
	a.addOutput(cmd)
	return cmd
}
