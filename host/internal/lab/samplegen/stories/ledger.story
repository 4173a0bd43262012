# Gemini CLI: a refactoring across files, read in bulk, with a refused call and a change of mind.
@user
Hi! This expense CLI grew out of a weekend script and it shows: global variables, float amounts, dates as strings, everything in package main. I'd like to refactor it step by step. Please read the whole code first and tell me what you would do, in which order. No changes yet.
@ai
I'll read all source files at once to get the full picture.
@think
Understanding the codebase: The user wants an overview and a plan before anything is changed. The project is small, so I can read all of it in one go and then run the tests to know the baseline.
@glob **/*.go
@ai
@many entry.go store.go report.go budget.go main.go
@ai
Now the tests, the sample and the README, and the state of the test suite.
@many entry_test.go report_test.go README.md sample.csv
@sh go test ./... ## Baseline: run the test suite
@ai
The tests pass, but I want to see how the float amounts behave in practice before I propose anything. The sample has two bags for 0.10 and 0.20, which is the classic case.
@think
Checking for float trouble: 0.1 + 0.2 = 0.30000000000000004 as float64. With a budget of exactly what was spent, `left == 0` may be false, or left may be a tiny negative number and be reported as over. Let me find a case in the sample: groceries in 2024-03 are 0.10+0.20+33.33 = 33.63.
@sh! go run . -file sample.csv budget groceries 33.63 ## See how the budget check treats an exact budget
@sh go run . -file sample.csv report ## See the report
@ai
@write float_test.go
package main

import (
	"fmt"
	"testing"
)

func TestFloatDemo(t *testing.T) {
	sum := 0.10
	sum += 0.20
	left := 0.30 - sum
	fmt.Printf("spent %.20f\nleft  %.20f\nverdict over: %v\n", sum, left, left < 0)
}
@sh go test -run TestFloatDemo -v . ## Demonstrate the rounding problem
@sh rm float_test.go ## Remove the demonstration again
@ai
Here is what I found.

**Problems**
1. `Amount float64`. The demonstration shows it: 0.10 + 0.20 spent against a budget of 0.30 would be reported as *over*, because the difference is a tiny negative number. And in the run above March has 0.00 left but says *ok* where it should say *used up*: `left == 0` does not hold either.
2. Global state: `entries` and `fileName` in `store.go` are read by `report.go`, `budget.go` and `main.go`. Tests can only work by calling `load`.
3. `save` truncates the file before it writes. If anything fails on the way, the ledger is gone. It also ignores the errors of `w.Write`.
4. `checkDate` accepts 2024-02-31.
5. `sumByCategory`, `sumByMonth` and `checkBudget` are three copies of one loop.

**Order**
1. `money` package: `Cents` as an integer, parse and format, with tests. Nothing else changes.
2. Use it everywhere.
3. A `Ledger` type instead of the globals, with an atomic save.
4. Real dates.
5. One summing function; reports on top of it.

Every step leaves the tests green and can be committed on its own. Shall I begin with 1?
@user
Good list. Two constraints: keep the CSV format exactly as it is (other scripts read it), and please don't create a lot of packages. `money` is fine, `ledger` for the rest, main stays thin. Go ahead with 1.
@ai
Understood: the CSV format is fixed, and two packages, `money` and `ledger`, next to a thin `main`. Starting with `money`.
@think
Designing the money type: Cents as int64. Parse must accept what ParseFloat accepted in practice: "23.90", "870", "-24.99", "0.1". It should refuse more than two decimals instead of rounding silently, exponents, and NaN. Overflow has to be an error.
@write money/money.go
// Package money does arithmetic on amounts without rounding.
package money

import (
	"fmt"
	"strconv"
	"strings"
)

// Cents is an amount in hundredths of a euro.
type Cents int64

// Parse reads "23.90", "23.9", "23" and "-0.05". More than two decimals are an error: nothing is rounded silently.
func Parse(s string) (Cents, error) {
	digits, negative := strings.CutPrefix(strings.TrimSpace(s), "-")
	whole, part, hasPart := strings.Cut(digits, ".")
	if !allDigits(whole) || hasPart && !allDigits(part) {
		return 0, fmt.Errorf("amount %q: want a number such as 23.90", s)
	}
	if len(part) > 2 {
		return 0, fmt.Errorf("amount %q: more than two decimals", s)
	}
	part += "00"[len(part):]
	n, err := strconv.ParseInt(whole+part, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("amount %q: too large", s)
	}
	if negative {
		n = -n
	}
	return Cents(n), nil
}

func allDigits(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// String returns the amount with two decimals, as Parse reads it.
func (c Cents) String() string {
	return fmt.Sprintf("%d.%02d", c/100, c%100)
}
@write money/money_test.go
package money

import "testing"

func TestParseAndString(t *testing.T) {
	tests := []struct {
		in   string
		want Cents
		out  string
	}{
		{"23.90", 2390, "23.90"},
		{"23.9", 2390, "23.90"},
		{"870", 87000, "870.00"},
		{"0.05", 5, "0.05"},
		{"-24.99", -2499, "-24.99"},
		{"-0.05", -5, "-0.05"},
		{" 1.00 ", 100, "1.00"},
		{"92233720368547758.07", 9223372036854775807, "92233720368547758.07"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, err := Parse(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("Parse = %d, want %d", int64(got), int64(tt.want))
			}
			if s := got.String(); s != tt.out {
				t.Errorf("String() = %q, want %q", s, tt.out)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, in := range []string{"", "-", ".", "1.", ".5", "1.234", "1e3", "NaN", "--1", "1,50", "92233720368547758.08"} {
		t.Run(in, func(t *testing.T) {
			if got, err := Parse(in); err == nil {
				t.Errorf("Parse = %v, want an error", got)
			}
		})
	}
}
@ai
@sh! go test ./money -v ## Run the new tests
@ai
Parsing works. `String` doesn't: for negative amounts both the quotient and the remainder are negative, so the sign appears in the wrong place. I'll format the sign on its own.
@edit money/money.go
	return fmt.Sprintf("%d.%02d", c/100, c%100)
====
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
@sh go test ./money ## Run the new tests again
@ai
Step 1 is done. `money.Cents` is exact, refuses what it would have to round, and prints what it reads.

Next is step 2: use it everywhere. That touches `entry.go`, `report.go`, `budget.go`, `main.go` and one test.
@user
Go on with 2.
@ai
I'll read the files that change once more, so that the edits match, and look for every float.
@read entry.go
@read report.go
@read budget.go
@grep float64|ParseFloat|%10\.2f
@ai
@edit entry.go
	amount, err := strconv.ParseFloat(strings.TrimSpace(fields[2]), 64)
	if err != nil {
		return Entry{}, fmt.Errorf("amount %q: %v", fields[2], err)
	}
====
	amount, err := money.Parse(fields[2])
	if err != nil {
		return Entry{}, err
	}
@edit entry.go
	Amount   float64
====
	Amount   money.Cents
@edit! entry.go
	return []string{e.Date, e.Category, strconv.FormatFloat(e.Amount, 'f', 2, 32), e.Note}
====
	return []string{e.Date, e.Category, e.Amount.String(), e.Note}
@edit entry.go
import (
	"fmt"
	"strconv"
	"strings"
)
====
import (
	"fmt"
	"strings"

	"example.com/ledger/money"
)
@ai
One of the edits did not apply: I wrote 32 where the file says 64. Reading the lines again to be sure.
@read entry.go
@ai
@edit entry.go
	return []string{e.Date, e.Category, strconv.FormatFloat(e.Amount, 'f', 2, 64), e.Note}
====
	return []string{e.Date, e.Category, e.Amount.String(), e.Note}
@edit report.go
func sumByCategory(month string) map[string]float64 {
	sums := make(map[string]float64)
====
func sumByCategory(month string) map[string]money.Cents {
	sums := make(map[string]money.Cents)
@edit report.go
func sumByMonth() map[string]float64 {
	sums := make(map[string]float64)
====
func sumByMonth() map[string]money.Cents {
	sums := make(map[string]money.Cents)
@edit report.go
func printSums(w io.Writer, sums map[string]float64) {
====
func printSums(w io.Writer, sums map[string]money.Cents) {
@edit report.go
	total := 0.0
	for _, name := range names {
		fmt.Fprintf(w, "  %-12s %10.2f\n", name, sums[name])
		total += sums[name]
	}
	fmt.Fprintf(w, "  %-12s %10.2f\n", "total", total)
====
	var total money.Cents
	for _, name := range names {
		fmt.Fprintf(w, "  %-12s %10s\n", name, sums[name])
		total += sums[name]
	}
	fmt.Fprintf(w, "  %-12s %10s\n", "total", total)
@edit report.go
		fmt.Fprintf(w, "%s  %-12s %10.2f  %s\n", e.Date, e.Category, e.Amount, e.Note)
====
		fmt.Fprintf(w, "%s  %-12s %10s  %s\n", e.Date, e.Category, e.Amount, e.Note)
@edit report.go
	"io"
	"sort"
)
====
	"io"
	"sort"

	"example.com/ledger/money"
)
@edit budget.go
func checkBudget(w io.Writer, category string, budget float64) bool {
	spent := make(map[string]float64)
====
func checkBudget(w io.Writer, category string, budget money.Cents) bool {
	spent := make(map[string]money.Cents)
@edit budget.go
		fmt.Fprintf(w, "%s  spent %10.2f  left %10.2f  %s\n", m, spent[m], left, verdict)
====
		fmt.Fprintf(w, "%s  spent %10s  left %10s  %s\n", m, spent[m], left, verdict)
@edit budget.go
	"io"
	"sort"
)
====
	"io"
	"sort"

	"example.com/ledger/money"
)
@edit main.go
		amount, err := strconv.ParseFloat(args[1], 64)
		if err != nil {
			fail(fmt.Errorf("budget %q: %v", args[1], err))
		}
====
		amount, err := money.Parse(args[1])
		if err != nil {
			fail(fmt.Errorf("budget: %w", err))
		}
@ai
@sh! go build ./... ## Build
@ai
Only the import in `main.go` is missing.
@edit main.go
	"os"
	"strconv"
)
====
	"os"

	"example.com/ledger/money"
)
@sh! go test ./... ## Run all tests
@ai
It builds. One test compares against `Amount: 870`, which now means 8.70. That is a fault of the test's number, not of the code.
@read entry_test.go
@ai
@edit entry_test.go
Amount: 870, Note: "March"}
====
Amount: 870_00, Note: "March"}
@sh go vet ./... && go test ./... ## Vet and test
@sh! go run . -file sample.csv budget groceries 33.63 ## The exact budget again
@ai
All green. With a budget of exactly 33.63 March is now "used up", by arithmetic and not by luck (January and February are over, hence the exit status 1).

Let me also check that the CSV stays as it is: adding an entry must change nothing but one line.
@sh go run . -file sample.csv add 2024-03-29 groceries 12.5 "eggs" && git diff sample.csv; git checkout -q sample.csv ## Check that only one line is added
@sh git add -A && git commit -q -m "Exact amounts: money.Cents instead of float64" && git log --oneline ## Commit step 2
@info
Gemini CLI update available. Restart to install it.
@user
Nice. Step 3, the Ledger type. Could you do it in one go: move everything but main.go into a package ledger?
@ai
Yes. Moving and changing at once makes the diff hard to read, so I'll do two commits: first the move with `git mv`, then the type. I read the current state of all files first.
@many entry.go store.go report.go budget.go main.go
@ai
@edit? store.go
package main

import (
====
// Package ledger keeps expenses in a CSV file.
package ledger

import (
@user
Sorry, I cancelled that one: please do `git mv` first so that the history follows the files. And put it under `internal/ledger`, I don't want anybody to import it.
@ai
Right, first the move, into `internal/ledger`.
@think
Adjusting to the correction: The move must come first. money could also go under internal, but the user said `money` is fine and did not ask for that; I'll ask later rather than do it unasked.
@sh mkdir -p internal/ledger && git mv entry.go store.go report.go budget.go entry_test.go report_test.go internal/ledger/ && git mv sample.csv internal/ledger/ && git status --short ## Move the files with git
@sh sed -i.bak 's/^package main$/package ledger/' internal/ledger/*.go && rm internal/ledger/*.bak && go vet ./internal/ledger && go test ./internal/ledger ## Rename the package and test it alone
@ai
The package stands on its own. Now the type. `store.go` becomes the `Ledger` with `Open`, `Add` and `Save`; the save goes to a temporary file in the same directory and is renamed over the old one.
@read internal/ledger/store.go
@ai
@write internal/ledger/store.go
// Package ledger keeps expenses in a CSV file.
package ledger

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

var header = []string{"date", "category", "amount", "note"}

// Ledger is a list of entries and the file they live in.
type Ledger struct {
	file    string
	entries []Entry
}

// Open reads the ledger in file. A file that does not exist is an empty ledger.
func Open(file string) (*Ledger, error) {
	l := &Ledger{file: file}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if l.entries, err = read(f); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return l, nil
}

func read(r io.Reader) ([]Entry, error) {
	cr := csv.NewReader(r)
	cr.FieldsPerRecord = len(header)
	first, err := cr.Read()
	if err == io.EOF {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !slices.Equal(first, header) {
		return nil, fmt.Errorf("line 1 is %q, want the header %q", first, header)
	}
	var entries []Entry
	for {
		fields, err := cr.Read()
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
		e, err := ParseEntry(fields)
		if err != nil {
			line, _ := cr.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		entries = append(entries, e)
	}
}

// Add appends an entry. It is not on disk before Save.
func (l *Ledger) Add(e Entry) {
	l.entries = append(l.entries, e)
}

// Save writes the ledger. If it fails, the file is as it was.
func (l *Ledger) Save() (err error) {
	f, err := os.CreateTemp(filepath.Dir(l.file), ".ledger-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := csv.NewWriter(f)
	if err := w.Write(header); err != nil {
		return err
	}
	for _, e := range l.entries {
		if err := w.Write(e.Fields()); err != nil {
			return err
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), l.file)
}
@read internal/ledger/report.go
@read internal/ledger/budget.go
@ai
The three loops over the entries are one function with a key and a filter. That is step 5, but it falls out of this change, so I do it here.
@write internal/ledger/report.go
package ledger

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"example.com/ledger/money"
)

// Filter chooses entries. The zero value chooses all.
type Filter struct {
	Month    string // 2006-01
	Category string
}

func (f Filter) matches(e Entry) bool {
	return (f.Month == "" || f.Month == e.Month()) && (f.Category == "" || f.Category == e.Category)
}

// sums adds up the entries that match f, by key.
func (l *Ledger) sums(f Filter, key func(Entry) string) map[string]money.Cents {
	sums := make(map[string]money.Cents)
	for _, e := range l.entries {
		if f.matches(e) {
			sums[key(e)] += e.Amount
		}
	}
	return sums
}

func byCategory(e Entry) string { return e.Category }

// Report writes what was spent by month and by category.
func (l *Ledger) Report(w io.Writer) {
	fmt.Fprintln(w, "By month")
	printSums(w, l.sums(Filter{}, Entry.Month))
	fmt.Fprintln(w)
	fmt.Fprintln(w, "By category")
	printSums(w, l.sums(Filter{}, byCategory))
}

func printSums(w io.Writer, sums map[string]money.Cents) {
	var total money.Cents
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(w, "  %-12s %10s\n", name, sums[name])
		total += sums[name]
	}
	fmt.Fprintf(w, "  %-12s %10s\n", "total", total)
}

// List writes the entries that match f, one a line.
func (l *Ledger) List(w io.Writer, f Filter) {
	for _, e := range l.entries {
		if f.matches(e) {
			fmt.Fprintf(w, "%s  %-12s %10s  %s\n", e.Date, e.Category, e.Amount, e.Note)
		}
	}
}
@write internal/ledger/budget.go
package ledger

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"example.com/ledger/money"
)

// CheckBudget writes, for each month, how much of the budget of a category is left.
// It reports whether the budget was kept in every month.
func (l *Ledger) CheckBudget(w io.Writer, category string, budget money.Cents) bool {
	spent := l.sums(Filter{Category: category}, Entry.Month)
	kept := true
	for _, m := range slices.Sorted(maps.Keys(spent)) {
		left := budget - spent[m]
		verdict := "ok"
		switch {
		case left < 0:
			verdict, kept = "over", false
		case left == 0:
			verdict = "used up"
		}
		fmt.Fprintf(w, "%s  spent %10s  left %10s  %s\n", m, spent[m], left, verdict)
	}
	return kept
}
@ai
@read main.go
@read internal/ledger/report_test.go
@ai
@write main.go
// Command ledger keeps expenses in a CSV file.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"example.com/ledger/internal/ledger"
	"example.com/ledger/money"
)

const usage = `usage: ledger [-file FILE] COMMAND
  add DATE CATEGORY AMOUNT [NOTE]
  list [-month MONTH] [-category CATEGORY]
  report
  budget CATEGORY AMOUNT
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status: 0 done, 1 failed or over budget, 2 wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("ledger", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	file := flags.String("file", "ledger.csv", "the ledger")
	if flags.Parse(args) != nil {
		return 2
	}
	commands := map[string]func(*ledger.Ledger, []string, io.Writer) (int, error){
		"add": add, "list": list, "report": report, "budget": budget,
	}
	command, ok := commands[flags.Arg(0)]
	if !ok {
		fmt.Fprint(stderr, usage)
		return 2
	}
	l, err := ledger.Open(*file)
	if err != nil {
		fmt.Fprintln(stderr, "ledger:", err)
		return 1
	}
	status, err := command(l, flags.Args()[1:], stdout)
	if err != nil {
		fmt.Fprintln(stderr, "ledger:", err)
	}
	return status
}

func add(l *ledger.Ledger, args []string, _ io.Writer) (int, error) {
	switch len(args) {
	case 3:
		args = append(args, "")
	case 4:
	default:
		return 2, fmt.Errorf("add: %d arguments, want DATE CATEGORY AMOUNT [NOTE]", len(args))
	}
	e, err := ledger.ParseEntry(args)
	if err != nil {
		return 1, err
	}
	l.Add(e)
	if err := l.Save(); err != nil {
		return 1, err
	}
	return 0, nil
}

func list(l *ledger.Ledger, args []string, w io.Writer) (int, error) {
	var f ledger.Filter
	flags := flag.NewFlagSet("list", flag.ContinueOnError)
	flags.StringVar(&f.Month, "month", "", "only this month, as 2006-01")
	flags.StringVar(&f.Category, "category", "", "only this category")
	if err := flags.Parse(args); err != nil {
		return 2, err
	}
	l.List(w, f)
	return 0, nil
}

func report(l *ledger.Ledger, _ []string, w io.Writer) (int, error) {
	l.Report(w)
	return 0, nil
}

func budget(l *ledger.Ledger, args []string, w io.Writer) (int, error) {
	if len(args) != 2 {
		return 2, fmt.Errorf("budget: %d arguments, want CATEGORY AMOUNT", len(args))
	}
	amount, err := money.Parse(args[1])
	if err != nil {
		return 1, err
	}
	if !l.CheckBudget(w, args[0], amount) {
		return 1, nil
	}
	return 0, nil
}
@sh! go test ./... ## Test; the tests still call the old functions
@ai
As expected, only the tests still use the old names. They can now build a ledger without touching package state.
@write internal/ledger/report_test.go
package ledger

import (
	"strings"
	"testing"
)

func open(t *testing.T, file string) *Ledger {
	t.Helper()
	l, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestReportOfSample(t *testing.T) {
	var b strings.Builder
	open(t, "sample.csv").Report(&b)
	for _, want := range []string{"rent            2570.00", "groceries        212.96", "total           2955.16"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestList(t *testing.T) {
	l := open(t, "sample.csv")
	tests := []struct {
		name   string
		filter Filter
		want   int
	}{
		{"all", Filter{}, 18},
		{"a month", Filter{Month: "2024-02"}, 6},
		{"a category", Filter{Category: "books"}, 2},
		{"both", Filter{Month: "2024-02", Category: "books"}, 1},
		{"nothing", Filter{Month: "1999-01"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			l.List(&b, tt.filter)
			if got := strings.Count(b.String(), "\n"); got != tt.want {
				t.Errorf("%d lines, want %d:\n%s", got, tt.want, b.String())
			}
		})
	}
}

func TestCheckBudgetIsExact(t *testing.T) {
	l := &Ledger{}
	for _, amount := range []string{"0.10", "0.20"} {
		e, err := ParseEntry([]string{"2024-03-02", "groceries", amount, ""})
		if err != nil {
			t.Fatal(err)
		}
		l.Add(e)
	}
	var b strings.Builder
	if !l.CheckBudget(&b, "groceries", 30) {
		t.Errorf("0.10 + 0.20 is over a budget of 0.30:\n%s", b.String())
	}
	if !strings.Contains(b.String(), "used up") {
		t.Errorf("want the budget used up:\n%s", b.String())
	}
}
@write internal/ledger/store_test.go
package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSaveKeepsTheFormat(t *testing.T) {
	before, err := os.ReadFile("sample.csv")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "copy.csv")
	l := open(t, "sample.csv")
	l.file = file
	if err := l.Save(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(after) != string(before) {
		t.Errorf("the file changed:\n%s", after)
	}
}

func TestSaveThatFailsLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	l := &Ledger{file: filepath.Join(dir, "taken")}
	if err := os.MkdirAll(filepath.Join(l.file, "by a directory"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := l.Save(); err == nil {
		t.Fatal("Save succeeded over a directory")
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 1 {
		t.Errorf("%d files in the directory, want only the one that was there", len(names))
	}
}

func TestOpenErrorsNameTheLine(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"no header", "2024-01-01,rent,1.00,\n", "line 1"},
		{"bad amount", "date,category,amount,note\n2024-01-01,rent,1.00,\n2024-01-01,rent,x,\n", "line 3"},
		{"bad amount after a note of two lines", "date,category,amount,note\n2024-01-01,rent,1.00,\"a\nb\"\n2024-01-01,rent,x,\n", "line 4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "bad.csv")
			if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Open(file)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that names %s", err, tt.want)
			}
		})
	}
}
@ai
@sh go vet ./... && go test -v ./... ## Vet and run all tests verbosely
@sh gofmt -l . ## Check formatting
@ai
Everything passes. Before I commit, a look at the size of the change and at the rest of the globals.
@sh git add -A && git diff --cached --stat -M HEAD && grep -n "^var" main.go internal/ledger/*.go money/*.go ## Size of the change; remaining package variables
@ai
Only `header` is left as a package variable, and nothing changes it. Committing.
@sh git commit -q -m "internal/ledger: a Ledger type with an atomic save instead of package variables" && git log --oneline ## Commit
@user
Hmm wait, didn't you promise two commits, the move and then the type?
@ai
You're right, I said two and made one. I'll split it: the move on its own, with the code as it was apart from the package name, then the type on top.
@think
Splitting the commit: Soft reset to the previous commit, stash nothing. The move commit needs the old contents under the new paths. I can build it from the old tree: git show HEAD:entry.go with the package line replaced. But main.go would not compile in between since it uses load() etc. from the package. So the move commit cannot be green on its own unless names are exported. I should tell the user that instead of making a commit that doesn't build.
@sh git show --stat -M --format=%s HEAD ## See what git recorded as renames
@ai
I have to correct my own plan: a pure move can't build. `main.go` calls `load`, `save` and `printReport`, which are not visible from another package, so the move alone would leave a commit that fails to compile, and you'd trip over it in a bisect.

As the stat shows, git recorded `entry.go`, its test and the sample as renames. `store.go`, `report.go`, `budget.go` and `report_test.go` changed so much that they count as new files, so their history does not follow. That is the price of the one commit; I'd still leave it. I should have said so before committing.
@user
OK, good reason, leave it. Step 4 then: real dates. Note that "2024-02-31" must be an error that names the line.
@ai
@read internal/ledger/entry.go
@read internal/ledger/entry_test.go
@grep \.Date|checkDate|Month\(\)
@ai
I'll use `time.Time` in `Entry` with the format as a constant. The test for the impossible date first.
@edit internal/ledger/entry_test.go
		{"letters in the date", []string{"2024-03-xx", "rent", "870", ""}},
====
		{"letters in the date", []string{"2024-03-xx", "rent", "870", ""}},
		{"a day that does not exist", []string{"2024-02-31", "rent", "870", ""}},
		{"no leap year", []string{"2023-02-29", "rent", "870", ""}},
@edit internal/ledger/store_test.go
		{"bad amount after
====
		{"a day that does not exist", "date,category,amount,note\n2024-02-31,rent,1.00,\n", "line 2"},
		{"bad amount after
@sh! go test ./internal/ledger ## Show the failures
@ai
@edit internal/ledger/entry.go
	Date     string // 2006-01-02
====
	Date     time.Time // a day, at midnight UTC
@edit internal/ledger/entry.go
	e := Entry{
		Date:     strings.TrimSpace(fields[0]),
====
	date, err := time.Parse(dateFormat, strings.TrimSpace(fields[0]))
	if err != nil {
		return Entry{}, fmt.Errorf("date %q: want a day that exists, as YYYY-MM-DD", fields[0])
	}
	e := Entry{
		Date:     date,
@edit internal/ledger/entry.go
	if err := checkDate(e.Date); err != nil {
		return Entry{}, err
	}
	return e, nil
====
	return e, nil
@edit internal/ledger/entry.go
	return []string{e.Date, e.Category
====
	return []string{e.Date.Format(dateFormat), e.Category
@edit internal/ledger/entry.go
	return e.Date[:7]
}

func checkDate(s string) error {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return fmt.Errorf("date %q: want YYYY-MM-DD", s)
	}
	for i, c := range s {
		if i == 4 || i == 7 {
			continue
		}
		if c < '0' || c > '9' {
			return fmt.Errorf("date %q: want YYYY-MM-DD", s)
		}
	}
	return nil
}
====
	return e.Date.Format("2006-01")
}
@edit internal/ledger/entry.go
// Entry is one expense.
====
const dateFormat = "2006-01-02"

// Entry is one expense.
@edit internal/ledger/entry.go
	"strings"

====
	"strings"
	"time"

@edit internal/ledger/report.go
e.Date, e.Category, e.Amount, e.Note)
====
e.Date.Format(dateFormat), e.Category, e.Amount, e.Note)
@read internal/ledger/entry.go
@ai
The file reads well. The test that builds an `Entry` by hand needs a real date.
@edit internal/ledger/entry_test.go
Date: "2024-03-01",
====
Date: time.Date(2024, time.March, 1, 0, 0, 0, 0, time.UTC),
@edit internal/ledger/entry_test.go
import "testing"
====
import (
	"testing"
	"time"
)
@ai
@sh gofmt -l . ; go vet ./... && go test ./... ## Format, vet, test
@sh! printf 'date,category,amount,note\n2024-02-31,rent,1.00,\n' > bad.csv; go run . -file bad.csv report; status=$?; rm bad.csv; exit $status ## The error as a user sees it
@ai
`gofmt` wants the struct's comments aligned; I'll run it.
@sh gofmt -w internal/ledger/entry.go && gofmt -l . && go test ./... && git diff -U1 && git add -A && git commit -q -m "Entries have real dates" && git log --oneline ## Format, test, show, commit
@user
Great. Last: README. It doesn't mention the new -category filter. And please show me one final overview of the code, all files, as it stands.
@ai
@read README.md
@ai
@edit README.md
    ledger -file my.csv list -month 2024-03
====
    ledger -file my.csv list -month 2024-03 -category groceries
@edit README.md
Amounts are in euro. A negative amount is a refund.
====
Amounts are in euro, with at most two decimals; nothing is rounded. A negative amount is a refund.
`budget` ends with status 1 if a month was over budget. A save that fails leaves the file as it was.
@many main.go internal/ledger/entry.go internal/ledger/store.go internal/ledger/report.go internal/ledger/budget.go money/money.go
@many internal/ledger/entry_test.go internal/ledger/store_test.go internal/ledger/report_test.go money/money_test.go
@sh git add -A && git commit -q -m "README: filter, exactness, exit status" && git diff --stat HEAD~4 && git log --oneline ## Commit and show the whole change
@ai
The README is committed, and above are all files as they stand. In short:

| step | result |
|---|---|
| 1, 2 | `money.Cents`: exact amounts, nothing rounded silently |
| 3, 5 | `internal/ledger.Ledger`: no package state, atomic save, one summing function |
| 4 | real dates; an impossible day is an error with its line |
| main | thin, testable through `run` |

The CSV format is unchanged, and `TestSaveKeepsTheFormat` holds it to that byte by byte. One thing I left alone: there is no test for `run` in `main.go` yet.
@user
That's fine, I'll write that one myself. One more thing while you have it all in view: my bank exports statements as CSV, and I type those in by hand. Could you add `ledger import FILE`? Running it twice, or on statements that overlap, must not add anything twice. Tell me first what you need to know.
@ai
Let me look at what an import can build on.
@read internal/ledger/entry.go
@read internal/ledger/store.go
@grep ^func in internal/ledger
@ai
`Add` and `Save` are enough to write; the import needs a reader of its own, since the bank's columns will not be ours. Three questions:

1. What does a statement look like? A few lines, with made-up amounts, would do.
2. Is an amount you spent negative there? In the ledger it is positive.
3. Which category should an imported entry get?
@user
Like this:

```
Booked;Text;Amount
02.03.2024;CORNER MARKET;-23,90
02.03.2024;COFFEE BAR;-2,80
02.03.2024;COFFEE BAR;-2,80
05.03.2024;SALARY;2500,00
```

Spent is negative. Positive lines are salary and the like: skip them, but tell me how many. For the category take that of the latest entry with the same text as note, otherwise "uncategorised". And yes, two coffees on one day happen.
@ai
The two coffees are the interesting case: lines that look alike within one statement are both real, lines that look alike in two statements are not. I'll write the tests first.
@think
Planning the import: All or nothing, as with Open: an error on line 4 must not leave lines 2 and 3 in the ledger. Duplicates are decided by date, amount and text, not by category, because the user may change that. The statement is read before anything is added.
@todo
doing Tests for the import: signs, credits, categories, repeated lines, errors
open Ledger.Import
open The import command in main.go
open README and commit
@write internal/ledger/import_test.go
package ledger

import (
	"strings"
	"testing"
)

const statement = `Booked;Text;Amount
02.03.2024;CORNER MARKET;-23,90
02.03.2024;COFFEE BAR;-2,80
02.03.2024;COFFEE BAR;-2,80
05.03.2024;SALARY;2500,00
`

func importInto(t *testing.T, l *Ledger, text string) Imported {
	t.Helper()
	got, err := l.Import(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func listed(l *Ledger) string {
	var b strings.Builder
	l.List(&b, Filter{})
	return b.String()
}

func TestImport(t *testing.T) {
	l := &Ledger{}
	if got, want := importInto(t, l, statement), (Imported{Added: 3, Credits: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	const want = "" +
		"2024-03-02  uncategorised      23.90  CORNER MARKET\n" +
		"2024-03-02  uncategorised       2.80  COFFEE BAR\n" +
		"2024-03-02  uncategorised       2.80  COFFEE BAR\n"
	if got := listed(l); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestImportAgainAddsNothing(t *testing.T) {
	l := &Ledger{}
	importInto(t, l, statement)
	if got, want := importInto(t, l, statement), (Imported{Known: 3, Credits: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestImportOfAnOverlapAddsTheThirdCoffee(t *testing.T) {
	l := &Ledger{}
	importInto(t, l, statement)
	longer := statement + "02.03.2024;COFFEE BAR;-2,80\n"
	if got, want := importInto(t, l, longer), (Imported{Added: 1, Known: 3, Credits: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestImportTakesTheLatestCategory(t *testing.T) {
	l := &Ledger{}
	for _, category := range []string{"eating out", "coffee"} {
		e, err := ParseEntry([]string{"2024-02-01", category, "2.80", "COFFEE BAR"})
		if err != nil {
			t.Fatal(err)
		}
		l.Add(e)
	}
	importInto(t, l, statement)
	if got := strings.Count(listed(l), "coffee "); got != 3 {
		t.Errorf("%d entries of the category coffee, want 3:\n%s", got, listed(l))
	}
}

func TestImportErrorsNameTheLineAndAddNothing(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"nothing", "", "empty"},
		{"a day that does not exist", statement + "31.02.2024;RENT;-1,00\n", "line 6"},
		{"no amount", statement + "01.03.2024;RENT;\n", "line 6"},
		{"two columns", "Booked;Text;Amount\n01.03.2024;RENT\n", "line 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &Ledger{}
			_, err := l.Import(strings.NewReader(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %q", err, tt.want)
			}
			if len(l.entries) > 0 {
				t.Errorf("%d entries were added", len(l.entries))
			}
		})
	}
}
@sh! go test ./internal/ledger ## The tests do not compile yet
@ai
@write internal/ledger/import.go
package ledger

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/ledger/money"
)

// uncategorised is the category of an imported entry whose note is new.
const uncategorised = "uncategorised"

// Imported says what became of the lines of a statement.
type Imported struct {
	Added   int // new entries
	Known   int // lines that the ledger had already
	Credits int // lines with money that came in, which are left out
}

// booking is what tells lines of statements apart.
type booking struct {
	date   time.Time
	amount money.Cents
	note   string
}

// Import adds what a bank's statement says was spent. If it fails, nothing is added.
func (l *Ledger) Import(r io.Reader) (Imported, error) {
	cr := csv.NewReader(r)
	cr.Comma, cr.FieldsPerRecord = ';', 3
	if _, err := cr.Read(); errors.Is(err, io.EOF) {
		return Imported{}, errors.New("the statement is empty")
	} else if err != nil {
		return Imported{}, err
	}
	category, known := make(map[string]string), make(map[booking]bool)
	for _, e := range l.entries {
		category[e.Note] = e.Category
		known[booking{e.Date, e.Amount, e.Note}] = true
	}
	var done Imported
	var added []Entry
	for {
		fields, err := cr.Read()
		if err == io.EOF {
			l.entries = append(l.entries, added...)
			return done, nil
		}
		if err != nil {
			return Imported{}, err
		}
		b, err := parseBooking(fields)
		if err != nil {
			line, _ := cr.FieldPos(0)
			return Imported{}, fmt.Errorf("line %d: %w", line, err)
		}
		switch {
		case b.amount <= 0:
			done.Credits++
		case known[b]:
			done.Known++
		default:
			e := Entry{Date: b.date, Category: category[b.note], Amount: b.amount, Note: b.note}
			if e.Category == "" {
				e.Category = uncategorised
			}
			known[b] = true
			added = append(added, e)
			done.Added++
		}
	}
}

// parseBooking reads a line of a statement. What was spent is negative there and positive here.
func parseBooking(fields []string) (booking, error) {
	date, err := time.Parse("02.01.2006", fields[0])
	if err != nil {
		return booking{}, fmt.Errorf("date %q: want a day that exists, as DD.MM.YYYY", fields[0])
	}
	amount, err := money.Parse(strings.Replace(fields[2], ",", ".", 1))
	if err != nil {
		return booking{}, err
	}
	return booking{date, -amount, fields[1]}, nil
}
@sh! go test ./internal/ledger ## Run the tests
@ai
Exactly the coffees: a set of known bookings swallows the second one, which I had said it must not. It has to be a count: each line of the statement uses up one booking that the ledger had before the import.
@edit internal/ledger/import.go
	category, known := make(map[string]string), make(map[booking]bool)
	for _, e := range l.entries {
		category[e.Note] = e.Category
		known[booking{e.Date, e.Amount, e.Note}] = true
	}
====
	category, known := make(map[string]string), make(map[booking]int)
	for _, e := range l.entries {
		category[e.Note] = e.Category
		known[booking{e.Date, e.Amount, e.Note}]++
	}
@edit internal/ledger/import.go
		case known[b]:
			done.Known++
====
		case known[b] > 0:
			known[b]--
			done.Known++
@edit internal/ledger/import.go
			known[b] = true
			added = append(added, e)
====
			added = append(added, e)
@sh go test ./internal/ledger ## Run the tests again
@ai
Green. Before the command, I read the function once more in one piece.
@read internal/ledger/import.go
@ai
That is what I want. Now the command; `main.go` only opens the file and prints the three counts.
@todo
done Tests for the import: signs, credits, categories, repeated lines, errors
done Ledger.Import
doing The import command in main.go
open README and commit
@edit! main.go
		"add": add, "list": list, "report": report, "budget": budget, "import": importFile,
====
		"add": add, "import": importFile, "list": list, "report": report, "budget": budget,
@ai
I quoted a line that is not there yet. Reading the file instead of quoting from memory.
@read main.go
@ai
@edit main.go
		"add": add, "list": list, "report": report, "budget": budget,
====
		"add": add, "import": importFile, "list": list, "report": report, "budget": budget,
@edit main.go
  add DATE CATEGORY AMOUNT [NOTE]
====
  add DATE CATEGORY AMOUNT [NOTE]
  import STATEMENT
@edit main.go
func list(l *ledger.Ledger
====
func importFile(l *ledger.Ledger, args []string, w io.Writer) (int, error) {
	if len(args) != 1 {
		return 2, fmt.Errorf("import: %d arguments, want STATEMENT", len(args))
	}
	f, err := os.Open(args[0])
	if err != nil {
		return 1, err
	}
	defer f.Close()
	done, err := l.Import(f)
	if err != nil {
		return 1, fmt.Errorf("%s: %w", args[0], err)
	}
	if err := l.Save(); err != nil {
		return 1, err
	}
	fmt.Fprintf(w, "%d added, %d known already, %d credits left out\n", done.Added, done.Known, done.Credits)
	return 0, nil
}

func list(l *ledger.Ledger
@ai
@sh gofmt -l . ; go vet ./... && go test ./... ## Format, vet, test
@sh printf 'Booked;Text;Amount\n02.03.2024;CORNER MARKET;-23,90\n02.03.2024;COFFEE BAR;-2,80\n02.03.2024;COFFEE BAR;-2,80\n05.03.2024;SALARY;2500,00\n' > march.csv; for i in 1 2; do go run . -file trial.csv import march.csv; done; cat trial.csv; rm trial.csv march.csv ## Import the same statement twice
@ai
`import` works: three added the first time, none the second, and both coffees are there.

One thing to know: it compares date, amount and text. If you change a note in the ledger by hand and import the same statement again, the line counts as new. Categories you can change freely.

Would you try it on a real statement before I write the README?
@user
Tried it on the one from January. Out: `ledger: jan.csv: line 9: amount "-1.250.00": want a number such as 23.90`. The bank writes -1.250,00 there. And that is not what the file says, so I had to look twice.
@ai
Two faults, then: thousands are grouped with points, which I didn't know, and the message shows the text after I had replaced the comma. Replacing characters was the wrong idea anyway: `-1.25` would have passed as 1.25, though by the bank's rules it is nonsense. First the tests for all three.
@edit internal/ledger/import_test.go
		{"two columns",
====
		{"an amount with a decimal point", statement + "01.03.2024;RENT;-1.25\n", `line 6: amount "-1.25"`},
		{"a wrong group of thousands", statement + "01.03.2024;RENT;-12.50,00\n", `line 6: amount "-12.50,00"`},
		{"two columns",
@edit internal/ledger/import_test.go
func TestImportTakesTheLatestCategory(
====
func TestImportReadsThousands(t *testing.T) {
	l := &Ledger{}
	importInto(t, l, "Booked;Text;Amount\n02.01.2024;RENT;-1.250,00\n03.01.2024;CAR;-12.345.678,90\n04.01.2024;PARKING;-3\n")
	for i, want := range []string{"1250.00", "12345678.90", "3.00"} {
		if got := l.entries[i].Amount.String(); got != want {
			t.Errorf("line %d: %s, want %s", i+2, got, want)
		}
	}
}

func TestImportTakesTheLatestCategory(
@sh! go test ./internal/ledger ## Show the failures
@ai
@edit internal/ledger/import.go
	amount, err := money.Parse(strings.Replace(fields[2], ",", ".", 1))
	if err != nil {
		return booking{}, err
	}
	return booking{date, -amount, fields[1]}, nil
}
====
	if !bankAmount.MatchString(fields[2]) {
		return booking{}, fmt.Errorf("amount %q: want a number such as -1.250,00", fields[2])
	}
	amount, err := money.Parse(fromBank.Replace(fields[2]))
	if err != nil {
		return booking{}, fmt.Errorf("amount %q: too large", fields[2])
	}
	return booking{date, -amount, fields[1]}, nil
}

// Banks write 1.250,00 or 1250,00 for what is 1250.00 here.
var (
	bankAmount = regexp.MustCompile(`^-?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)(,[0-9]{1,2})?$`)
	fromBank   = strings.NewReplacer(".", "", ",", ".")
)
@edit internal/ledger/import.go
	"io"
	"strings"
====
	"io"
	"regexp"
	"strings"
@sh gofmt -l . ; go vet ./... && go test -v -run Import ./internal/ledger ## Format, vet, test the import
@ai
All of them pass, and an error now shows what the file says. The README and the commit are left.
@read README.md
@ai
@edit README.md
    ledger -file my.csv list -month
====
    ledger -file my.csv import march.csv
    ledger -file my.csv list -month
@edit README.md
`budget` ends with status 1
====
`import` reads a bank's statement: `date;text;amount` with a header, 02.03.2024 and -1.250,00. A line that the ledger has
already (same date, amount and text) is not added again; money that came in is left out. Nothing is added if a line is wrong.
`budget` ends with status 1
@sh go test ./... && git add -A && git commit -q -m "import: read a bank's statement" && git show --stat --format=%s HEAD && git log --oneline ## Test and commit
@todo
done Tests for the import: signs, credits, categories, repeated lines, errors
done Ledger.Import
done The import command in main.go
done README and commit
@ai
Done and committed. The January statement should go through now; `-1.250,00` is one of the tests. If a line is still refused, the message names it with the text as it stands in the file, and your ledger is untouched.
@user
It did: 41 added, 2 credits left out. No more typing. Thanks!
