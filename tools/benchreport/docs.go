package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
)

// figures gives the figures of one run to the tables, and notes which it does not have.
type figures struct {
	byName  map[string]*benchmark
	missing []string
}

// median returns the median of a benchmark in a unit, as benchfmt names it.
func (f *figures) median(name, unit string) float64 {
	if b := f.byName[name]; b != nil && b.all[unit] != nil {
		return median(b.all[unit])
	}
	f.missing = append(f.missing, name+" in "+unit)
	return math.NaN() // is never seen: a table with a missing figure is not written
}

// milliseconds is a time with two digits. seconds is what one of the unit is.
func (f *figures) milliseconds(name, unit string, seconds float64) string {
	ms := f.median(name, unit) * seconds * 1e3
	// More digits would be noise, and differ from run to run.
	switch {
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", math.Round(ms/10)*10)
	case ms >= 10:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 1:
		return fmt.Sprintf("%.1f ms", ms)
	default:
		return fmt.Sprintf("%.2f ms", ms)
	}
}

// turn is a figure of BenchmarkTurn, for a way to take turns and a length of the history.
func (f *figures) turn(way string, tokens int, unit string) string {
	return f.milliseconds(fmt.Sprintf("Turn/%s/tokens=%d", way, tokens), unit, 1e-3)
}

// tables are the rows of the tables that the docs mark, by name. Every cell but those of the first column is a figure.
// The lines above them, with the names of the columns, are the docs' own.
var tables = map[string]func(*figures) [][]string{
	// By the length of the history. "high-density" twice: all turns, and those in which edits were applied.
	"turns": func(f *figures) (rows [][]string) {
		for _, row := range []struct {
			name   string
			tokens int
		}{{"10,000", 10_000}, {"100,000", 100_000}, {"1,000,000", 1_000_000}, {"4,000,000", 4_000_000}} {
			rows = append(rows, []string{
				row.name, f.turn("high-density", row.tokens, "ms/turn"),
				f.turn("high-density", row.tokens, "edit-ms/turn"),
				f.turn("high-density", row.tokens, "p95-ms/turn"), f.turn("idle", row.tokens, "ms/turn"),
				f.turn("high-density-full", row.tokens, "ms/turn"),
				f.turn("top-down-truncation", row.tokens, "ms/turn"),
			})
		}
		return rows
	},
	// Names of benchmarks have no spaces; "go test" puts underscores in their place.
	"counting": func(f *figures) (rows [][]string) {
		for _, text := range [][2]string{
			{"prose", "prose"}, {"Go code", "Go_code"}, {"JSON", "JSON"}, {"log lines", "log_lines"},
			{"Chinese, Japanese, Korean", "CJK"}, {"emoji", "emoji"},
		} {
			row := []string{text[0]}
			for _, encoding := range []string{"o200k_base", "cl100k_base"} {
				name := "Count/" + encoding + "/" + text[1]
				ours, library := f.median(name+"/thresh", "B/s"), f.median(name+"/tiktoken-go", "B/s")
				row = append(row, fmt.Sprintf("%.0f MB/s", ours/1e6), fmt.Sprintf("%.0f ×", ours/library))
			}
			rows = append(rows, row)
		}
		row := []string{"the slowest hostile text"}
		for _, encoding := range []string{"o200k_base", "cl100k_base"} {
			text, rate := f.slowest("Hostile/" + encoding + "/")
			row = append(row, fmt.Sprintf("%.0f MB/s (%s)", rate/1e6, strings.ReplaceAll(text, "_", " ")), "")
		}
		return append(rows, row)
	},
	// What a session of a million tokens costs once.
	"first": func(f *figures) [][]string {
		row := func(what, name string) []string { return []string{what, f.milliseconds(name, "sec/op", 1)} }
		return [][]string{
			row("a vocabulary is ready, at its first use", "Load/o200k_base"),
			row("a session is restored from a file, counting included", "Restore"),
			row("its first turn: the plugin is sent all of it", "Window/idle"),
			row("the same, and high-density prunes all of it", "Window/high-density"),
		}
	},
	// By the size of the request.
	"proxy": func(f *figures) (rows [][]string) {
		for _, size := range [][2]string{{"200 kB", "200kB"}, {"4 MB", "4000kB"}} {
			row := []string{size[0]}
			for _, way := range []string{"direct", "known", "pruned", "first"} {
				row = append(row, f.milliseconds("Request/"+size[1]+"/"+way, "µs/p50", 1e-6))
			}
			rows = append(rows, row)
		}
		return rows
	},
	// The first byte of a single stream; of many, the time until all of them have begun.
	"streams": func(f *figures) [][]string {
		var first, last []string
		for _, way := range []string{"direct", "proxy"} {
			first = append(first, f.milliseconds("FirstByte/1/"+way, "µs/first-byte", 1e-6))
			last = append(last, f.milliseconds("FirstByte/200/"+way, "sec/op", 1))
		}
		return [][]string{
			append([]string{"from the provider's first byte to the client's"}, first...),
			append([]string{"until the last of 200 streams, asked for at once, has begun"}, last...),
		}
	},
	// As many sessions as "make bench" opens.
	"memory": func(f *figures) [][]string {
		times := func(unit string) string { return fmt.Sprintf("%.1f ×", f.median("SessionMemory", unit)) }
		return [][]string{
			{"host, a session as a multiple of its JSON", times("rss-bytes/text-byte")},
			{"left unused by Go's garbage collector, on top", times("slack-bytes/text-byte")},
			{"the process of high-density, for all sessions",
				fmt.Sprintf("%.0f MiB", f.median("SessionMemory", "plugin-MiB"))},
		}
	},
}

// slowest returns, of the benchmarks with a prefix, the one with the lowest median: its name behind the prefix, and its
// bytes per second.
func (f *figures) slowest(prefix string) (name string, rate float64) {
	rate = math.Inf(1)
	for full, b := range f.byName {
		if rest, ok := strings.CutPrefix(full, prefix); ok && b.all["B/s"] != nil && median(b.all["B/s"]) < rate {
			name, rate = rest, median(b.all["B/s"])
		}
	}
	if name == "" {
		f.missing = append(f.missing, prefix+"…")
	}
	return name, rate
}

// A table of the docs stands between these two lines; its name completes the first one.
const beginTable, endTable = "<!-- figures: %s -->\n", "<!-- end of figures -->"

// updateDocs replaces the rows of all tables in a Markdown file. If the run lacks a figure nothing is written, so that
// the tables never show figures of two runs.
func updateDocs(file string, all []*benchmark) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	// Tables look up figures by name; the order of the run does not matter to them.
	f := &figures{byName: map[string]*benchmark{}}
	for _, b := range all {
		f.byName[b.name] = b
	}
	text := string(raw)
	// All of them: one that the page lost would go unnoticed.
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		begin := fmt.Sprintf(beginTable, name)
		before, rest, found := strings.Cut(text, begin)
		old, after, ended := strings.Cut(rest, endTable)
		lines := strings.SplitAfterN(old, "\n", 3) // the names of the columns, the line below them, the rows
		if !found || !ended || len(lines) < 3 {
			return fmt.Errorf("%s: there is no table between %q and %q", file, strings.TrimSpace(begin), endTable)
		}
		var made strings.Builder
		for _, row := range tables[name](f) {
			fmt.Fprintf(&made, "| %s |\n", strings.Join(row, " | "))
		}
		text = before + begin + lines[0] + lines[1] + made.String() + endTable + after
	}
	if len(f.missing) > 0 {
		return fmt.Errorf("%s needs a run of all benchmarks; this one lacks %s", file, strings.Join(f.missing, ", "))
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
