package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/internal/text"
)

func pluginsCommand(a *app) *cobra.Command {
	return group("plugins", "Make, install, list, lock, try and verify strategy plugins", "",
		newPluginCommand(a), installCommand(a), upgradeCommand(a), removeCommand(a), bundleCommand(a),
		packageCommand(a), searchCommand(a), listCommand(a), lockCommand(a), tryCommand(a), verifyCommand(a))
}

// listCommand starts every trusted plugin, because only the plugin itself can tell its version, trigger and needs.
func listCommand(a *app) *cobra.Command {
	outdated := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the strategy plugins, broken ones with the reason",
		Long: `Lists the strategies that are built in, and executables named thresh-strategy-<name> in the plugin
directories, of which one hides what is built in under the same name. Each is started to ask for its
description, and stopped again. A broken one is listed with the reason and the last lines of its
standard error, and does not affect the others. Listing does not trust a plugin: only using it, or
'thresh plugins lock', writes to the lock file. A file that changed since is listed as untrusted,
with the command that accepts it. The exit status is 1 if every file that was found is broken, or if
a directory that you named cannot be searched.

--outdated lists the installed plugins of which their sources have newer versions.`,
		Example: `  thresh plugins list
  thresh plugins list -o json --plugin-dir ./plugins`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if outdated {
				return a.printOutdated(cmd)
			}
			h, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer h.Close()
			found := listed(h.Plugins(cmd.Context()), h.Config())
			err = a.show(found, func() error { return a.printPlugins(found) })
			return cmp.Or(err, unusable(found, h.Config()))
		},
	}
	cmd.Flags().BoolVar(&outdated, "outdated", false, "ask the sources of installed plugins for newer versions, and list those")
	a.addOutput(cmd)
	a.addColumns(cmd, pluginColumns)
	return cmd
}

// listed drops default plugin directories that do not exist: few users have all of them. A missing directory that the
// user configured is listed: it is likely a typo. The result is never nil: JSON shows [].
func listed(found []plugins.Listing, c *config.Config) []plugins.Listing {
	usual := c.Origin("plugins.dirs").Layer == config.LayerDefault
	out := []plugins.Listing{}
	for _, l := range found {
		if l.State != plugins.StateNoDirectory || !usual {
			out = append(out, l)
		}
	}
	return out
}

// unusable returns an error if a plugin directory cannot be searched, or if all files that were found are broken:
// scripts go by the exit status. Finding none is not an error, and what is built in does not count.
func unusable(found []plugins.Listing, c *config.Config) error {
	var errs []error
	others, broken := 0, 0
	for _, l := range found {
		switch {
		case l.State == plugins.StateNoDirectory:
			errs = append(errs, fmt.Errorf("plugin directory %s: %s (set by: %v)", l.Path, l.Reason,
				c.Origin("plugins.dirs")))
		case l.BuiltIn, l.State == plugins.StateShadowed:
		case l.State == plugins.StateReady, l.State == plugins.StateUntrusted:
			others++
		default:
			broken++
		}
	}
	if others == 0 && broken > 0 {
		errs = append(errs, fmt.Errorf(
			"every plugin file that was found is broken (%d); built-in strategies can be used", broken))
	}
	return errors.Join(errs...)
}

const builtIn = "built in"

// pluginColumns are the columns of 'plugins list'. Name and state have no rank and are never dropped.
var pluginColumns = []table.Column{
	{Name: "name"},
	{Name: "state"},
	{Name: "version", Rank: 2, Min: 8},
	{Name: "trigger", Rank: 1},
	{Name: "threshold", Rank: 4},
	{Name: "llm", Rank: 3},
	{Name: "sha256", Rank: 5},
	{Name: "path", Rank: 1, Min: 28, Middle: true},
}

// printPlugins prints the table, then the reason of each broken plugin and each missing isolation measure, in full: a
// table cell would cut off the path or error number that matters.
func (a *app) printPlugins(found []plugins.Listing) error {
	t := table.New(pluginColumns...)
	for _, p := range found {
		llm, threshold, path := "no", "-", a.underHome(p.Path)
		if p.RequiresLLM {
			llm = "yes"
		}
		if p.DefaultThreshold > 0 {
			threshold = fmt.Sprintf("%g", p.DefaultThreshold)
		}
		if p.EarlyThreshold > 0 {
			threshold += fmt.Sprintf(", early %g", p.EarlyThreshold)
		}
		if p.BuiltIn {
			path = builtIn
		}
		t.Row(dash(p.Name), string(p.State), dash(p.Version), dash(string(p.Trigger)), threshold, llm,
			// 12 of 64 hexadecimal digits tell files apart; the JSON form has all of them.
			fmt.Sprintf("%.12s", dash(p.SHA256)), path)
	}
	if err := a.printTable(t); err != nil {
		return err
	}
	for _, p := range found {
		path := text.Printable(p.Path, maxName)
		if p.BuiltIn {
			path = p.Name + ", " + builtIn
		}
		if why := plugins.Explanation(p); why != "" {
			if p.NewSHA256 != "" {
				why += fmt.Sprintf("; the file is now %.12s", p.NewSHA256)
			}
			fmt.Fprintf(a.out, "\n%s: %s\n", path, why)
		}
		// With isolation best-effort, a measure that this machine does not support must be visible somewhere.
		for _, lacking := range p.Lacking {
			fmt.Fprintf(a.out, "\n%s: not isolated: %s\n", path, lacking)
		}
	}
	return nil
}

func (a *app) underHome(path string) string {
	// An empty home would shorten every absolute path.
	if rest, ok := strings.CutPrefix(path, a.home()+"/"); ok && a.home() != "" {
		path = "~/" + rest
	}
	return text.Printable(path, maxName)
}

func dash(s string) string { return cmp.Or(s, "-") }
