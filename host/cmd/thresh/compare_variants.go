package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// The variants of a comparison: the strategies that are found or named, each with every combination of the values of
// --vary that makes a difference to it. Everything that can be wrong with them is found before the first replay.

// axis is a setting and the values of it that are compared, as --vary gives them.
type axis struct {
	// key is a full key, such as compression.density.cadence. It is checked when its first value is.
	key string
	// values are tried in the given order, each as the text that --set would take.
	values []string
	// implied marks the axis that [withCadences] adds. It is left out without an error where it makes no difference.
	implied bool
	// unset is whether leaving the setting alone is tried, too, before the values.
	unset bool
}

const keyCadence = "compression.density.cadence"

// withCadences adds an axis of all cadences, unless one is configured or something else is varied. Which cadence is
// cheapest depends on the prices and on how a person works.
func withCadences(c *config.Config, axes []axis) []axis {
	if len(axes) > 0 || c.Origin(keyCadence).Layer != config.LayerDefault {
		return axes
	}
	return []axis{{key: keyCadence, implied: true, values: []string{
		string(outcome.CadenceGated), string(outcome.CadenceEveryTurn), string(outcome.CadencePriced),
	}}}
}

// maxCompared limits the number of variants. Each replays every session, and the number is the product of all axes: a
// typo can ask for days of work. 200 variants of one session of 1,000 turns already take hours.
const maxCompared = 200

// parseVary parses --vary and validates each value on its own: a comparison must not stop at a typo after an hour. All
// errors are usage errors. Values cannot contain commas; no setting that is worth comparing needs one.
func parseVary(c *config.Config, flags []string) ([]axis, error) {
	var axes []axis
	for _, text := range flags {
		key, list, ok := strings.Cut(text, "=")
		if !ok || key == "" || list == "" {
			return nil, fmt.Errorf(
				"--vary: %.80q is not allowed; "+
					"want KEY=VALUE,VALUE, such as compression.density.cadence=every-turn,gated",
				text,
			)
		}
		if slices.ContainsFunc(axes, func(a axis) bool { return a.key == key }) {
			return nil, fmt.Errorf("--vary: %s given more than once; give all its values in one --vary", key)
		}
		// The strategy decides which other axes apply; as an axis it would multiply variants that make no sense.
		if key == keyStrategy {
			return nil, errors.New("--vary: strategies are compared by --strategy NAME,NAME")
		}
		a := axis{key: key}
		for value := range strings.SplitSeq(list, ",") {
			if slices.Contains(a.values, value) {
				return nil, fmt.Errorf("--vary: %s has the value %q more than once", key, value)
			}
			// All variants share one host and its plugin processes, so what concerns the whole host cannot vary.
			its := config.Override{Key: key, Value: value, Source: "--vary"}
			if _, err := c.WithBy(config.Setter{Layer: config.LayerSession}, its); err != nil {
				return nil, err
			}
			a.values = append(a.values, value)
		}
		axes = append(axes, a)
	}
	return axes, nil
}

func (a *app) addVariants(cmd *cobra.Command, c *comparison, usage string) {
	cmd.Flags().StringSliceVar(&c.strategies, "strategy", nil, usage)
	// StringArray, as the values contain commas.
	cmd.Flags().StringArrayVar(&c.vary, "vary", nil, "try each value of a setting: `KEY=V1,V2` (repeatable)")
	_ = cmd.RegisterFlagCompletionFunc("strategy", listOf(a.completeStrategies))
	_ = cmd.RegisterFlagCompletionFunc("vary", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return completeKeys("="), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	})
}

// variants returns the variants to compare: each strategy with every combination of the axes that apply to it.
// Strategies that need a model and have none are among them, and listed in lacking: they show up as "not run" instead
// of failing the comparison, and note says why. names are --strategy's. It finds contradictions between values.
func (a *app) variants(
	cmd *cobra.Command,
	h *window.Host,
	names []string,
	axes []axis,
) (out []compare.Variant, lacking map[string]bool, note string, err error) {
	found := listed(h.Plugins(cmd.Context()), h.Config())
	if err := cmd.Context().Err(); err != nil {
		return nil, nil, "", err
	}
	// A strategy that is not found is usually in another directory.
	dirs := strings.Join(h.Config().Settings().Plugins.Dirs, ", ")
	// Shadowed plugins never run: another directory's plugin of the same name hides them.
	strategies := map[string]plugins.Listing{}
	for _, l := range found {
		if l.State != plugins.StateShadowed && l.Name != "" {
			strategies[l.Name] = l
		}
	}
	// Explicitly named strategies must exist; without a name, broken ones are left out with a message.
	named := len(names) > 0 || cmd.Flags().Changed("strategy")
	if named {
		if err := checkStrategies(names); err != nil {
			return nil, nil, "", usage(cmd, err)
		}
		for _, n := range names {
			if _, known := strategies[n]; !known {
				return nil, nil, "", fmt.Errorf(
					"there is no strategy %.80q in %s; found: %s", n, dirs,
					dash(strings.Join(slices.Sorted(maps.Keys(strategies)), ", ")),
				)
			}
		}
	} else {
		names = a.allOf(found)
	}
	attach, err := a.attach(cmd)
	if err == nil {
		err = unusedAttached(cmd, slices.Sorted(maps.Keys(attach)), names)
	}
	if err != nil {
		return nil, nil, "", err
	}
	tried := map[string]bool{}
	for _, name := range names {
		own := concerning(axes, name, strategies[name])
		for _, a := range own {
			tried[a.key] = true
		}
		for _, settings := range combinations(own) {
			v := compare.Variant{Name: variantName(name, settings, axes), Strategy: name, Settings: asMap(settings)}
			// Values that are valid one by one can still contradict each other.
			c, err := h.Config().WithAll(overrides(v.Settings)...)
			if err != nil {
				return nil, nil, "", usage(cmd, err)
			}
			if err := h.CheckOwn(c, name); err != nil {
				return nil, nil, "", err
			}
			if out = append(out, v); len(out) > maxCompared {
				return nil, nil, "", usage(
					cmd, fmt.Errorf("more than %d variants: give fewer strategies or values", maxCompared),
				)
			}
		}
	}
	for _, a := range axes {
		// An axis that applies to no strategy would silently compare nothing.
		if !tried[a.key] && !a.implied {
			return nil, nil, "", usage(
				cmd,
				fmt.Errorf("--vary: %s concerns none of the strategies compared: %s", a.key, strings.Join(names, ", ")),
			)
		}
	}
	// Last, for the variants that are left: the settings of a variant may choose the model.
	lacking, note, err = lackingModels(h, out, strategies)
	if !named {
		// Without a name, a strategy that lacks a model gets no row; the note says so.
		out = slices.DeleteFunc(out, func(v compare.Variant) bool { return lacking[v.Strategy] })
	}
	return out, lacking, note, err
}

// checkStrategies rejects an empty name, as left by a trailing comma, and a name given twice, which would make two rows
// of the same name.
func checkStrategies(names []string) error {
	if len(names) == 0 || slices.Contains(names, "") {
		return errors.New("--strategy: a name is empty; want NAME,NAME")
	}
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return fmt.Errorf("--strategy: %s given more than once", n)
		}
	}
	return nil
}

// allOf returns the names of the strategies that work, sorted. It reports those that do not, except shadowed ones, as
// the plugin that shadows them is in the list.
func (a *app) allOf(found []plugins.Listing) []string {
	var names []string
	for _, l := range found {
		switch {
		case l.State == plugins.StateReady:
			names = append(names, l.Name)
		case l.State != plugins.StateShadowed:
			fmt.Fprintf(a.err, "thresh: left out %s: %s\n", l.Path, l.Reason)
		}
	}
	slices.Sort(names)
	return names
}

// concerning returns the axes that make a difference to a strategy. A strategy with a threshold trigger never prunes,
// so compression.density would yield identical rows; strategies.NAME applies to that strategy alone. A broken plugin
// has no known trigger and gets all axes of its name: its rows are in the table as failed.
func concerning(axes []axis, strategy string, l plugins.Listing) []axis {
	var own []axis
	for _, x := range axes {
		if strings.HasPrefix(x.key, "compression.density.") && l.Trigger == sdk.ModeThreshold {
			continue
		}
		if x.implied && l.Trigger != sdk.ModeContinuous { // a broken plugin has one row, not one for each cadence
			continue
		}
		if strings.HasPrefix(x.key, "strategies.") && !strings.HasPrefix(x.key, "strategies."+strategy+".") {
			continue
		}
		own = append(own, x)
	}
	return own
}

// chosen is one value of one axis, as text; the configuration reads it as the setting's type.
type chosen struct{ key, value string }

// combinations returns every choice of one value per axis. The last axis varies fastest: rows which differ only in it
// are next to each other. Without axes the result is one empty choice, not none.
func combinations(axes []axis) [][]chosen {
	all := [][]chosen{nil}
	for _, x := range axes {
		var next [][]chosen
		for _, c := range all {
			if x.unset {
				next = append(next, c)
			}
			for _, v := range x.values {
				next = append(next, append(slices.Clone(c), chosen{x.key, v}))
			}
			if len(next) > maxCompared {
				break // the caller rejects the number anyway; do not build millions of combinations first
			}
		}
		all = next
	}
	return all
}

// variantName returns the row label of a variant: the strategy and each setting, shortened to the last part of its key
// unless two axes share it. No two variants share a label.
func variantName(strategy string, settings []chosen, axes []axis) string {
	name := strategy
	for _, s := range settings {
		if s.key == keyCadence { // its values speak for themselves
			name += " " + s.value
			continue
		}
		label := lastPart(s.key)
		if slices.ContainsFunc(axes, func(x axis) bool { return x.key != s.key && lastPart(x.key) == label }) {
			label = s.key
		}
		name += " " + label + "=" + s.value
	}
	return name
}

// lastPart returns a key without its groups: "cadence" of compression.density.cadence.
func lastPart(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// asMap returns the settings of a variant by key; nil for none, which the JSON form omits.
func asMap(settings []chosen) map[string]string {
	if len(settings) == 0 {
		return nil
	}
	m := make(map[string]string, len(settings))
	for _, s := range settings {
		m[s.key] = s.value
	}
	return m
}

// lackingModels returns the strategies that need a model but have none configured, and a note that names them and has
// the last error, which says what to configure; "" without any. The model is resolved with the variant's settings:
// --vary may choose the profile itself. No call is made.
func lackingModels(
	h *window.Host,
	variants []compare.Variant,
	found map[string]plugins.Listing,
) (lacking map[string]bool, note string, err error) {
	lacking = map[string]bool{}
	var names []string
	var missing error
	for _, v := range variants {
		if !found[v.Strategy].RequiresLLM {
			continue
		}
		c, err := h.Config().WithAll(overrides(v.Settings)...)
		if err != nil {
			return nil, "", err
		}
		if _, err := h.Model(c); err != nil {
			// The last error serves for all: strategies without a model lack the same settings.
			names, missing, lacking[v.Strategy] = append(names, v.Name), err, true
		}
	}
	if len(names) > 0 {
		note = fmt.Sprintf("not run: %s: %v", strings.Join(names, ", "), missing)
	}
	return lacking, note, nil
}

// overrides returns a variant's settings as configuration overrides, sorted: errors are reproducible.
func overrides(settings map[string]string) []config.Override {
	var out []config.Override
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		out = append(out, config.Override{Key: key, Value: settings[key], Source: "--vary"})
	}
	return out
}
