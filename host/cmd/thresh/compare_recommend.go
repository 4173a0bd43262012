package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/internal/atomicfile"
)

func (a *app) printRecommendation(x *compare.Recommendation) {
	fmt.Fprintf(a.out, "\n%s\n", recommendationText(x))
	for _, line := range recommendedLines(x) {
		fmt.Fprintln(a.out, "  "+line)
	}
}

// recommendationText returns the sentence. Money and the worst session are left out if they are zero or unknown.
// x.Variant is "" if nothing that was compared is better than doing nothing.
func recommendationText(x *compare.Recommendation) string {
	headline := x.Headline(func(name string) string { return name }, compare.Kept.Text)
	left := ""
	if s := x.Left(); s != "" {
		left = " " + s + "."
	}
	if x.Variant == "" {
		return headline + "." + left
	}
	money, worst, dearest, needed := "", "", "", ""
	// Below a cent a month the figure would read "0.00".
	if math.Abs(x.PerMonth) >= 0.01 {
		money = fmt.Sprintf(", about %.2f USD a month at this rate", math.Abs(x.PerMonth))
	}
	// A session is cheap: two significant digits tell more than two decimals.
	if math.Abs(x.PerSession) >= 0.0001 {
		money = fmt.Sprintf(" (%.2g USD a session%s)", math.Abs(x.PerSession), money)
	}
	if x.Worst.Differs(min(x.Lines, x.Own)) {
		worst = fmt.Sprintf(" (%s in the worst session)", compare.Kept.Text(x.Worst.Worst))
	}
	if x.Dearest.Differs(x.Relative) {
		dearest = fmt.Sprintf(", %s in the worst session", compare.Change.Text(x.Dearest.Worst))
	}
	if x.Needed {
		needed = " Without a strategy, requests do not fit into the model."
	}
	return fmt.Sprintf("%s: %s against doing nothing%s%s. It keeps %s and %s%s.%s%s To use it, set in thresh.yaml:",
		headline, compare.Change.Text(x.Relative), dearest, money, compare.Kept.Text(x.Lines), compare.Kept.Text(x.Own), worst, left, needed)
}

func recommendedLines(x *compare.Recommendation) []string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(x.Settings)) {
		lines = append(lines, key+": "+x.Settings[key])
	}
	return lines
}

// writeRecommendation adds the settings at the end of ./thresh.yaml, or of the file of --config. It appends the text,
// which preserves comments, order and indentation of a person's file. A key that the file sets to another value is an
// error, which names the value to set.
func (a *app) writeRecommendation(c *config.Config, x *compare.Recommendation) error {
	if x == nil || x.Variant == "" {
		fmt.Fprintln(a.err, "thresh: nothing to write")
		return nil
	}
	file := cmp.Or(a.configFile, "thresh.yaml")
	before, err := os.ReadFile(a.path(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--write: %w", err)
	}
	var added []string
	for _, key := range slices.Sorted(maps.Keys(x.Settings)) {
		// The first element is the value in force, with the layer that it comes from.
		e, err := c.Explain(key)
		if err != nil {
			return fmt.Errorf("--write: %w", err)
		}
		switch layer := e[0].Origin.Layer; {
		case fmt.Sprint(e[0].Value) == x.Settings[key] && layer != config.LayerDefault:
			continue // it is set so already
		// Appending the key would make the file hold it twice, which the loader refuses.
		case layer == config.LayerProjectFile || a.configFile != "" && layer != config.LayerDefault:
			return fmt.Errorf("--write: %s is set in %s; change it there to %q", key, e[0].Origin, x.Settings[key])
		}
		added = append(added, key+": "+x.Settings[key])
	}
	text := string(before)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	text += strings.Join(added, "\n") + "\n"
	// Lines cannot be appended to every YAML file: after one in braces, or one that ends within a block of text, they
	// would mean something else. Decoding the result finds out, and that it is one document.
	whole, values := yaml.NewDecoder(strings.NewReader(text)), map[string]any{}
	if whole.Decode(&values) != nil || !errors.Is(whole.Decode(&values), io.EOF) {
		return fmt.Errorf("--write: the lines cannot be added at the end of %s; add them yourself: %s",
			displayPath(file), strings.Join(added, ", "))
	}
	// A crash leaves the file as it was.
	err = atomicfile.Write(a.path(file), 0o644, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		return fmt.Errorf("--write: %w", err)
	}
	fmt.Fprintf(a.err, "thresh: wrote %d settings to %s\n", len(added), displayPath(file))
	return nil
}
