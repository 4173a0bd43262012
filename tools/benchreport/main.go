// Command benchreport turns the output of "go test -bench" on standard input into a table that fits 80 columns: the
// median of each benchmark's repetitions, how far they lie apart, and how it compares with another way to do the same.
//
// Usage: go test -run '^$' -bench . -count 5 ./... | benchreport [-plot FILE] [-docs FILE]
//
// With -plot it also draws the turn times of BenchmarkTurn against the length of the history, as SVG. With -docs it
// puts the figures into the tables of a Markdown file that are marked for it, see docs.go.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// main prints the table to standard output, so docs can be made of it by a pipe.
func main() {
	plot := flag.String("plot", "", "draw the turn times to this SVG file")
	docs := flag.String("docs", "", "put the figures into the marked tables of this Markdown file")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *plot, *docs); err != nil {
		fmt.Fprintf(os.Stderr, "benchreport: %v\n", err)
		os.Exit(1)
	}
}

// run returns an error if the input cannot be read or has no benchmark. A pipe whose first command failed is such an
// input, and must not leave an empty table.
func run(in io.Reader, out io.Writer, plotFile, docsFile string) error {
	all, err := read(in)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("no benchmark on standard input")
	}
	// Before the plot, which may fail because its directory is missing.
	writeTable(out, all)
	// The docs first: without all of their figures, the plot stays as it is too.
	if docsFile != "" {
		if err := updateDocs(docsFile, all); err != nil {
			return err
		}
	}
	if svg := plot(all); plotFile != "" && svg != "" { // not all runs measure turns
		return os.WriteFile(plotFile, []byte(svg), 0o644)
	}
	return nil
}

// benchmark is what one benchmark measured, in its most telling unit.
type benchmark struct {
	// name is without the number of processors. unit is the first of units that the benchmark reports.
	name, unit string
	all        map[string][]float64 // by unit, one value for each repetition
}

// values are those in the most telling unit.
func (b *benchmark) values() []float64 { return b.all[b.unit] }

// median is the middle one of the values.
func (b *benchmark) median() float64 { return median(b.values()) }

// median is the middle value; of an even number, the upper of the two. It is reported and not the mean, as one
// repetition that the machine disturbed must not move it.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// spread is the distance between the least and the greatest value, as a share of the median. Above some percent,
// differences between two benchmarks mean little.
func (b *benchmark) spread() float64 {
	return (slices.Max(b.values()) - slices.Min(b.values())) / b.median()
}

// units are what a benchmark is reported in: the first that it has. benchfmt turns ns into seconds, and MB into bytes.
var units = []string{"ms/turn", "B/s", "rss-bytes/text-byte", "heap-bytes/text-byte", "sec/op"}

// read collects the results by name, in the order of their first appearance.
func read(in io.Reader) ([]*benchmark, error) {
	var all []*benchmark
	byName := map[string]*benchmark{}
	reader := benchfmt.NewReader(in, "standard input")
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		// Lines of configuration, and lines that the parser does not know, such as "ok" of go test.
		if !ok {
			continue
		}
		name := trimProcs(result.Name.String())
		// Repetitions have equal names, and are collected in one benchmark.
		b := byName[name]
		if b == nil {
			b = &benchmark{name: name, all: map[string][]float64{}}
			byName[name] = b
			all = append(all, b)
		}
		for _, value := range result.Values { // a benchmark reports several units, of which one tells most
			b.all[value.Unit] = append(b.all[value.Unit], value.Value)
		}
	}
	for _, b := range all {
		if i := slices.IndexFunc(units, func(unit string) bool { return b.all[unit] != nil }); i >= 0 {
			b.unit = units[i]
		}
	}
	// Benchmarks in units that are not known here have nothing to show.
	return slices.DeleteFunc(all, func(b *benchmark) bool { return b.unit == "" }), reader.Err()
}

// trimProcs removes the number of processors that "go test" appends to a name. Names of different machines are
// comparable without it. A name that itself ends in a dash and digits loses them if the tests ran with one processor.
func trimProcs(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	return name
}

// other is the name of the benchmark that does the same as b in another way; "" if there is none.
func other(name string) string {
	// Tokenizers: ours against the library whose counts ours must equal.
	if rest, ok := strings.CutSuffix(name, "/thresh"); ok {
		return rest + "/tiktoken-go"
	}
	// Turns: what the mirror saves, against sending the whole history.
	if strings.HasPrefix(name, "Turn/high-density/") {
		return strings.Replace(name, "high-density", "high-density-full", 1)
	}
	// Pruning: what a memo saves, against a walk over everything.
	if rest, ok := strings.CutSuffix(name, "/turn"); ok {
		return rest + "/full"
	}
	if strings.HasPrefix(name, "Delta/") {
		return strings.Replace(name, "/delta/", "/full/", 1)
	}
	return ""
}

// writeTable prints one row per benchmark, in the order of the input.
func writeTable(out io.Writer, all []*benchmark) {
	byName := map[string]*benchmark{}
	for _, b := range all {
		byName[b.name] = b
	}
	fmt.Fprintf(out, "%-46s %12s %8s %10s\n", "BENCHMARK", "MEDIAN", "SPREAD", "FASTER BY")
	for _, b := range all {
		faster := ""
		// Blank without the other one: a run may be filtered by name.
		if o := byName[other(b.name)]; o != nil && o.unit == b.unit {
			ratio := o.median() / b.median()
			// More is better for a rate.
			if b.unit == "B/s" {
				ratio = 1 / ratio
			}
			faster = fmt.Sprintf("%.1f ×", ratio)
		}
		fmt.Fprintf(out, "%-46s %12s %7.0f%% %10s\n", short(b.name, 46), format(b.median(), b.unit), 100*b.spread(),
			faster)
	}
}

// short keeps the end of a name, which tells more than its beginning. most counts characters, of which the ellipsis is
// one.
func short(name string, most int) string {
	if r := []rune(name); len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return name
}

// format shows a value with three digits and a prefix.
func format(value float64, unit string) string {
	switch unit {
	case "B/s":
		return fmt.Sprintf("%.1f MB/s", value/1e6)
	// benchfmt took "ms" for a unit of its own and did not scale it.
	case "ms/turn":
		value /= 1e3
	case "sec/op":
	// Ratios of bytes have no prefix.
	default:
		return fmt.Sprintf("%.3g", value)
	}
	for _, scale := range []struct {
		factor float64
		name   string
	}{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}} {
		if value >= scale.factor {
			return fmt.Sprintf("%.3g %s", value/scale.factor, scale.name)
		}
	}
	return fmt.Sprintf("%.3g ns", value*1e9)
}

// byFirst sorts points by their first coordinate.
func byFirst(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) }
