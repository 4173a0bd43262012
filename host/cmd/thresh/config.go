package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/cmd/thresh/internal/table"
	"github.com/thresh-dev/thresh/host/config"
)

// configCommand shows the settings in force. There is no command to change one: settings live in files that the user
// edits, and the origin shown for each value says which file to edit.
func configCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings in force, price lists and JSON Schemas",
		Args:  noArgs,
		// The command alone does nothing; its help lists what there is.
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	explain := &cobra.Command{
		Use:   "explain [KEY…]",
		Short: "Show settings: the value, where it came from, the default and the meaning",
		Long: `Shows every setting with its value and where it was set. With keys, or groups such as
compression.density, it shows the default, the allowed values and the meaning of each as well.

The exit status is 1 if compression.strategy names a strategy for which there is no plugin.`,
		Example: `  thresh config explain
  thresh config explain compression.threshold model
  thresh config explain -o json`,
		// Without an Args check cobra accepts any text, such as a group or a key in a profile. Explain reports what it
		// does not know.
		ValidArgs: completeKeys(""),
		RunE: func(cmd *cobra.Command, keys []string) error {
			c, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			// An unknown key prints nothing of the others: the typo is what the user has to see.
			// Without keys, all settings; a group stands for all of its settings.
			found, err := c.Explain(keys...)
			if err != nil {
				return err
			}
			switch {
			case a.output == "json":
				err = a.printJSON(found)
			case len(keys) > 0:
				a.printSettings(found)
			default:
				err = a.printSettingsTables(found)
			}
			// After the output: the settings are shown whole, and the exit status says that one of them cannot work.
			return errors.Join(err, a.checkStrategies(cmd, found))
		},
	}
	a.addOutput(explain)
	cmd.AddCommand(explain, pricesCommand(a), schemaCommand(a))
	return cmd
}

// checkStrategies returns an error for each of the settings that names a strategy of which there is no plugin.
// Defaults are not checked: no one chose them, and plugins may be installed later.
func (a *app) checkStrategies(cmd *cobra.Command, found []config.Explanation) error {
	var errs []error
	// A host is needed to know which plugins there are, with the same search, trust and settings as in a session.
	h, err := a.open(cmd) // starts no plugin
	if err != nil {
		return nil // about something else, which the commands that need a host report
	}
	defer h.Close()
	for _, e := range found {
		name, isText := e.Value.(string)
		// Also in profiles: profiles.NAME.compression.strategy.
		if !strings.HasSuffix("."+e.Key, ".compression.strategy") || !isText || e.Origin.Layer == config.LayerDefault {
			continue
		}
		if err := h.CheckStrategy(name); err != nil {
			errs = append(errs, fmt.Errorf("%s (%s): %w", e.Key, e.Origin, err))
		}
	}
	return errors.Join(errs...)
}

// printSettingsTables prints all settings, one per line, those for tuning last. Long values and origins are cut: the
// tables are an overview, and 'config explain KEY' shows them whole.
func (a *app) printSettingsTables(found []config.Explanation) error {
	// Key and value share what the terminal has; a key is shortened in its middle, because its last part tells most.
	columns := []table.Column{{Name: "key", Min: 40, Middle: true}, {Name: "value", Min: 16}, {Name: "from", Min: 12}}
	usual, tuning := table.New(columns...), table.New(columns...)
	for _, e := range found {
		t := usual
		if e.Tuning {
			t = tuning
		}
		t.Row(e.Key, settingText(e.Value, e.DefaultText), e.Origin.String())
	}
	if err := a.printSmallTable(usual); err != nil {
		return err
	}
	fmt.Fprintln(a.out, "\nFor tuning; the defaults are right for almost everyone:")
	return a.printSmallTable(tuning)
}

// printSettings prints all there is to know about each setting. Nothing needs masking: settings never hold a
// provider's key, only the name of an environment variable or of a file that does.
func (a *app) printSettings(found []config.Explanation) {
	for i, e := range found {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		fmt.Fprintf(a.out, "%s = %s\n  from:     %s\n  default:  %s\n  allowed:  %s\n", e.Key,
			settingText(e.Value, e.DefaultText), e.Origin,
			settingText(e.Default, e.DefaultText), e.Allowed)
		if e.Unit != "" {
			fmt.Fprintf(a.out, "  unit:     %s\n", e.Unit)
		}
		if e.Env != "" {
			fmt.Fprintf(a.out, "  variable: %s\n", e.Env)
		}
		if len(e.NotBy) > 0 {
			fmt.Fprintf(a.out, "  not by:   %s\n", notBy(e.NotBy))
		}
		fmt.Fprintf(a.out, "  %s\n", e.Meaning)
	}
}

// notBy says who may not set a setting.
func notBy(layers []config.Layer) string {
	words := map[config.Layer]string{config.LayerProjectFile: "./thresh.yaml (it may come from a stranger)",
		config.LayerSession: "a session", config.LayerToken: "an access token"}
	var out []string
	for _, l := range layers {
		out = append(out, words[l])
	}
	return strings.Join(out, ", ")
}

// settingText formats a value as JSON, which is also valid in YAML and after --set KEY=. For a setting without a
// value it returns text, in parentheses: a description of the behaviour when nothing is set.
func settingText(v any, text string) string {
	if v == nil {
		return "(" + text + ")"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}
