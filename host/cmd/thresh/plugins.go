package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins"
)

func pluginsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugins",
		Short: "Show the strategies that were found",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List the plugins in the plugin directories, the broken ones with the reason",
		Long: `Looks for executables named thresh-strategy-<name> in the plugin directories, starts each to ask what it is, and stops it
again. One that is broken is listed with the reason and hurts no other.`,
		Example: `  thresh plugins list
  thresh plugins list -o json --plugin-dir ./bin/plugins`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer h.Close()
			found, err := listed(h.Plugins(cmd.Context()), h.Config())
			if err != nil {
				return err
			}
			if a.output == "json" {
				return a.printJSON(found)
			}
			return a.printPlugins(found, h.Config().Settings().Plugins.Dirs)
		},
	}
	a.addOutput(list)
	cmd.AddCommand(list, lockCommand(a), verifyCommand(a))
	return cmd
}

// listed leaves out directories that cannot be searched where nobody asked for them: few people have the default ones all.
func listed(found []plugins.Listing, c *config.Config) ([]plugins.Listing, error) {
	dirs, err := c.Explain("plugins.dirs")
	if err != nil {
		return nil, err
	}
	out := []plugins.Listing{}
	for _, l := range found {
		if l.State != plugins.StateNoDirectory || dirs[0].Origin.Layer != config.LayerDefault {
			out = append(out, l)
		}
	}
	return out, nil
}

func (a *app) printPlugins(found []plugins.Listing, dirs []string) error {
	if len(found) == 0 {
		fmt.Fprintf(a.err, "no plugins in %s\n", strings.Join(dirs, ", "))
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVERSION\tTRIGGER\tTHRESHOLD\tLLM\tSHA256\tSTATE\tPATH")
	for _, p := range found {
		llm, threshold := "no", "-"
		if p.RequiresLLM {
			llm = "yes"
		}
		if p.DefaultThreshold > 0 {
			threshold = fmt.Sprintf("%g", p.DefaultThreshold)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.12s\t%s\t%s\n",
			dash(p.Name), dash(p.Version), dash(string(p.Trigger)), threshold, llm, dash(p.SHA256), p.State, p.Path)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range found {
		if p.Reason != "" {
			fmt.Fprintf(a.out, "\n%s: %s\n", p.Path, p.Reason)
		}
		for _, lacking := range p.Lacking {
			fmt.Fprintf(a.out, "\n%s: not isolated: %s\n", p.Path, lacking)
		}
	}
	return nil
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
