package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/builtin"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/transcript"
	"github.com/thresh-dev/thresh/internal/buildinfo"
	"github.com/thresh-dev/thresh/internal/nearest"
	"github.com/thresh-dev/thresh/internal/text"
)

// app is the state that all commands share: the standard streams and the values of common flags. Commands reach the
// outside world only through in, out and err: tests can run them in process. The fields are set once while flags are
// parsed and need no lock.
type app struct {
	// in is read by commands that take '-' and by the doors on standard input. out has only results; err has everything
	// else, without control characters ([safeStderr]).
	in       io.Reader
	out, err io.Writer

	// configFile is --config. "" means the user's file and ./thresh.yaml.
	configFile string
	// profile is --profile, "" for the one that the settings choose.
	profile string
	// pluginDirs are searched in the given order; the first plugin of a name wins.
	pluginDirs []string
	// Unparsed NAME=SOCKET; see [app.attach].
	attached []string
	// Unparsed KEY=VALUE; see [app.configOptions]. Later ones win.
	sets []string
	// Short forms of --set. compare has its own --strategy, a list, and leaves the field empty.
	strategy string
	logLevel string
	// -o; which formats are allowed depends on the command.
	output  string
	columns []string // --columns
	from    string   // --from: the format to read; "": by content
	// Sessions that were found and read already, by path; see [app.take].
	taken map[string]*transcript.Transcript
	// noted are the kinds of printed notes, with the file that they were about; repeated counts the notes of those
	// kinds about other files.
	noted    map[string]string
	repeated int

	// jsonLog writes what [app.say] says if log.format is json; nil otherwise.
	jsonLog hclog.Logger

	// hangup is what SIGHUP does; nil if it ends the command.
	hangup atomic.Pointer[func()]
	// hangups that arrive while one is handled count as one more.
	hangups chan os.Signal
}

const rootHelp = `thresh keeps the conversation history of an LLM agent under the model's context limit. Strategies
run as plugins: executables named thresh-strategy-<name> in the plugin directories.

Settings come from the user's file, ./thresh.yaml, the profile, THRESH_… variables and flags; later
ones win. 'thresh config explain' shows each value and where it was set. ./thresh.yaml may come from
a stranger's repository, so it cannot decide which plugins run, how they are isolated, or where
conversations and keys are sent.`

// helpWidth is how many characters a line of help may have. pflag wraps the descriptions of flags there; a test checks
// all other texts.
const helpWidth = 100

// helpRow is a row of a list in a help text: the name, and what it means at the column, or on a separate line if both
// do not fit.
func helpRow(name string, column int, what string) string {
	if row := fmt.Sprintf("  %-*s %s", column, name, what); utf8.RuneCountInString(row) <= helpWidth {
		return row + "\n"
	}
	return "  " + name + "\n      " + what + "\n"
}

// newRoot builds the command tree. cobra's own reports of errors and usage are off: [app.exit] prints errors in one
// format, without burying them under a page of flags.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "thresh",
		Short:         "Keep an agent's history under its context limit",
		Long:          rootHelp,
		Version:       buildinfo.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		// Without this, cobra answers an unknown command itself, with exit status 1.
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	// cobra prints help and completions through these: tests see them too.
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(usage)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages",
		fmt.Sprintf(".FlagUsagesWrapped %d", helpWidth)))
	f := root.PersistentFlags()
	f.StringVar(&a.configFile, "config", "", "read settings from `FILE` instead of the user's file and ./thresh.yaml")
	f.StringVar(&a.profile, "profile", "", "use the settings of profiles.`NAME`")
	f.StringArrayVar(&a.pluginDirs, "plugin-dir", nil, "look for plugins in `DIR` instead of plugins.dirs (repeatable)")
	// StringArray, not StringSlice: values and paths may contain commas.
	f.StringArrayVar(&a.attached, "attach", nil,
		"use the strategy process at a socket, which you started yourself, without isolation: `NAME=SOCKET` "+
			"(repeatable)")
	f.StringArrayVar(&a.sets, "set", nil, "override one setting: `KEY=VALUE` (repeatable)")
	f.StringVar(&a.strategy, "strategy", "", "short for --set compression.strategy=`NAME`")
	f.StringVar(&a.logLevel, "log-level", "",
		"short for --set log.level=`LEVEL`: trace, debug, info, warn or error")
	// Registration fails only for a flag that does not exist. NoSpace lets the user type the value right after "KEY=".
	_ = root.RegisterFlagCompletionFunc("set",
		func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return completeKeys("="), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		})
	_ = root.RegisterFlagCompletionFunc("strategy", a.completeStrategies)
	for _, group := range commandGroups(a) {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title + ":"})
		for _, cmd := range group.commands {
			cmd.GroupID = group.title
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommandGroupID(setUp)
	root.SetCompletionCommandGroupID(setUp)
	root.AddCommand(buildCommands()...)
	return root
}

// setUp is the title of the group that cobra's own commands belong to.
const setUp = "Set up"

// commandGroup is a section of the root command's help. The title is also the group's id for cobra.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

// commandGroups are the commands by what people want to do: from a list of twenty names a new user cannot tell where to
// start. cobra sorts the commands of a group by name.
func commandGroups(a *app) []commandGroup {
	return []commandGroup{
		{"Use it with an agent", []*cobra.Command{
			wrapCommand(a), runCommand(a), serveCommand(a), accessCommand(a), mcpCommand(a)}},
		{"See what it does to sessions", []*cobra.Command{
			compareCommand(a), probeCommand(a), explainCommand(a), restoreCommand(a), tokensCommand(a),
			sessionsCommand(a), topCommand(a)}},
		{"Try and check strategies", []*cobra.Command{
			pluginsCommand(a), llmCommand(a)}},
		{setUp, []*cobra.Command{
			configCommand(a), doctorCommand(a), versionCommand(a)}},
	}
}

// usage marks err as a usage error of cmd: exit status 2 instead of 1. It is cobra's flag error function.
func usage(cmd *cobra.Command, err error) error {
	return &usageError{command: cmd.CommandPath(), err: err}
}

// args turns a failure of cobra's check of positional arguments into a usage error. Commands without it accept any
// number of arguments.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if err := check(cmd, given); err != nil {
			return usage(cmd, err)
		}
		return nil
	}
}

// noArgs is the argument check of commands that take none. A group gets arguments if its command was misspelt.
func noArgs(cmd *cobra.Command, given []string) error {
	if len(given) == 0 {
		return nil
	}
	if !cmd.HasAvailableSubCommands() {
		return usage(cmd, fmt.Errorf("takes no arguments, got %q", given[0]))
	}
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	guess := ""
	if near := nearest.One(given[0], names); near != "" {
		guess = fmt.Sprintf("; did you mean %q?", near)
	}
	return usage(cmd, fmt.Errorf("unknown command %q%s", given[0], guess))
}

// oneFile is the argument check of commands that read exactly one session. cobra.ExactArgs does not mention that '-'
// works.
func oneFile(cmd *cobra.Command, given []string) error {
	if len(given) != 1 {
		return usage(cmd, fmt.Errorf("needs one FILE ('-' is standard input), got %d", len(given)))
	}
	return nil
}

// addOutput gives a command the flag -o with the formats text and json. It wraps RunE, so call it after RunE is set.
// The JSON forms are stable: scripts depend on them, and fields are only ever added.
func (a *app) addOutput(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&a.output, "output", "o", "text", "print `FORMAT`: text for people, json for programs")
	_ = cmd.RegisterFlagCompletionFunc(
		"output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp),
	)
	// Checked before the command opens files or starts plugins.
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.output != "text" && a.output != "json" {
			return usage(cmd, fmt.Errorf("--output is text or json, not %q", a.output))
		}
		return run(cmd, args)
	}
}

// configOptions translates common flags into configuration options. Of several overrides of one key the last one wins,
// so --strategy beats --set, and --set beats --log-level and --plugin-dir.
func (a *app) configOptions(cmd *cobra.Command) (config.Options, error) {
	o := config.Options{ConfigFile: a.configFile, Profile: a.profile}
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
		// config.Load checks key and value, together with everything else that is wrong.
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

// loadConfig loads the configuration. more are flags of the command for a setting; they win over all others. A command
// calls it once: a second load could see a file that has changed in between.
func (a *app) loadConfig(cmd *cobra.Command, more ...config.Override) (*config.Config, error) {
	o, err := a.configOptions(cmd)
	if err != nil {
		return nil, err
	}
	o.Overrides = append(o.Overrides, more...)
	return config.Load(o)
}

// open opens a host for a command, with its log on standard error. Plugins start when first used. The caller closes the
// host, which stops the plugins. 'thresh run' opens the public package instead, and 'thresh doctor' none.
func (a *app) open(cmd *cobra.Command) (*engine.Host, error) {
	c, err := a.loadConfig(cmd)
	if err != nil {
		return nil, err
	}
	// After the configuration: a mistake in settings is reported first, as for commands without plugins.
	attach, err := a.attach(cmd)
	if err != nil {
		return nil, err
	}
	return engine.Open(engine.Options{
		Config: c, Logger: engine.DefaultLogger(a.err, c.Settings().Log), Attach: attach,
	})
}

// attach parses --attach into sockets by strategy name. It is a flag only, not a setting: an attached process is
// neither verified nor isolated, and a ./thresh.yaml from an untrusted repository could name any socket.
func (a *app) attach(cmd *cobra.Command) (map[string]string, error) {
	sockets := make(map[string]string)
	for _, text := range a.attached {
		name, socket, ok := strings.Cut(text, "=")
		// Whether the socket exists is found out when the strategy is first used.
		if !ok || name == "" || socket == "" {
			return nil, usage(cmd, fmt.Errorf(
				"--attach is NAME=SOCKET, as printed by a plugin that was started with --attach, not %q", text))
		}
		sockets[name] = socket
	}
	return sockets, nil
}

// logger returns the log of a command that serves. With log.format json, every line of the command is JSON from then
// on.
func (a *app) logger(set config.Log) hclog.Logger {
	if set.Format == "json" {
		// What a command says for people is said at any level of the log.
		a.jsonLog = engine.DefaultLogger(a.err, config.Log{Level: "info", Format: set.Format})
	}
	return engine.DefaultLogger(a.err, set)
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

// completeKeys returns all setting keys for shell completion, each followed by suffix.
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
