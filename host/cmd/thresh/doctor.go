package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/cmd/thresh/internal/table"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// doctorReport is what doctor prints for programs.
type doctorReport struct {
	System    string          `json:"system"`
	Isolation string          `json:"isolation"`
	Integrity string          `json:"integrity"`
	LockFile  string          `json:"lockFile"`
	Checks    []isolate.Check `json:"checks"`
}

// keptFrom says in words what a measure keeps plugins from.
var keptFrom = map[isolate.Measure]string{
	isolate.Privileges: "gaining rights",
	isolate.Files:      "files of yours",
	isolate.Network:    "the network",
	isolate.Processes:  "starting other programs",
	isolate.Signals:    "signals, abstract sockets",
	isolate.Memory:     "private memory without end",
	isolate.Limits:     "open files, core dumps",
}

func doctorCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this machine can keep plugins from",
		Long: `Shows, measure by measure, whether this machine can isolate plugins, and the settings that are about that. It starts no plugin.

Not limited anywhere: processor time, the number of threads (but for the memory that they take), memory that is made to be
shared (the limit is on private memory), and sockets of other programs that lie in the file system and that your user may connect
to by their path. Run thresh as a user who can reach none that matter.

A plugin that was started by hand (--attach) is not isolated, and the socket over which it asks the host lies in the
temporary directory (TMPDIR), not in the host's private one.

What one plugin needs beyond that, it is granted by name: plugins.grants.<name>.network, .processes and .read.`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := a.configOptions(cmd)
			if err != nil {
				return err
			}
			c, err := config.Load(o)
			if err != nil {
				return err
			}
			set := c.Settings().Plugins
			report := doctorReport{
				System: runtime.GOOS + "/" + runtime.GOARCH, Isolation: set.Isolation, Integrity: set.Integrity,
				LockFile: set.LockFile, Checks: engine.Isolation(),
			}
			if a.output == "json" {
				return a.printJSON(report)
			}
			return a.printReport(report)
		},
	}
	a.addOutput(cmd)
	return cmd
}

func (a *app) printReport(r doctorReport) error {
	fmt.Fprintf(a.out, "system             %s\nplugins.isolation  %s\nplugins.integrity  %s\nplugins.lockFile   %s\n\n", r.System, r.Isolation, r.Integrity, dash(r.LockFile))
	t := table.New(table.Column{Name: "measure"}, table.Column{Name: "keeps plugins from"}, table.Column{Name: "works"},
		table.Column{Name: "how", Min: 20})
	var missing []isolate.Check
	for _, c := range r.Checks {
		works := "yes"
		if !c.Works {
			works, missing = "no", append(missing, c)
		}
		t.Row(string(c.Measure), keptFrom[c.Measure], works, c.How)
	}
	if err := a.printSmallTable(t); err != nil {
		return err
	}
	for _, c := range missing { // in full: the table may cut it
		fmt.Fprintf(a.out, "\n%s: %s\n", c.Measure, c.How)
	}
	return nil
}
