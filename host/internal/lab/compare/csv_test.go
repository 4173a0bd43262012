package compare_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
)

// table reads CSV as rows by column.
func table(t *testing.T, r *compare.Report) []map[string]string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(&b).ReadAll() // refuses rows of different lengths
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func pick(rows []map[string]string, columns ...string) [][]string {
	var out [][]string
	for _, r := range rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, r[c])
		}
		out = append(out, cells)
	}
	return out
}

func TestCSVHasARowForEachSessionVariantAndPriceList(t *testing.T) {
	t.Parallel()
	costs := func(usd float64) []compare.Cost {
		return []compare.Cost{
			{List: "dear", USD: usd, Nothing: 2, Relative: usd/2 - 1},
			{List: "cheap", USD: usd / 10, Nothing: 0.2, Relative: usd/2 - 1},
		}
	}
	r := &compare.Report{
		Variants: []compare.VariantInfo{
			{Name: "hd", Strategy: "high-density", Settings: map[string]string{"b": "2", "a": "1"}},
			{Name: "hd by dear", Strategy: "high-density", PriceList: "dear"},
			{Name: "one-shot", Strategy: "one-shot"},
		},
		Sessions: []compare.SessionReport{{Name: "s.json", Format: "native", Results: compare.Results{
			Nothing: compare.Result{
				Variant: compare.NothingName, Done: true, Turns: 3, Sent: 600, Unpruned: 600, Costs: costs(2),
			},
			Variants: []compare.Result{
				{Done: true, Turns: 3, Sent: 450, Unpruned: 600, Saved: 0.25, Costs: costs(1.5)},
				{Done: true, Turns: 3, Sent: 450, Unpruned: 600, Saved: 0.25, Costs: costs(1.5)[:1]},
				{Error: "needs a model"},
			},
		}}},
	}
	got := pick(
		table(t, r), "variant", "price_list", "done", "error", "settings", "sent_tokens", "saved", "cost_usd",
		"relative_cost",
	)
	want := [][]string{
		{"nothing", "dear", "true", "", "", "600", "0", "2", "0"},
		{"nothing", "cheap", "true", "", "", "600", "0", "0.2", "0"},
		{"hd", "dear", "true", "", "a=1 b=2", "450", "0.25", "1.5", "-0.25"},
		{"hd", "cheap", "true", "", "a=1 b=2", "450", "0.25", "0.15", "-0.25"},
		{"hd by dear", "dear", "true", "", "", "450", "0.25", "1.5", "-0.25"},
		{"one-shot", "", "false", "needs a model", "", "", "", "", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCSVIsNoProgramForASpreadsheet(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"plain.json":                    "plain.json",
		"a=b.json":                      "a=b.json",
		`=HYPERLINK("http://x","y")`:    `'=HYPERLINK("http://x","y")`,
		"+1":                            "'+1",
		"-1":                            "'-1",
		"@SUM(A1)":                      "'@SUM(A1)",
		" \u200b\t=1+1":                 "' \u200b\t=1+1",
		"\ttab":                         "'\ttab",
		"＝1+1":                          "'＝1+1",
		`quote " comma, new` + "\nline": `quote " comma, new` + "\nline",
		"":                              "",
	} {
		r := &compare.Report{Sessions: []compare.SessionReport{{Name: name}}}
		if got := table(t, r)[0]["session"]; got != want {
			t.Errorf("%q is written as %q, want %q", name, got, want)
		}
	}
	var b bytes.Buffer
	r := &compare.Report{Sessions: []compare.SessionReport{{Name: "a"}}}
	if err := r.WriteCSV(&b); err != nil || strings.Count(b.String(), "\r\n") != 2 {
		t.Errorf("lines do not end as RFC 4180 has it: %q, %v", b.String(), err)
	}
}
