package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/sdk"
)

// axis is a setting and the values of it that are tried.
type axis struct {
	key    string
	values []string
}

// maxCompared bounds the variants: each of them replays every session.
const maxCompared = 200

// parseVary takes --vary apart and checks every value, so that nothing runs for an hour and then stops at a typo.
func parseVary(c *config.Config, flags []string) ([]axis, error) {
	var axes []axis
	for _, text := range flags {
		key, list, ok := strings.Cut(text, "=")
		if !ok || key == "" || list == "" {
			return nil, fmt.Errorf(
				"--vary: %.80q is not allowed; want KEY=VALUE,VALUE, such as compression.density.cadence=every-turn,gated",
				text,
			)
		}
		if slices.ContainsFunc(axes, func(a axis) bool { return a.key == key }) {
			return nil, fmt.Errorf("--vary: %s given more than once; give all its values in one --vary", key)
		}
		if key == "compression.strategy" {
			return nil, errors.New("--vary: strategies are compared by --strategy NAME,NAME")
		}
		if slices.ContainsFunc(config.Specs(), func(s config.Spec) bool { return s.Key == key && s.PerHost }) {
			return nil, fmt.Errorf(
				"--vary: %s concerns the whole host and cannot differ between variants; use --set", key,
			)
		}
		a := axis{key: key}
		for value := range strings.SplitSeq(list, ",") {
			if slices.Contains(a.values, value) {
				return nil, fmt.Errorf("--vary: %s has the value %q more than once", key, value)
			}
			if _, err := c.With(key, value, "--vary"); err != nil {
				return nil, err
			}
			a.values = append(a.values, value)
		}
		axes = append(axes, a)
	}
	return axes, nil
}

// variants are the strategies in all combinations of the axes that concern each of them. Those that lack a model are
// among them, and named: that is no failure, as the others can be compared without.
func (a *app) variants(
	cmd *cobra.Command,
	h *engine.Host,
	names []string,
	axes []axis,
) (out []compare.Variant, lacking map[string]bool, err error) {
	found, err := listed(h.Plugins(cmd.Context()), h.Config())
	if err == nil {
		err = cmd.Context().Err()
	}
	if err != nil {
		return nil, nil, err
	}
	dirs := strings.Join(h.Config().Settings().Plugins.Dirs, ", ")
	strategies := map[string]plugins.Listing{}
	for _, l := range found {
		if l.State != plugins.StateShadowed && l.Name != "" {
			strategies[l.Name] = l
		}
	}
	if cmd.Flags().Changed("strategy") {
		if err := checkStrategies(names); err != nil {
			return nil, nil, usage(cmd, err)
		}
		for _, n := range names {
			if _, known := strategies[n]; !known {
				return nil, nil, fmt.Errorf(
					"there is no strategy %.80q in %s; found: %s", n, dirs,
					dash(strings.Join(slices.Sorted(maps.Keys(strategies)), ", ")),
				)
			}
		}
	} else if names = a.allOf(found); len(names) == 0 {
		return nil, nil, fmt.Errorf("no strategies in %s; build or install some, or name their directory with --plugin-dir", dirs)
	}
	tried := map[string]bool{}
	for _, name := range names {
		own := concerning(axes, name, strategies[name])
		for _, a := range own {
			tried[a.key] = true
		}
		for _, settings := range combinations(own) {
			v := compare.Variant{Name: variantName(name, settings, axes), Strategy: name, Settings: asMap(settings)}
			if _, err := h.Config().WithAll(overrides(v.Settings)...); err != nil { // right in themselves, wrong together
				return nil, nil, usage(cmd, err)
			}
			if out = append(out, v); len(out) > maxCompared {
				return nil, nil, usage(
					cmd, fmt.Errorf("more than %d variants: give fewer strategies or values", maxCompared),
				)
			}
		}
	}
	for _, a := range axes {
		if !tried[a.key] {
			return nil, nil, usage(
				cmd,
				fmt.Errorf("--vary: %s concerns none of the strategies compared: %s", a.key, strings.Join(names, ", ")),
			)
		}
	}
	lacking, err = a.lackingModels(h, out, strategies)
	return out, lacking, err
}

// checkStrategies refuses what can only be a mistake.
func checkStrategies(names []string) error {
	if len(names) == 0 || slices.Contains(names, "") {
		return errors.New("--strategy: a name is empty; want NAME,NAME")
	}
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			return fmt.Errorf("--strategy: %s given more than once", n)
		}
		seen[n] = true
	}
	return nil
}

// allOf are the names of the strategies that work, sorted. What does not is named, as it would be missed.
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

// concerning are the axes that make a difference to a strategy. One that cannot say when it prunes gets them all.
func concerning(axes []axis, strategy string, l plugins.Listing) []axis {
	var own []axis
	for _, x := range axes {
		if strings.HasPrefix(x.key, "compression.density.") && l.Trigger == sdk.ModeThreshold {
			continue
		}
		if strings.HasPrefix(x.key, "strategies.") && !strings.HasPrefix(x.key, "strategies."+strategy+".") {
			continue
		}
		own = append(own, x)
	}
	return own
}

// chosen is one value of an axis.
type chosen struct{ key, value string }

// combinations are all choices of one value for each axis, the last axis turning fastest.
func combinations(axes []axis) [][]chosen {
	all := [][]chosen{nil}
	for _, x := range axes {
		var next [][]chosen
		for _, c := range all {
			for _, v := range x.values {
				next = append(next, append(slices.Clone(c), chosen{x.key, v}))
			}
			if len(next) > maxCompared {
				break // there will be an error; a million combinations need not be made for it
			}
		}
		all = next
	}
	return all
}

// variantName is short: of a key its last part, or all of it where two axes end alike.
func variantName(strategy string, settings []chosen, axes []axis) string {
	name := strategy
	for _, s := range settings {
		label := lastPart(s.key)
		if slices.ContainsFunc(axes, func(x axis) bool { return x.key != s.key && lastPart(x.key) == label }) {
			label = s.key
		}
		name += " " + label + "=" + s.value
	}
	return name
}

func lastPart(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

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

// lackingModels returns the strategies that need a model and have none, and says what to configure.
func (a *app) lackingModels(
	h *engine.Host,
	variants []compare.Variant,
	found map[string]plugins.Listing,
) (map[string]bool, error) {
	lacking := map[string]bool{}
	var names []string
	var missing error
	for _, v := range variants {
		if !found[v.Strategy].RequiresLLM {
			continue
		}
		c, err := h.Config().WithAll(overrides(v.Settings)...)
		if err != nil {
			return nil, err
		}
		if _, err := h.Model(c); err != nil {
			names, missing, lacking[v.Strategy] = append(names, v.Name), err, true
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(a.err, "thresh: not run: %s: %v\n", strings.Join(names, ", "), missing)
	}
	return lacking, nil
}

// overrides are a variant's settings as the configuration takes them.
func overrides(settings map[string]string) []config.Override {
	var out []config.Override
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		out = append(out, config.Override{Key: key, Value: settings[key], Source: "--vary"})
	}
	return out
}
