package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// doctorReport is the JSON form of doctor, which is stable. Each check is the one that a host makes itself: the report
// says what would happen.
type doctorReport struct {
	// System is the operating system and architecture, as Go names them. Isolation, Integrity and LockFile are the
	// values in force of the settings plugins.isolation, plugins.integrity and plugins.lockFile.
	System    string `json:"system"`
	Isolation string `json:"isolation"`
	Integrity string `json:"integrity"`
	LockFile  string `json:"lockFile"`
	// Configuration has a line for each problem that keeps 'thresh serve' from starting.
	Configuration []string        `json:"configuration"`
	Plugins       []pluginReport  `json:"plugins"`
	Model         *modelReport    `json:"model,omitempty"`
	Prices        pricesReport    `json:"prices"`
	Checks        []isolate.Check `json:"checks"`
	Sessions      *storeReport    `json:"sessions,omitempty"`
	Agents        []agentReport   `json:"agents,omitempty"`
}

// pricesReport says how old prices are. Base is the day of the catalogue that most shipped lists are converted from,
// Days how many have passed since, and Newest the day of the newest list. Lists counts all, also those of File.
type pricesReport struct {
	Lists   int    `json:"lists"`
	Base    string `json:"base"`
	Days    int    `json:"days"`
	Newest  string `json:"newest"`
	File    string `json:"file,omitempty"` // the value of model.priceFile
	Problem string `json:"problem,omitempty"`
}

type storeReport struct {
	// Store is the value of sessions.store without a password. Whole is whether every record could be read and decoded.
	Store string `json:"store"`
	Whole bool   `json:"whole"`
	// Problem says what is wrong with the store, and what to do. Damaged has a line for each session that cannot be
	// read, with what is left of it. Readable is how many sessions could be read whole.
	Problem  string   `json:"problem,omitempty"`
	Damaged  []string `json:"damaged,omitempty"`
	Readable int      `json:"readable"`
}

// keptFrom describes what each isolation measure prevents. A new measure needs a row here.
var keptFrom = map[isolate.Measure]string{
	isolate.Privileges:  "gaining privileges",
	isolate.Files:       "your files",
	isolate.Paths:       "seeing what files exist",
	isolate.Network:     "the network",
	isolate.Sockets:     "others' sockets",
	isolate.Processes:   "starting other programs",
	isolate.Calls:       "other system calls",
	isolate.Signals:     "signals, abstract sockets",
	isolate.Ending:      "outliving the host",
	isolate.Descriptors: "inherited open files",
	isolate.Memory:      "unlimited memory",
	isolate.Disk:        "filling the disk",
	isolate.Threads:     "many threads",
	isolate.Limits:      "open files, core dumps",
}

// doctorCommand asks the kernel for each isolation measure instead of guessing from its version: containers and
// security modules disable what the kernel could do.
func doctorCommand(a *app) *cobra.Command {
	var call, quick, insecure bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say whether this machine, configuration, plugins and model will work",
		Long: `Finds what is wrong with the configuration as 'thresh serve' would use it: strategies without a
plugin, also in profiles, the model's key, price lists, addresses, certificates, the store. Each
problem has the file and line to mend. Then it starts each plugin as 'thresh plugins list' does, and
shows the model that writes summaries; --call makes one tiny call to it, which may cost a fraction
of a cent.

It shows each isolation measure, and whether it works on this machine.

Not limited on any system: CPU time within a call. Where the measure "sockets" does not work, a
plugin can connect to any Unix socket in the file system that your user may open: run thresh as a
user without access to any that matter.

A plugin that you started yourself (--attach) is not isolated, and the socket over which it calls
the host is in the temporary directory (TMPDIR), not in the host's private one.

Exceptions are granted to a plugin by name: plugins.grants.<name>.network, .processes and .read.

It shows how old the price lists are: model.priceFile brings newer ones.

Where sessions are stored (sessions.store), the whole store is read and checked, every record of
every session. For each agent on this machine that 'thresh wrap' knows, it shows which variables are
set already, and what in the agent a base URL switches off.

The exit status is 1 if the configuration, the strategy in force, the model or the store cannot be
used. --quick checks the configuration alone, prints nothing but problems, calls no model, starts no
plugin and changes nothing.`,
		Example: `  thresh doctor
  thresh doctor --call --set compression.profile=summaries
  thresh doctor --quick --config /etc/thresh/thresh.yaml && systemctl reload thresh`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if quick && (call || cmd.Flags().Changed("output")) {
				return usage(cmd, errors.New("--quick makes no report: leave --call and --output out"))
			}
			c, err := a.serveConfig(cmd)
			if err != nil {
				return err
			}
			if quick {
				return a.checkConfiguration(cmd, c, insecure)
			}
			// First: opening an empty file would make a store of it.
			sessions := a.checkStore(cmd, c)
			wrong := a.checkConfiguration(cmd, c, insecure)
			set := c.Settings()
			report := doctorReport{
				System: runtime.GOOS + "/" + runtime.GOARCH, Isolation: set.Plugins.Isolation,
				Integrity: set.Plugins.Integrity, LockFile: set.Plugins.LockFile, Configuration: lines(wrong),
				Prices: checkPrices(set.Model.PriceFile), Checks: window.Isolation(), Agents: a.agentReports(),
				Sessions: sessions,
			}
			if report.Plugins, report.Model, err = a.checkHost(cmd, c, call); err != nil {
				return err
			}
			err = a.show(report, func() error { return a.printReport(report) })
			if err == nil && (wrong != nil || !usable(set.Compression.Strategy, report.Plugins) ||
				report.Model != nil && report.Model.Problem != "" || report.Sessions != nil && !report.Sessions.Whole) {
				return errReported
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&call, "call", false, "ask the model for one word")
	f.BoolVar(&quick, "quick", false, "check the configuration alone")
	f.BoolVar(&insecure, "insecure", false, "check the configuration as 'thresh serve --insecure' would use it")
	a.addOutput(cmd)
	return cmd
}

// lines returns the lines of an error that joins others; never nil.
func lines(err error) []string {
	if err == nil {
		return []string{}
	}
	return strings.Split(err.Error(), "\n")
}

func checkPrices(file string) pricesReport {
	r := pricesReport{File: file, Base: pricing.BaseDay()}
	if day, err := time.Parse(time.DateOnly, r.Base); err == nil {
		r.Days = int(time.Since(day).Hours() / 24)
	}
	catalog, err := pricing.Load(file)
	if err != nil {
		r.Problem = "model.priceFile: " + err.Error()
		return r
	}
	for _, l := range catalog.Lists() {
		r.Lists++
		r.Newest = max(r.Newest, l.AsOf)
	}
	return r
}

// checkStore reads the store; nil if nothing is stored. A store that cannot be
// opened is part of the report: the command is run to find out. Like a service it opens the store next to hosts that
// are using it.
func (a *app) checkStore(cmd *cobra.Command, c *config.Config) *storeReport {
	setting := c.Settings().Sessions.Store
	// "sqlite" without a path means that there is no home directory, and so no file.
	path, file := strings.CutPrefix(setting, "sqlite:")
	info, err := os.Stat(path)
	if setting == "memory" || setting == "sqlite" || file && errors.Is(err, os.ErrNotExist) {
		return nil
	}
	empty := file && err == nil && info.Size() == 0
	r := &storeReport{Store: storeShown(c)}
	if empty {
		r.Problem = "the file is empty: if it had sessions, restore a backup"
		return r
	}
	kept, err := openStore(cmd.Context(), c)
	if err == nil {
		err = kept.Check(cmd.Context())
		// Even if the store is damaged elsewhere: what can be read of each session?
		var readErr error
		if r.Readable, r.Damaged, readErr = journal.Check(cmd.Context(), kept); err == nil {
			err = readErr
		}
		err = errors.Join(err, kept.Close())
	}
	switch fault, ok := errors.AsType[*store.Fault](err); {
	case ok && fault.Cause == store.Corrupt: // not with the advice to run this command
		r.Problem = "it is damaged: stop thresh and restore a backup: " + fault.Err.Error()
	case err != nil:
		r.Problem = err.Error()
	}
	r.Whole = err == nil && len(r.Damaged) == 0
	return r
}

// printReport prints the settings, the table of measures and, in full, the reason for each one that does not work. A
// missing measure is no error: plugins.isolation decides what follows from it.
func (a *app) printReport(r doctorReport) error {
	fmt.Fprintf(a.out, "system             %s\nplugins.isolation  %s\nplugins.integrity  %s\nplugins.lockFile   %s\n",
		r.System, r.Isolation, r.Integrity, dash(r.LockFile))
	a.printConfiguration(r.Configuration)
	a.printPluginStates(r.Plugins)
	a.printModel(r.Model)
	if p := r.Prices; p.Problem != "" {
		fmt.Fprintf(a.out, "prices             %s\n\n", strings.ReplaceAll(p.Problem, "\n", "\n                   "))
	} else {
		fmt.Fprintf(a.out, "prices             %s, most of %s (%s ago), the newest of %s\n\n", plural(p.Lists, "list"), p.Base,
			plural(p.Days, "day"), p.Newest)
	}
	if s := r.Sessions; s != nil && s.Whole {
		fmt.Fprintf(a.out, "sessions.store     %s, which is whole\n\n", s.Store)
	} else if s != nil {
		fmt.Fprintf(a.out, "sessions.store     %s is not whole\n", s.Store)
		for _, line := range append([]string{s.Problem}, s.Damaged...) {
			if line != "" {
				fmt.Fprintf(a.out, "  %s\n", strings.ReplaceAll(line, "\n", "\n  "))
			}
		}
		if s.Readable > 0 {
			fmt.Fprintf(a.out, "  %s can be read whole, and exported\n", plural(s.Readable, "session"))
		}
		fmt.Fprintln(a.out)
	}
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
	a.printAgents(r.Agents)
	return nil
}
