package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/internal/buildinfo"
	"github.com/thresh-dev/thresh/internal/nearest"
)

// app is the state that all commands share: the standard streams, the working directory and the environment, and the
// values of common flags. Commands ask it and not the process, so tests run many at a time in one process. The fields
// are set once while flags are parsed and need no lock.
type app struct {
	place
	// in is read by commands that take '-' and by the doors on standard input. out has only results; err has everything
	// else, without control characters ([safeStderr]).
	in       io.Reader
	out, err io.Writer

	configFile string
	profile    string
	// pluginDirs are searched in the given order; the first plugin of a name wins.
	pluginDirs []string
	// Unparsed NAME=SOCKET; see [app.attach].
	attached []string
	// Unparsed KEY=VALUE; see [app.loadConfig]. Later ones win.
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
	// passed is what was found and not taken, unread how many sessions could not be read.
	passed passed
	unread int
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

func newApp(at place, in io.Reader, out, err io.Writer) *app {
	return &app{place: at, in: in, out: out, err: safeStderr{err, at.getenv("COLUMNS")}, hangups: make(chan os.Signal, 1)}
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
	row := "  " + name + "\n"
	for indent := 6; what != ""; indent = 8 {
		end := len(what)
		if indent+end > helpWidth {
			end = cmp.Or(strings.LastIndexByte(what[:helpWidth-indent], ' ')+1, end)
		}
		row += strings.Repeat(" ", indent) + strings.TrimSpace(what[:end]) + "\n"
		what = what[end:]
	}
	return row
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
	root.SetVersionTemplate(versionText())
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

// versionText is what a bug report needs. The commit is unknown if the build had no version control data, as with 'go
// build' from an unpacked archive.
func versionText() string {
	info := buildinfo.Get()
	return fmt.Sprintf("thresh %s\ncommit %s\n%s\n", info.Version, cmp.Or(info.Commit, "unknown"), info.Go)
}

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
			wrapCommand(a), runCommand(a), serveCommand(a), accessCommand(a)}},
		{"See what it does to sessions", []*cobra.Command{
			compareCommand(a), explainCommand(a), sessionsCommand(a), topCommand(a)}},
		{"Try and check strategies", []*cobra.Command{
			pluginsCommand(a), promptsCommand(a)}},
		{setUp, []*cobra.Command{
			configCommand(a), doctorCommand(a)}},
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

func group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(commands...)
	return cmd
}

// oneFile is the argument check of commands that read exactly one session. cobra.ExactArgs does not mention that '-'
// works.
func oneFile(cmd *cobra.Command, given []string) error {
	if len(given) != 1 {
		return usage(cmd, fmt.Errorf("needs one FILE ('-' is standard input), got %d", len(given)))
	}
	return nil
}
