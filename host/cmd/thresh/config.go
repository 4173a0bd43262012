package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/table"
)

func configCommand(a *app) *cobra.Command {
	return group("config", "Show the settings in force, and price lists", "", configExplain(a), pricesCommand(a))
}

func configExplain(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain [KEY…]",
		Short: "Show settings: the value, where it came from, the default and the meaning",
		Long: `Shows every setting with its value and where it was set. With keys, or groups such as
compression.density, it shows the default, the allowed values and the meaning of each as well.`,
		Example: `  thresh config explain
  thresh config explain compression.threshold model
  thresh config explain -o json`,
		ValidArgs: completeKeys(""),
		RunE: func(cmd *cobra.Command, keys []string) error {
			c, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			found, err := c.Explain(keys...)
			if err != nil {
				return err
			}
			return a.show(found, func() error {
				if len(keys) > 0 {
					return a.printSettings(found)
				}
				return a.printSettingsTables(found)
			})
		},
	}
	a.addOutput(cmd)
	return cmd
}

// printSettingsTables prints all settings, one per line, those for tuning last. Long values and origins are cut:
// 'config explain KEY' shows them whole.
func (a *app) printSettingsTables(found []config.Explanation) error {
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

// printSettings masks nothing: settings never hold a provider's key, only the name of a variable or a file that does.
func (a *app) printSettings(found []config.Explanation) error {
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
	return nil
}

func notBy(layers []config.Layer) string {
	words := map[config.Layer]string{config.LayerProjectFile: "./thresh.yaml (it may come from a stranger)",
		config.LayerSession: "a session", config.LayerToken: "an access token"}
	var out []string
	for _, l := range layers {
		out = append(out, words[l])
	}
	return strings.Join(out, ", ")
}

// settingText formats a value as JSON, which is also valid in YAML and after --set KEY=. Without a value it returns
// text, in parentheses: the behaviour when nothing is set.
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
