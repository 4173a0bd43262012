package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/builtin"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/text"
)

// What commands share: how flags become a configuration and a host, and how results are printed.

// addOutput gives a command the flag -o with the formats text and json. It wraps RunE, so call it after RunE is set.
// The JSON forms are stable: scripts depend on them, and fields are only ever added.
func (a *app) addOutput(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&a.output, "output", "o", "text", "print `FORMAT`: text for people, json for programs")
	complete(cmd, "output", "text", "json")
	// Checked before the command opens files or starts plugins.
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.output != "text" && a.output != "json" {
			return usage(cmd, fmt.Errorf("--output is text or json, not %q", a.output))
		}
		return run(cmd, args)
	}
}

// loadConfig loads the configuration with the common flags. Of several overrides of one key the last one wins, so
// --strategy beats --set, and --set beats --log-level and --plugin-dir. A command calls it once: a second load could see
// a file that has changed in between.
func (a *app) loadConfig(cmd *cobra.Command) (*config.Config, error) {
	o := config.Options{ConfigFile: a.configFile, Profile: a.profile, WorkDir: a.dir, Env: a.env}
	override := func(key string, value any, flag string) {
		o.Overrides = append(o.Overrides, config.Override{Key: key, Value: value, Source: flag})
	}
	// Changed, not len > 0: --plugin-dir replaces plugins.dirs.
	if cmd.Flags().Changed("plugin-dir") {
		override("plugins.dirs", a.pluginDirs, "--plugin-dir")
	}
	if a.logLevel != "" {
		override("log.level", a.logLevel, "--log-level")
	}
	for _, text := range a.sets {
		ov, err := config.ParseOverride(text, "--set")
		if err != nil {
			return nil, usage(cmd, err)
		}
		o.Overrides = append(o.Overrides, ov)
	}
	if a.strategy != "" {
		override(keyStrategy, a.strategy, "--strategy")
	}
	c, err := config.Load(o)
	if err == nil {
		for _, stray := range c.Stray() {
			a.say(hclog.Warn, stray.Error())
		}
	}
	return c, err
}

// loadAttached is [app.loadConfig] with the sockets of --attach. The configuration is first: a mistake in settings is
// reported first, as for commands without plugins.
func (a *app) loadAttached(cmd *cobra.Command) (c *config.Config, attach map[string]string, err error) {
	if c, err = a.loadConfig(cmd); err == nil {
		attach, err = a.attach(cmd)
	}
	return c, attach, err
}

// open opens a host for a command, with its log on standard error. Plugins start when first used. The caller closes the
// host, which stops the plugins. 'thresh run' opens the public package instead, and 'thresh doctor' none.
func (a *app) open(cmd *cobra.Command) (*window.Host, error) {
	c, attach, err := a.loadAttached(cmd)
	if err != nil {
		return nil, err
	}
	return a.openHost(c, attach, false)
}

// attach parses --attach into sockets by strategy name. It is a flag only, not a setting: an attached process is
// neither verified nor isolated, and a ./thresh.yaml from an untrusted repository could name any socket.
func (a *app) attach(cmd *cobra.Command) (map[string]string, error) {
	sockets := make(map[string]string)
	for _, text := range a.attached {
		name, socket, ok := strings.Cut(text, "=")
		if !ok || name == "" || socket == "" {
			return nil, usage(cmd, fmt.Errorf(
				"--attach is NAME=SOCKET, as printed by a plugin that was started with --attach, not %q", text))
		}
		sockets[name] = a.path(socket)
	}
	return sockets, nil
}

const keyStrategy = "compression.strategy"

// useAttached returns the configuration with the strategy that is attached, if the command line names none. One that is
// attached and not used would wait for ever.
func useAttached(cmd *cobra.Command, c *config.Config, attach map[string]string) (*config.Config, error) {
	names := slices.Sorted(maps.Keys(attach))
	if len(names) == 1 && c.Origin(keyStrategy).Layer != config.LayerFlag {
		return c.With(keyStrategy, names[0], "--attach")
	}
	return c, unusedAttached(cmd, names, []string{c.Settings().Compression.Strategy})
}

// unusedAttached is the error for strategies that are attached and not among those that are used; nil for none.
func unusedAttached(cmd *cobra.Command, attached, used []string) error {
	for _, name := range attached {
		if !slices.Contains(used, name) {
			return usage(cmd, fmt.Errorf("%s is attached and not used: --strategy is %s", name, strings.Join(used, ",")))
		}
	}
	return nil
}

// logger returns the log of a command that serves. With log.format json, every line of the command is JSON from then
// on.
func (a *app) logger(set config.Log) hclog.Logger {
	if set.Format == "json" {
		// What a command says for people is said at any level of the log.
		a.jsonLog = window.DefaultLogger(a.err, config.Log{Level: "info", Format: set.Format})
	}
	return window.DefaultLogger(a.err, set)
}

// say prints a line for people on standard error, or a line of JSON in a log of such lines.
func (a *app) say(level hclog.Level, text string) {
	switch {
	case a.jsonLog != nil:
		a.jsonLog.Log(level, text)
	case level == hclog.Warn:
		fmt.Fprintln(a.err, "thresh: warning: "+text)
	default:
		fmt.Fprintln(a.err, "thresh: "+text)
	}
}

// printJSON prints v as one line of JSON, for jq and line-based tools. HTML characters are not escaped: conversations
// are full of <, > and &.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// show prints a command's result: v with -o json, else as text does.
func (a *app) show(v any, text func() error) error {
	if a.output == "json" {
		return a.printJSON(v)
	}
	return text()
}

// displayName returns a file's name for table rows: the last path element, as tables must fit 80 columns. Messages use
// [displayPath], which is unambiguous.
func displayName(name string) string {
	if name == "-" {
		return "(stdin)"
	}
	return text.Printable(filepath.Base(name), maxName)
}

// maxName is where a path is cut, in bytes; no system has longer ones.
const maxName = 4096

// complete makes the shell offer values for a flag. Registration fails only for a flag that does not exist.
func complete(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func completeKeys(suffix string) []string {
	var keys []string
	for _, key := range config.Keys() {
		keys = append(keys, key+suffix)
	}
	return keys
}

// completeStrategies completes strategy names from what is built in and from file names. It runs on every press of Tab,
// so it starts no plugin, and offers broken ones too. Errors complete to nothing: the shell has no place to show them.
func (a *app) completeStrategies(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, err := a.loadConfig(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := builtin.Names()
	for _, dir := range c.Settings().Plugins.Dirs {
		// To look at each file would cost more than a wrong offer.
		files, _ := os.ReadDir(dir) // a missing directory completes nothing
		for _, f := range files {
			if name, ok := discover.StrategyName(f.Name()); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
