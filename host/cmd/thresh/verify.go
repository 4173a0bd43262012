package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/builtin"
	"github.com/thresh-dev/thresh/host/internal/lab/verify"
	"github.com/thresh-dev/thresh/host/internal/table"
)

// verifyCommand runs the conformance suite of package verify on a plugin, without a host. Only the settings about
// isolation count: a plugin that needs a grant could not be verified without it, and everything else must have the same
// result on the author's machine and on a user's.
func verifyCommand(a *app) *cobra.Command {
	var only []string
	cmd := &cobra.Command{
		Use:   "verify BINARY",
		Short: "Run the conformance checks on a plugin",
		Long: `Runs the plugin in the file BINARY, which must be named thresh-strategy-<name>, on synthetic
histories and with a scripted model. BINARY may also be the name of a strategy that is built in. It
uses none of your conversations and costs nothing. Of your settings it uses plugins.isolation,
plugins.grants and plugins.maxMemoryBytes. It takes some seconds. The exit status is 1 if a check
failed. --log-level debug shows what the plugin logs.

The checks:
` + listChecks(),
		Example: `  thresh plugins verify high-density
  thresh plugins verify --only optimize-pure,optimize-idempotent ./thresh-strategy-mine
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
			report, err := verify.Run(cmd.Context(), binary, verify.Options{
				Only: only, Logger: logger, Progress: bar.step, Plugins: c.Settings().Plugins, RunDir: a.temp(),
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
	a.addOutput(cmd)
	return cmd
}

// printVerified prints a table that fits the terminal, then each failure in full. Its last line is the sum, which is
// what remains on the screen.
func (a *app) printVerified(r *verify.Report) error {
	t := table.New(table.Column{Name: "check"}, table.Column{Name: "result"}, table.Column{Name: "time", Right: true},
		table.Column{Name: "detail", Min: 20})
	for _, result := range r.Results {
		t.Row(result.Check, string(result.Outcome), fmt.Sprintf("%.2fs", result.Duration.Seconds()), result.Detail)
	}
	if err := a.printSmallTable(t); err != nil {
		return err
	}
	for _, result := range r.Results {
		// Skipped checks have their reason in the table, where it fits.
		if result.Outcome == verify.Fail {
			fmt.Fprintf(a.out, "\n%s failed: %s\n", result.Check, result.Detail)
		}
	}
	_, err := fmt.Fprintf(a.out, "\n%s\n", r.Summary())
	return err
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
