package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/builtin"
	"github.com/thresh-dev/thresh/host/internal/lab/verify"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/text"
)

// verifyCommand runs the conformance suite of package verify on a plugin, without a host. Only the settings about
// isolation count: a plugin that needs a grant could not be verified without it, and everything else must have the same
// result on the author's machine and on a user's.
func verifyCommand(a *app) *cobra.Command {
	var only, with []string
	cmd := &cobra.Command{
		Use:   "verify BINARY",
		Short: "Run the conformance checks on a plugin",
		Long: `Runs the plugin in the file BINARY, which must be named thresh-strategy-<name>, on synthetic
histories and with a scripted model. BINARY may also be the name of a strategy that is built in. It
costs nothing, and uses of your conversations only those that --with names. Of your settings it uses
plugins.isolation, plugins.grants and plugins.maxMemoryBytes. It takes some seconds. The exit status
is 1 if a check failed. A check has nothing to judge if the plugin does with no history what the
check is about: name a recording in which it does. --log-level debug shows what the plugin logs.

The checks:
` + listChecks() + `

The rules for answers, each by its code:
` + listRules(),
		Example: `  thresh plugins verify high-density
  thresh plugins verify --only optimize-pure,optimize-idempotent ./thresh-strategy-mine
  thresh plugins verify --with session.jsonl ./thresh-strategy-mine
  thresh plugins verify -o json ./thresh-strategy-mine`,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) != 1 {
				return usage(cmd, fmt.Errorf("needs one BINARY, got %d", len(given)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, given []string) error {
			logger, err := a.verifyLogger(cmd)
			if err != nil {
				return err
			}
			// Before the first check: a plugin must not fail because of wrong settings.
			c, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			bar := newProgress(a.err)
			binary := given[0]
			if !slices.Contains(builtin.Names(), binary) {
				binary = a.path(binary)
			}
			recordings, err := a.samples(cmd.Context(), with)
			if err != nil {
				return err
			}
			report, err := verify.Run(cmd.Context(), binary, verify.Options{
				Only: only, Logger: logger, Progress: bar.step, Plugins: c.Settings().Plugins, RunDir: a.temp(), With: recordings,
			})
			bar.clear()
			switch {
			case errors.Is(err, verify.ErrUnknownCheck):
				return usage(cmd, err)
			case err != nil:
				return err
			}
			err = a.show(report, func() error { return a.printVerified(report) })
			if err == nil && !report.OK() {
				err = errReported
			}
			return err
		},
	}
	cmd.Flags().StringSliceVar(&only, "only", nil, "run these `CHECKS` only, separated by commas")
	complete(cmd, "only", checkNames()...)
	cmd.Flags().StringSliceVar(&with, "with", nil, "also try it on the recordings in these `FILES`, separated by commas")
	a.addOutput(cmd)
	return cmd
}

// samples reads recordings as histories to try a plugin on.
func (a *app) samples(ctx context.Context, files []string) (out []samples.Sample, err error) {
	for _, file := range files {
		t, err := a.read(ctx, file)
		if err != nil {
			return nil, err
		}
		a.warnings(file, t.Notes)
		out = append(out, samples.Sample{Name: displayName(file), History: t.Entries})
	}
	return out, nil
}

// printVerified prints a table that fits the terminal, then each finding in full. Its last line is the sum, which is
// what remains on the screen.
func (a *app) printVerified(r *verify.Report) error {
	t := table.New(table.Column{Name: "check"}, table.Column{Name: "result"}, table.Column{Name: "time", Right: true},
		table.Column{Name: "detail", Min: 20})
	for _, result := range r.Results {
		detail := result.Detail
		if n := len(result.Findings) + result.More; n > 0 {
			detail = plural(n, "finding") + ", below"
		} else if result.Outcome == conform.Nothing {
			detail = "why, below"
		}
		t.Row(result.Check, string(result.Outcome), fmt.Sprintf("%.2fs", result.Duration.Seconds()), detail)
	}
	// In a pipe nothing is cut.
	width := table.Width(a.out, cmp.Or(a.getenv("COLUMNS"), "100000"))
	if err := t.Write(a.out, table.Options{Width: width}); err != nil {
		return err
	}
	for _, result := range r.Results {
		switch result.Outcome {
		case conform.Fail:
			fmt.Fprintf(a.out, "\n%s failed:\n", result.Check)
			for _, f := range result.Findings {
				a.printFinding(f)
			}
			if result.More > 0 {
				fmt.Fprintf(a.out, "  and %d more\n", result.More)
			}
		case conform.Nothing:
			fmt.Fprintf(a.out, "\n%s has nothing to judge: %s\n", result.Check, result.Detail)
		}
	}
	_, err := fmt.Fprintf(a.out, "\n%s\n", r.Summary())
	return err
}

func (a *app) printFinding(f conform.Finding) {
	place := f.Place()
	if place != "" {
		place += ": "
	}
	fmt.Fprintf(a.out, "  %s: %s%s\n", f.Rule, place, f.Problem)
	for _, line := range []struct{ name, text string }{{"was", f.Was}, {"came", f.Came}, {"do", f.Do}} {
		if line.text != "" {
			fmt.Fprintf(a.out, "    %-5s %s\n", line.name, text.Printable(line.text, len(line.text)))
		}
	}
}

// verifyLogger returns a logger only if --log-level asks for one. The suite provokes hundreds of errors on purpose, and
// their log lines would look like findings. hclog would treat an unknown level as "no level", hence the check.
func (a *app) verifyLogger(cmd *cobra.Command) (hclog.Logger, error) {
	// The flag, not the setting log.level: that is about a host, and its default would log.
	if a.logLevel == "" {
		return nil, nil
	}
	level := hclog.LevelFromString(a.logLevel)
	if level == hclog.NoLevel {
		return nil, usage(cmd, fmt.Errorf("--log-level is trace, debug, info, warn or error, not %q", a.logLevel))
	}
	return hclog.New(&hclog.LoggerOptions{Name: "thresh", Level: level, Output: a.err}), nil
}

func checkNames() []string {
	var names []string
	for _, c := range verify.Checks() {
		names = append(names, c.Name)
	}
	return names
}

func listChecks() string {
	var b strings.Builder
	for _, c := range verify.Checks() {
		b.WriteString(helpRow(c.Name, 23, c.Meaning))
	}
	return strings.TrimRight(b.String(), "\n")
}

func listRules() string {
	var b strings.Builder
	for _, r := range conform.Rules() {
		b.WriteString(helpRow(r.Code, 23, r.Broken))
	}
	return strings.TrimRight(b.String(), "\n")
}
