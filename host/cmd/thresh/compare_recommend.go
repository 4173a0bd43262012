package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// printAdvice prints what the comparison comes to, and what is to be set.
func (a *app) printAdvice(r *compare.Report, set *toSet) {
	headline, lines := r.Advice(func(name string) string { return name })
	if headline == "" {
		return
	}
	if set != nil {
		lines = append(lines, compare.Line{About: "set", Text: set.text})
	}
	fmt.Fprintln(a.out)
	a.paragraph(headline, 0)
	const column = 10
	for _, l := range lines {
		a.paragraph(fmt.Sprintf("  %-*s%s", column-2, l.About, l.Text), column)
	}
	if set != nil {
		for _, line := range set.lines {
			fmt.Fprintf(a.out, "%*s%s\n", column, "", line)
		}
	}
}

// toSet is what has to be set for a variant, and where.
type toSet struct {
	// text says it, and lines are the settings that are missing in file.
	text  string
	lines []string
	file  string // absolute
	keys  map[string]string
}

// toSet returns what to set for the variant that is advised, or that comes closest; nil for none. The file is where it
// is in force: of a project if sessions of one were chosen, else the user's, which holds everywhere.
func (a *app) toSet(c *config.Config, source *sources, r *compare.Report) (*toSet, error) {
	x := r.Recommendation
	if x == nil || x.Variant == "" && x.Closest == nil {
		return nil, nil
	}
	settings := maps.Clone(x.Settings)
	if x.Closest != nil {
		settings = maps.Clone(x.Closest.Settings)
	}
	// What flags say was part of what was measured.
	all, err := c.Explain()
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if _, has := settings[e.Key]; has || e.Origin.Layer != config.LayerFlag || !ofStrategies(e.Key) {
			continue
		}
		value, err := json.Marshal(e.Value) // as YAML has it, too
		if err != nil {
			return nil, err
		}
		settings[e.Key] = strings.Trim(string(value), `"`)
	}
	s := &toSet{keys: map[string]string{}}
	project := source.project != "" && a.configFile == ""
	prices, err := c.Explain("model.priceList")
	if err != nil {
		return nil, err
	}
	priced := pricedByModel(r) || fmt.Sprint(prices[0].Value) == settings[prices[0].Key]
	places, defaults := []string{}, true
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		e, err := c.Explain(key)
		if err != nil {
			return nil, err
		}
		is, at := e[0], e[0].Origin
		project = project && !slices.Contains(is.NotBy, config.LayerProjectFile)
		// With prices, it is the default.
		implied := key == keyCadence && settings[key] == "priced" && is.Value == "" && priced
		if at.Layer != config.LayerFlag && (implied || fmt.Sprint(is.Value) == settings[key]) {
			if defaults = defaults && at.Layer == config.LayerDefault; at.Layer != config.LayerDefault {
				places = append(places, fmt.Sprintf("%s by %s", key, at))
			}
			continue
		}
		s.keys[key] = settings[key]
		s.lines = append(s.lines, key+": "+settings[key])
	}
	switch user := c.UserFile(); {
	case a.configFile != "":
		s.file = a.path(a.configFile)
	case project:
		s.file = filepath.Join(a.path(source.project), "thresh.yaml")
	case user != "":
		s.file = user
	default:
		s.file = a.path("thresh.yaml")
	}
	switch {
	case len(s.lines) > 0:
		how := " (--write sets it)"
		if x.Closest != nil {
			how = "" // it is no advice
		}
		s.text = fmt.Sprintf("in %s%s:", displayPath(a.short(s.file)), how)
	case defaults:
		s.text = "nothing: these are the defaults"
	default:
		s.text = "nothing: it is set already, " + strings.Join(places, ", ")
	}
	return s, nil
}

// ofStrategies reports whether a setting decides what strategies do.
func ofStrategies(key string) bool {
	return strings.HasPrefix(key, "compression.") || strings.HasPrefix(key, "strategies.")
}

// pricedByModel reports whether the models of the sessions that are priced have price lists, so that an agent's session
// decides by prices unless something else is set.
func pricedByModel(r *compare.Report) bool {
	return r.ByModel && slices.ContainsFunc(r.Sessions, func(s compare.SessionReport) bool { return s.Prices != "" })
}

// short is a path with ~ for the home directory.
func (a *app) short(path string) string {
	if in, ok := strings.CutPrefix(path, a.home()+string(filepath.Separator)); ok && a.home() != "" {
		return filepath.Join("~", in)
	}
	return path
}

// writeAdvice puts the settings into the file: in the place of another value that it has for a key, else at its end. It
// changes the text, which preserves comments, order and indentation of a person's file.
func (a *app) writeAdvice(cmd *cobra.Command, x *compare.Recommendation, set *toSet) error {
	switch {
	case x == nil || x.Variant == "":
		fmt.Fprintln(a.err, "thresh: nothing is written: there is no advice to follow")
		return nil
	case len(set.lines) == 0:
		fmt.Fprintln(a.err, "thresh: nothing is written: "+strings.TrimPrefix(set.text, "nothing: "))
		return nil
	}
	before, err := os.ReadFile(set.file)
	lines, text, changed := set.lines, string(before), []string(nil)
	if err == nil {
		lines, text, changed, err = a.merged(set, text)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(filepath.Dir(set.file), 0o700)
	}
	if err != nil {
		return fmt.Errorf("--write: %w", err)
	}
	if text != "" && len(lines) > 0 && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for _, line := range lines {
		text += line + "\n"
	}
	// Lines cannot be appended to every YAML file: after one in braces, or one that ends within a block of text, they
	// would mean something else. Decoding the result finds out, and that it is one document.
	whole, values := yaml.NewDecoder(strings.NewReader(text)), map[string]any{}
	if whole.Decode(&values) != nil || !errors.Is(whole.Decode(&values), io.EOF) {
		return fmt.Errorf("--write: the lines cannot be added at the end of %s; add them yourself: %s",
			displayPath(a.short(set.file)), strings.Join(lines, ", "))
	}
	// A crash leaves the file as it was.
	err = atomicfile.Write(set.file, 0o644, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		return fmt.Errorf("--write: %w", err)
	}
	for _, what := range changed {
		fmt.Fprintln(a.err, "thresh: "+what)
	}
	if len(lines) > 0 {
		fmt.Fprintf(a.err, "thresh: wrote %s to %s\n", plural(len(lines), "setting"), displayPath(a.short(set.file)))
	}
	return a.inForce(cmd, set)
}

// merged returns the file's text with the settings in the places of other values that it has for them, what was changed
// there, and the lines that it lacks. It fails if a value cannot be changed where it stands.
func (a *app) merged(set *toSet, text string) (lines []string, out string, changed []string, err error) {
	c, err := config.Load(config.Options{ConfigFile: set.file, WorkDir: a.dir, Env: []string{"HOME=" + a.home()}})
	if err != nil {
		return nil, "", nil, err
	}
	for i, key := range slices.Sorted(maps.Keys(set.keys)) {
		e, err := c.Explain(key)
		if err != nil {
			return nil, "", nil, err
		}
		at, was, value := e[0].Origin, fmt.Sprint(e[0].Value), set.keys[key]
		switch {
		case at.Layer != config.LayerConfigFile:
			lines = append(lines, set.lines[i])
		case was != value:
			place := fmt.Sprintf("%s:%d", displayPath(a.short(at.File)), at.Line)
			ok := false
			if text, ok = withValue(text, at.Line, was, value); !ok {
				return nil, "", nil, fmt.Errorf("%s is set in %s; change it there to %q", key, place, value)
			}
			changed = append(changed, fmt.Sprintf("changed %s from %s to %s in %s", key, was, value, place))
		}
	}
	return lines, text, changed, nil
}

// withValue replaces the value of a key in a line, which counts from 1. ok is false if the line is not that of one key
// with this value: it may be in braces, or written in another way.
func withValue(text string, line int, was, value string) (out string, ok bool) {
	lines := strings.SplitAfter(text, "\n")
	if line < 1 || line > len(lines) {
		return text, false
	}
	key, rest, _ := strings.Cut(lines[line-1], ":")
	before := rest[:len(rest)-len(strings.TrimLeft(rest, " \t"))]
	for _, form := range []string{was, `"` + was + `"`, "'" + was + "'"} {
		behind, found := strings.CutPrefix(rest[len(before):], form)
		if comment := strings.TrimLeft(behind, " \t"); found && before != "" &&
			(strings.TrimSpace(comment) == "" || comment[0] == '#' && comment != behind) {
			lines[line-1] = key + ":" + before + value + behind
			return strings.Join(lines, ""), true
		}
	}
	return text, false
}

// inForce says what of it something stronger than the file overrules here. The error is about settings that cannot be
// read any more.
func (a *app) inForce(cmd *cobra.Command, set *toSet) error {
	c, err := a.loadConfig(cmd)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(set.keys)) {
		e, err := c.Explain(key)
		if err != nil {
			return err
		}
		if fmt.Sprint(e[0].Value) != set.keys[key] {
			fmt.Fprintf(a.err, "thresh: not in force here: %s is %v by %s\n", key,
				cmp.Or(fmt.Sprint(e[0].Value), `""`), e[0].Origin)
		}
	}
	return nil
}
