package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/prompts"
)

func promptsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prompts",
		Short: "Show the prompts for summaries, and take them over to edit",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(promptsShow(a), promptsEject(a))
	return cmd
}

func promptsShow(a *app) *cobra.Command {
	var model string
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Print the prompt in force for the strategy in force",
		Long: `Prints the prompt that a strategy gets: the one that comes with thresh, or the file in prompts.dir that takes its place. Files are
looked for as STRATEGY/MODEL/NAME.md, STRATEGY/NAME.md, MODEL/NAME.md and NAME.md. Where it came from is said on standard
error. NAME is compression unless given.`,
		Example: `  thresh prompts show
  thresh prompts show --strategy one-shot --model gpt-4o-mini`,
		Args:      args(cobra.MaximumNArgs(1)),
		ValidArgs: prompts.Names(),
		RunE: func(cmd *cobra.Command, names []string) error {
			c, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			set, name := c.Settings(), prompts.Compression
			if len(names) == 1 {
				name = names[0]
			}
			if model == "" {
				p, _ := c.Provider(set.Compression.Profile) // without one, the model is unknown
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
	cmd.Flags().StringVar(&model, "model", "", "show it for the model `NAME`, not for the one of compression.profile")
	return cmd
}

func promptsEject(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "eject [DIR]",
		Short: "Write the shipped prompts to a directory, to edit them",
		Long: `Writes the shipped prompts to DIR, or to prompts.dir. Existing files are never overwritten. Set prompts.dir to the
directory to use them.`,
		Example: `  thresh prompts eject ./prompts && thresh --set prompts.dir=./prompts prompts show`,
		Args:    args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			c, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			dir := c.Settings().Prompts.Dir
			if len(dirs) == 1 {
				dir = dirs[0]
			}
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
