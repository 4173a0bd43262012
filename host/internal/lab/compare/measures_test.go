package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Each row is whole, and names a figure of the JSON that is no other row's.
func TestMeasures(t *testing.T) {
	r := Result{LLM: &outcome.Spent{}}
	seen := map[string]string{}
	for _, m := range Measures {
		m.value(&r, &Cost{}) // panics for what is not in the JSON
		m.counts(&r, &Cost{})
		if m.Name == "" || m.Help == "" || strings.HasSuffix(m.Help, ".") {
			t.Errorf("the row of %s is not whole", m.Name)
		}
		if seen[m.Name] != "" || seen[m.JSON] != "" {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name], seen[m.JSON] = m.Name, m.Name
	}
}

// A table shows what each measure is of a result, by each price list, and in the session that was worst.
func TestTheCellsOfATable(t *testing.T) {
	nothing := Result{Variant: NothingName, Done: true, Sessions: 2, Turns: 9, Sent: 45_678,
		Costs: []Cost{{List: "a", USD: 0.0123, Nothing: 0.0123}}}
	pruned := Result{Variant: "x", Done: true, Sessions: 2, Turns: 9, Sent: 1234, OverLimit: 1, HostTime: 1530e6,
		Recall: Recall{Share: 0.9999}, PerSession: map[string]Spread{"recall": {Worst: 0.5}},
		Costs: []Cost{{List: "a", USD: 0.0061, Nothing: 0.0123, Relative: -0.5, PerSession: &Spread{Worst: 0.021}}}}
	r := Report{Prices: []*pricing.List{{Name: "a"}, {Name: "b"}}, Variants: []VariantInfo{{Name: "x", Strategy: "x"}},
		Totals: Results{Nothing: nothing, Variants: []Result{pruned}}}
	rows := r.Rows(&r.Totals, false)
	got := map[string][]string{}
	for _, c := range r.Columns(rows) {
		for _, row := range rows {
			got[c.Name] = append(got[c.Name], c.Text(row))
			if c.Worst != nil {
				got[c.Worst.Name] = append(got[c.Worst.Name], c.Worst.Text(row))
			}
		}
		if c.Name == "over-limit" && c.Rank != 0 {
			t.Error("a column may be dropped that tells of requests which failed")
		}
	}
	for name, want := range map[string][]string{
		"sent":         {"45.7k", "1,234"},
		"cost":         {"$0.012", "-50 %", "-", "-"},
		"cost-worst":   {"", "+2.1 %", "", ""},
		"usd":          {"0.012", "0.006", "-", "-"},
		"recall":       {"0.0 %", "99.9 %"},
		"recall-worst": {"", "50.0 %"},
		"needs-worst":  {"", ""},
		"over-limit":   {"0", "1"},
		"host":         {"-", "1.5s"},
		"model-time":   {"-", "0s"},
	} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestFiguresAsPeopleReadThem(t *testing.T) {
	for want, got := range map[string]string{
		"12.3 %": Saving.Text(0.12345), "-12.0 %": Saving.Text(-0.12),
		"100.0 %": Kept.Text(1), "99.9 %": Kept.Text(0.99999),
		"-50 %": Change.Text(-0.5), "+9.5 %": Change.Text(0.095), "0.0 %": Change.Text(-0.0001),
		"0.012": USD.Text(0.0123456), "123.46": USD.Text(123.456), "0.00": USD.Text(0),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
