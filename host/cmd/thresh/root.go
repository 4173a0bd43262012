package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/internal/buildinfo"
)

// app is what all commands share: the streams and the common flags.
type app struct {
	in       io.Reader
	out, err io.Writer

	configFile string
	profile    string
	pluginDirs []string
	attached   []string
	sets       []string
	strategy   string
	logLevel   string
	output     string
	columns    []string // --columns
}

const rootHelp = `thresh keeps the conversation history of an LLM agent under the model's context limit. Strategies run as plugins:
executables named thresh-strategy-<name> in the plugin directories.

Settings come from the user's file, ./thresh.yaml, the profile, THRESH_… variables and flags; later ones win.
'thresh config explain' shows each value and where it was set. ./thresh.yaml may come from a stranger's repository, so
it cannot decide which plugins run, how they are isolated, or where conversations and keys are sent.`

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "thresh",
		Short:         "Keep an agent's history under its context limit",
		Long:          rootHelp,
		Version:       buildinfo.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(cmd, fmt.Errorf("unknown command %q", args[0]))
			}
			return cmd.Help()
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(usage)
	f := root.PersistentFlags()
	f.StringVar(&a.configFile, "config", "", "read settings from `FILE` instead of the user's file and ./thresh.yaml")
	f.StringVar(&a.profile, "profile", "", "use the settings of profiles.`NAME`")
	f.StringArrayVar(&a.pluginDirs, "plugin-dir", nil, "look for plugins in `DIR` instead of plugins.dirs (repeatable)")
	f.StringArrayVar(&a.attached, "attach", nil, "use a strategy process that was started by hand with --attach, without isolation: `NAME=SOCKET` (repeatable)")
	f.StringArrayVar(&a.sets, "set", nil, "override one setting: `KEY=VALUE` (repeatable)")
	f.StringVar(&a.strategy, "strategy", "", "short for --set compression.strategy=`NAME`")
	f.StringVar(&a.logLevel, "log-level", "", "short for --set log.level=`LEVEL`: trace, debug, info, warn or error")
	_ = root.RegisterFlagCompletionFunc("set", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return completeKeys("="), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	})
	_ = root.RegisterFlagCompletionFunc("strategy", a.completeStrategies)
	root.AddCommand(replayCommand(a), runCommand(a), optimizeCommand(a), compressCommand(a), convertCommand(a), compareCommand(a),
		tokensCommand(a), pricesCommand(a), explainCommand(a), restoreCommand(a),
		pluginsCommand(a), promptsCommand(a), llmCommand(a), configCommand(a), doctorCommand(a), versionCommand(a))
	return root
}

// usage marks err as a wrong call of cmd.
func usage(cmd *cobra.Command, err error) error {
	return &usageError{command: cmd.CommandPath(), err: err}
}

// args wraps a check of the arguments so that a failure is a wrong call.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if err := check(cmd, given); err != nil {
			return usage(cmd, err)
		}
		return nil
	}
}

// oneFile is for commands that read one session.
func oneFile(cmd *cobra.Command, given []string) error {
	if len(given) != 1 {
		return usage(cmd, fmt.Errorf("needs one FILE ('-' is standard input), got %d", len(given)))
	}
	return nil
}

// addOutput gives a command the flag -o.
func (a *app) addOutput(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&a.output, "output", "o", "text", "print `FORMAT`: text for people, json for programs")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.output != "text" && a.output != "json" {
			return usage(cmd, fmt.Errorf("--output is text or json, not %q", a.output))
		}
		return run(cmd, args)
	}
}

// configOptions turns the common flags into a configuration.
func (a *app) configOptions(cmd *cobra.Command) (config.Options, error) {
	o := config.Options{ConfigFile: a.configFile, Profile: a.profile}
	override := func(key string, value any, flag string) {
		o.Overrides = append(o.Overrides, config.Override{Key: key, Value: value, Source: flag})
	}
	if cmd.Flags().Changed("plugin-dir") {
		override("plugins.dirs", a.pluginDirs, "--plugin-dir")
	}
	if a.logLevel != "" {
		override("log.level", a.logLevel, "--log-level")
	}
	for _, text := range a.sets {
		ov, err := config.ParseOverride(text, "--set")
		if err != nil {
			return o, usage(cmd, err)
		}
		o.Overrides = append(o.Overrides, ov)
	}
	if a.strategy != "" {
		override("compression.strategy", a.strategy, "--strategy")
	}
	return o, nil
}

// loadConfig loads the configuration that the common flags and everything below them make. more are flags of the
// command that stand for a setting. A command calls it once.
func (a *app) loadConfig(cmd *cobra.Command, more ...config.Override) (*config.Config, error) {
	o, err := a.configOptions(cmd)
	if err != nil {
		return nil, err
	}
	o.Overrides = append(o.Overrides, more...)
	return config.Load(o)
}

// open opens a host for a command. The caller closes it.
func (a *app) open(cmd *cobra.Command) (*engine.Host, error) {
	c, err := a.loadConfig(cmd)
	if err != nil {
		return nil, err
	}
	attach, err := a.attach(cmd)
	if err != nil {
		return nil, err
	}
	return engine.Open(engine.Options{Config: c, Logger: engine.DefaultLogger(a.err, c.Settings().Log.Level), Attach: attach})
}

// attach parses --attach. It is a flag only: a settings file from a stranger could name any socket.
func (a *app) attach(cmd *cobra.Command) (map[string]string, error) {
	sockets := make(map[string]string)
	for _, text := range a.attached {
		name, socket, ok := strings.Cut(text, "=")
		if !ok || name == "" || socket == "" {
			return nil, usage(cmd, fmt.Errorf("--attach is NAME=SOCKET, as a plugin that was started with --attach prints it, not %q", text))
		}
		sockets[name] = socket
	}
	return sockets, nil
}

// printJSON prints v as one line of JSON.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// displayName is a file's name as tables show it.
func displayName(name string) string {
	if name == "-" {
		return "(stdin)"
	}
	return filepath.Base(name)
}

func completeKeys(suffix string) []string {
	var keys []string
	for _, key := range config.Keys() {
		keys = append(keys, key+suffix)
	}
	return keys
}

// completeStrategies completes the names of the plugin files, without starting any.
func (a *app) completeStrategies(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, err := a.loadConfig(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, dir := range c.Settings().Plugins.Dirs {
		files, _ := os.ReadDir(dir) // a directory that is not there completes nothing
		for _, f := range files {
			if name, ok := strings.CutPrefix(f.Name(), "thresh-strategy-"); ok {
				names = append(names, name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
