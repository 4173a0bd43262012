package pricing

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Catalogue is a catalogue of genai-prices that 'make prices' converts to the lists and windows that ship.
type Catalogue struct {
	// Data is prices/new_data/v2/data.json, and License the text that comes with it.
	Data, License []byte
	// Commit and Day ("2006-01-02") are those of the repository that has it.
	Commit, Day string
	// Adds is adds.yaml: what a catalogue does not say.
	Adds []byte
}

// add is what the shipped lists say of a model besides what the catalogue does.
type add struct {
	Model   string  `yaml:"model"`
	Name    string  `yaml:"name"`
	Fast    float64 `yaml:"fast"`
	Minimum int     `yaml:"cacheMinimum"`
	AsOf    string  `yaml:"asOf"`
	Source  string  `yaml:"source"`
}

// others are models that take or give no text, or that nobody meets in a conversation any more.
var others = regexp.MustCompile(`embed|audio|tts|transcribe|realtime|image|-live|moderation|davinci|babbage|curie|^ada|rerank|` +
	`native|:|search|^claude-(2|v1)|vision`)

// Convert returns base.yaml and windows-base.yaml: the models of makers, as the form of a list says them.
func (c Catalogue) Convert() (prices, windows []byte, err error) {
	r := reader{file: "data.json"}
	offers := r.genai(c.Data)
	var adds struct{ Adds []add }
	if err := errors.Join(r.err(), yaml.Unmarshal(c.Adds, &adds)); err != nil {
		return nil, nil, err
	}
	offers = slices.DeleteFunc(offers, func(o offer) bool {
		_, maker := makers[o.provider]
		return !maker || others.MatchString(o.model)
	})
	of := map[string]add{}
	for _, a := range adds.Adds {
		if a.AsOf == "" || a.Source == "" {
			return nil, nil, fmt.Errorf("adds.yaml: %s: asOf or source is missing", a.Model)
		}
		if !slices.ContainsFunc(offers, func(o offer) bool { return o.model == a.Model }) {
			return nil, nil, fmt.Errorf("adds.yaml: the catalogue has no model %q", a.Model)
		}
		of[a.Model] = a
	}
	var b, w bytes.Buffer
	for _, to := range []*bytes.Buffer{&b, &w} {
		fmt.Fprintf(to, "# Converted by 'make prices': do not edit.\n# Of %s, commit %s of github.com/pydantic/genai-prices.\n#\n",
			c.Day, c.Commit)
	}
	for line := range strings.Lines(string(c.License)) {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
	b.WriteString("lists:\n")
	w.WriteString("# The notice of its licence is in base.yaml.\nwindows:\n")
	names := map[string]bool{}
	for _, o := range offers {
		l, ok := o.list(c.Day)
		if !ok {
			continue
		}
		if a, ok := of[o.model]; ok {
			l.Fast = a.Fast
			if l.CacheRead > 0 && a.Minimum > 0 {
				l.CacheMinimum = a.Minimum
			}
			if a.Name != "" {
				l.Name = a.Name
			}
			if a.Fast > 0 {
				l.Note = fmt.Sprintf("What speed costs is of %s, from %s", a.AsOf, a.Source)
			}
		}
		if names[l.Name] {
			return nil, nil, fmt.Errorf("two models make a list of the name %s", l.Name)
		}
		names[l.Name] = true
		b.WriteString("  - " + l.line() + "\n")
	}
	for _, row := range windowRows(offers, c.Day) {
		fmt.Fprintf(&w, "  - {models: [%s], input: %d, asOf: \"%s\", source: %s}\n", quoted(row.Models), row.Input, row.AsOf, row.Source)
	}
	return b.Bytes(), w.Bytes(), nil
}

// windowRows returns the windows of models that no row kept here has, those of a size and provider in one row.
func windowRows(offers []offer, day string) (rows []Window) {
	for _, o := range offers {
		models := slices.DeleteFunc(slices.Clone(o.models), func(p string) bool {
			return find(windows(), strings.ReplaceAll(p, "*", "")).Input > 0
		})
		if o.window == 0 || len(models) == 0 {
			continue
		}
		i := slices.IndexFunc(rows, func(r Window) bool { return r.Input == o.window && r.Source == o.source })
		if i < 0 {
			i, rows = len(rows), append(rows, Window{Input: o.window, AsOf: day, Source: o.source})
		}
		rows[i].Models = append(rows[i].Models, models...)
	}
	return rows
}

// line writes a list in one line.
func (l *List) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{name: %s, models: [%s], %s", l.Name, quoted(l.Models), l.rates().fields())
	if len(l.Over) > 0 {
		fmt.Fprintf(&b, ", over: %s", overs(l.Over))
	}
	for i, f := range l.From {
		fmt.Fprintf(&b, "%s{day: \"%s\", %s", []string{", from: [", ", "}[min(i, 1)], f.Day, f.Rates.fields())
		if len(f.Over) > 0 {
			fmt.Fprintf(&b, ", over: %s", overs(f.Over))
		}
		b.WriteString("}")
	}
	if len(l.From) > 0 {
		b.WriteString("]")
	}
	if l.Fast > 0 {
		fmt.Fprintf(&b, ", fast: %g", l.Fast)
	}
	if l.CacheTTL > 0 {
		fmt.Fprintf(&b, ", cacheTTL: %s, cacheMinimum: %d", l.TTL(), l.CacheMinimum)
	}
	fmt.Fprintf(&b, ", asOf: \"%s\", source: %s", l.AsOf, l.Source)
	if l.Note != "" {
		fmt.Fprintf(&b, ", note: \"%s\"", l.Note)
	}
	return b.String() + "}"
}

func overs(all []Over) string {
	var lines []string
	for _, o := range all {
		lines = append(lines, fmt.Sprintf("{tokens: %d, %s}", o.Tokens, o.Rates.fields()))
	}
	return "[" + strings.Join(lines, ", ") + "]"
}

// fields writes the rates as fields of a table.
func (r Rates) fields() string {
	s := fmt.Sprintf("input: %g", r.Input)
	for _, f := range []struct {
		name string
		usd  float64
	}{{"cacheRead", r.CacheRead}, {"cacheWrite", r.CacheWrite}, {"cacheWriteHour", r.CacheWriteHour}} {
		if f.usd > 0 {
			s += fmt.Sprintf(", %s: %g", f.name, f.usd)
		}
	}
	return s + fmt.Sprintf(", output: %g", r.Output)
}

// quoted writes patterns of models; those with letters that mean something in YAML in quotes.
func quoted(models []string) string {
	out := make([]string, len(models))
	for i, m := range models {
		if out[i] = m; strings.ContainsAny(m, "*?[]{}:#&!|>'\"%@`\\, ") {
			out[i] = fmt.Sprintf("%q", m)
		}
	}
	return strings.Join(out, ", ")
}
