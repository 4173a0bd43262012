package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/prompts"
)

func promptsCommand(a *app) *cobra.Command {
	return group("prompts", "Show the prompts for summaries, or copy them to edit them", "",
		promptsShow(a), promptsEject(a))
}

// promptsShow prints the prompt that a strategy would get. The origin is on standard error: redirecting the output
// yields a usable prompt.
func promptsShow(a *app) *cobra.Command {
	var model string
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Print the prompt in force for the strategy in force",
		Long: `Prints the prompt that a strategy gets: the built-in one, or the file in prompts.dir that overrides
it. Files are looked up as STRATEGY/MODEL/NAME.md, STRATEGY/NAME.md, MODEL/NAME.md and NAME.md, in
this order. The source is printed on standard error. NAME defaults to "compression".`,
		Example: `  thresh prompts show
  thresh prompts show --strategy one-shot --model gpt-4o-mini`,
		Args:      args(cobra.MaximumNArgs(1)),
		ValidArgs: prompts.Names(),
		RunE: func(cmd *cobra.Command, names []string) error {
			c, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			// Today's only prompt. A name is accepted: scripts need not change when there are more.
			set, name := c.Settings(), prompts.Compression
			if len(names) == 1 {
				name = names[0]
			}
			if model == "" {
				p, _ := c.Provider(set.Compression.Profile)
				model = p.Model
			}
			p, err := prompts.Resolver{Dir: set.Prompts.Dir}.Resolve(name, set.Compression.Strategy, model)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.err, "%s: %s\n", name, p.Source)
			_, err = fmt.Fprint(a.out, p.Text)
			return err
		},
	}
	cmd.Flags().StringVar(&model, "model", "",
		"show the prompt for the model `NAME` instead of that of compression.profile")
	return cmd
}

// promptsEject copies the built-in prompts to a directory as a starting point for edits. It never overwrites a file,
// which may hold edits.
func promptsEject(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "eject [DIR]",
		Short: "Write the shipped prompts to a directory, to edit them",
		Long: `Writes the shipped prompts to DIR, or to prompts.dir. Existing files are never overwritten. Set
prompts.dir to the directory to use them.`,
		Example: `  thresh prompts eject ./prompts && thresh --set prompts.dir=./prompts prompts show`,
		Args:    args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			c, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			dir := c.Settings().Prompts.Dir
			if len(dirs) == 1 {
				dir = a.path(dirs[0])
			}
			// No default: files in a directory that the user did not name would be overlooked and would override
			// nothing.
			if dir == "" {
				return usage(cmd, errors.New("needs DIR, or the setting prompts.dir"))
			}
			files, err := prompts.Eject(dir)
			for _, f := range files {
				fmt.Fprintln(a.out, f)
			}
			return err
		},
	}
}
