// Command benchreport puts the medians of "go test -bench", read from standard input, into the tables of a Markdown file
// that are marked for it, see docs.go.
//
// Usage: go test -run '^$' -bench . -count 5 ./... | benchreport FILE
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: benchreport FILE < OUTPUT")
		os.Exit(2)
	}
	if err := run(os.Stdin, os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "benchreport: %v\n", err)
		os.Exit(1)
	}
}

// run returns an error if the input cannot be read or has no benchmark. A pipe whose first command failed is such an
// input.
func run(in io.Reader, file string) error {
	all, err := read(in)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("no benchmark on standard input")
	}
	return updateDocs(file, all)
}

// benchmark is what the repetitions of one benchmark measured, by unit; benchfmt turns ns into seconds, and MB into
// bytes. Its name is without the number of processors.
type benchmark struct {
	name string
	all  map[string][]float64
}

// median is the middle value; of an even number, the upper of the two. It is reported and not the mean, as one
// repetition that the machine disturbed must not move it.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

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
	return all, reader.Err()
}

// trimProcs removes the number of processors that "go test" appends to a name. Names of different machines are
// comparable without it. A name that itself ends in a dash and digits loses them if the tests ran with one processor.
func trimProcs(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	return name
}
