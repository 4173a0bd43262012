package htmlreport_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/compare/htmlreport"
	"github.com/thresh-dev/thresh/host/outcome"
)

// element is one of the page, or text without a name.
type element struct {
	name     string
	attr     map[string]string
	own      string
	parent   *element
	children []*element
}

// text is all that it holds.
func (e *element) text() string {
	var b strings.Builder
	var walk func(e *element)
	walk = func(e *element) {
		b.WriteString(e.own)
		for _, c := range e.children {
			walk(c)
		}
	}
	walk(e)
	return b.String()
}

// all are the elements with a name, in the order of the page.
func (e *element) all(name string) []*element {
	var out []*element
	if e.name == name {
		out = append(out, e)
	}
	for _, c := range e.children {
		out = append(out, c.all(name)...)
	}
	return out
}

func (e *element) holds(name string) bool { return len(e.all(name)) > 0 }

func write(t *testing.T, r *compare.Report, o htmlreport.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := htmlreport.Write(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// parse reads a page. The template keeps to what is well-formed as XML too, so nothing is open that should be
// closed.
func parse(t *testing.T, page string) *element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Entity = xml.HTMLEntity
	root := &element{}
	for at := root; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return root
		}
		if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attr: map[string]string{}, parent: at}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			at.children = append(at.children, e)
			at = e
		case xml.EndElement:
			at = at.parent
		case xml.CharData:
			if text := string(token); strings.TrimSpace(text) != "" {
				at.children = append(at.children, &element{own: text})
			}
		}
	}
}

func TestThePageNeedsNothingElse(t *testing.T) {
	t.Parallel()
	text := write(t, made(size{2, 40, 3, 3}), htmlreport.Options{})
	page := parse(t, text)
	for _, name := range []string{"script", "link", "img", "iframe", "object", "embed", "form", "base"} {
		if page.holds(name) {
			t.Errorf("there is a %s", name)
		}
	}
	for _, a := range page.all("a") {
		if !strings.HasPrefix(a.attr["href"], "#") {
			t.Errorf("a link leads to %q", a.attr["href"])
		}
	}
	for _, bad := range []string{"url(", "@import", " src=", " style=", " onload", "javascript:"} {
		if strings.Contains(text, bad) {
			t.Errorf("there is %q in the page", bad)
		}
	}
	policy := ""
	for _, m := range page.all("meta") {
		if m.attr["http-equiv"] == "Content-Security-Policy" {
			policy = m.attr["content"]
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
}

func TestThePageShowsEverySessionVariantAndPriceList(t *testing.T) {
	t.Parallel()
	r := made(size{2, 40, 3, 2})
	r.Variants[2].PriceList = "list-1" // it decided by this list, and is priced by it alone
	r.Totals.Variants[2].Costs = r.Totals.Variants[2].Costs[1:]
	page := parse(t, write(t, r, htmlreport.Options{}))
	if charts := page.all("figure"); len(charts) != 1 || len(charts[0].all("li")) != 2 {
		t.Errorf("%d charts; want one, with nothing and the first variant", len(charts))
	}
	rows := map[string][]string{}
	for _, table := range page.all("table") {
		caption := table.all("caption")[0].text()
		for _, row := range table.all("tbody")[0].all("tr") {
			rows[caption] = append(rows[caption], row.all("th")[0].text())
		}
	}
	for caption, want := range map[string][]string{
		"Totals of all sessions":              {"nothing", "variant-0", "variant-1"}, // at list-0's prices
		"More totals of all sessions":         {"nothing", "variant-0", "variant-1", "variant-2"},
		"Each session with variant-0":         {"session-0.jsonl", "session-1.jsonl"},
		"Variants":                            {"variant-0", "variant-1", "variant-2"},
		"Prices, in USD for a million tokens": {"list-0", "list-1"},
	} {
		if diff := cmp.Diff(want, rows[caption]); diff != "" {
			t.Errorf("%s: %s", caption, diff)
		}
	}
	for _, want := range []string{"limit 28,000", "threshold 23,800", "https://prices.example/list", "2026-11-20", "tool_3",
		"/home/dev/project/internal/file_3.go", "internal/lost_3.go", "compacted its own history"} {
		if !strings.Contains(page.text(), want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for i := range r.Sessions {
		r.Sessions[i].Variants[0].Limits.ThresholdFrom = outcome.FromPrices
	}
	if strings.Contains(parse(t, write(t, r, htmlreport.Options{})).text(), "threshold 23,800") {
		t.Error("a threshold that moves is drawn as a line")
	}
}

func TestThePageCanBeReadAloud(t *testing.T) {
	t.Parallel()
	page := parse(t, write(t, made(size{2, 40, 3, 2}), htmlreport.Options{}))
	ids := map[string]bool{}
	var walk func(e *element)
	walk = func(e *element) {
		if id := e.attr["id"]; id != "" {
			if ids[id] {
				t.Errorf("the id %s is there twice", id)
			}
			ids[id] = true
		}
		for _, c := range e.children {
			walk(c)
		}
	}
	walk(page)
	for _, table := range page.all("table") {
		if !table.holds("caption") {
			t.Errorf("a table without a caption: %.100s", table.text())
		}
		for _, th := range table.all("th") {
			if scope := th.attr["scope"]; scope != "col" && scope != "row" {
				t.Errorf("%.50q is a heading without a scope", th.text())
			}
		}
		width := len(table.all("thead")[0].all("th"))
		for _, tr := range table.all("tbody")[0].all("tr") {
			if cells := len(tr.all("th")) + len(tr.all("td")); cells != width {
				t.Errorf("%q: a row has %d cells of %d", table.all("caption")[0].text(), cells, width)
			}
		}
	}
	for _, svg := range page.all("svg") {
		if svg.attr["aria-hidden"] == "true" {
			continue
		}
		if !svg.holds("title") || !svg.holds("desc") || svg.all("desc")[0].text() == "" {
			t.Errorf("a picture without a title or a description")
		}
		for id := range strings.FieldsSeq(svg.attr["aria-labelledby"]) {
			if !ids[id] {
				t.Errorf("a picture is labelled by %q, which is not there", id)
			}
		}
	}
}

// hostile names are what a recorded session may call itself, its tools and its files.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</style><script>`, `</title></svg><h1>`,
	`' onmouseover='x`,
	`{{.Style}}`, `<!-- `, `]]>`, `&lt;b&gt;`, "a\x00b\x1b[31m\u202Ecod.exe", strings.Repeat("<", 1<<20), "\xff\xfe",
	"\ufffe\uffff",
}

func TestNamesFromSessionsAreOnlyText(t *testing.T) {
	t.Parallel()
	plain := parse(t, write(t, made(size{1, 20, 1, 1}), htmlreport.Options{}))
	for _, name := range hostile {
		t.Run(fmt.Sprintf("%.30q", name), func(t *testing.T) {
			t.Parallel()
			r := made(size{1, 20, 1, 1})
			r.Variants[0].Name, r.Variants[0].Settings = name, map[string]string{name: name}
			r.Prices[0].Name, r.Prices[0].Source, r.Prices[0].Note, r.Prices[0].AsOf = name, name, "", name
			r.Sessions[0].Name = name
			for _, res := range []*compare.Result{&r.Totals.Variants[0], &r.Sessions[0].Variants[0],
				&r.Sessions[0].Nothing, &r.Totals.Nothing} {
				res.Variant, res.Costs[0].List, res.Error = name, name, name
				for _, l := range [][]compare.Share{res.Pruned.Tools, res.Pruned.Files} {
					for i := range l {
						l[i].Name = name
					}
				}
				for i := range res.Recall.Lost {
					res.Recall.Lost[i].Identifier, res.Recall.Lost[i].Session = name, name
				}
			}
			text := write(t, r, htmlreport.Options{})
			page := parse(t, text)
			for _, tag := range []string{"script", "img", "h1", "svg", "style", "h2", "a"} {
				if got, want := len(page.all(tag)), len(plain.all(tag)); got != want {
					t.Errorf("%d of %s, want %d", got, tag, want)
				}
			}
			if len(text) > 2<<20 {
				t.Errorf("%d bytes", len(text))
			}
		})
	}
}

func TestThePageStaysSmall(t *testing.T) {
	t.Parallel()
	for _, n := range []size{{16, 1000, 6, 3}, {2000, 10, 6, 3}, {40, 200, 60, 3}, {20, 300, 20, 20}, {1, 100_000, 4, 3}} {
		text := write(t, made(n), htmlreport.Options{})
		if len(text) > 2<<20 {
			t.Errorf("%+v: %d bytes", n, len(text))
		}
		if n.sessions == 2000 && !strings.Contains(text, "1500 more rows are left out") {
			t.Error("nothing is said of the sessions that are left out")
		}
	}
}

func TestTheSameReportIsTheSamePageButForItsTimes(t *testing.T) {
	t.Parallel()
	first := made(size{2, 40, 3, 2})
	second := made(size{2, 40, 3, 2})
	second.Took = time.Hour
	for _, s := range append([]compare.SessionReport{{Results: second.Totals}}, second.Sessions...) {
		for i := range s.Variants {
			s.Variants[i].HostTime, s.Variants[i].PluginTime = time.Minute, time.Minute
		}
	}
	a := write(t, first, htmlreport.Options{Made: time.Unix(1, 0)})
	b := write(t, second, htmlreport.Options{Made: time.Unix(2e9, 0)})
	const times = `<footer>`
	a1, a2, _ := strings.Cut(a, times)
	b1, b2, found := strings.Cut(b, times)
	if a1 != b1 || !found {
		t.Error("the pages differ before the times")
	}
	if a2 == b2 {
		t.Error("the times are not where they should be")
	}
}

func TestThePageOfAComparisonThatWasStopped(t *testing.T) {
	t.Parallel()
	r := made(size{2, 40, 2, 1})
	r.Incomplete = true
	r.Totals.Variants[1] = compare.Result{Variant: "variant-1", Error: "needs a model: none is configured"}
	r.Sessions[1].Variants[1] = compare.Result{Variant: "variant-1"}
	page := parse(t, write(t, r, htmlreport.Options{}))
	for _, want := range []string{"Incomplete.", "not run: variant-1: needs a model: none is configured"} {
		if !strings.Contains(page.text(), want) {
			t.Errorf("no %q", want)
		}
	}
	if empty := parse(t, write(t, &compare.Report{}, htmlreport.Options{})); !strings.Contains(
		empty.text(),
		"0 recorded sessions",
	) {
		t.Error("an empty report has no page")
	}
}

func TestThePageBeginsWithTheVerdict(t *testing.T) {
	t.Parallel()
	r := made(size{2, 40, 2, 1})
	taken := &r.Totals.Variants[1]
	taken.Costs[0].USD, taken.Costs[0].Nothing, taken.Costs[0].Relative = 7.29, 10, -0.271
	taken.Recall.ShareLines, taken.Own.Share = 0.991, 0.904
	taken.PerSession = map[string]compare.Spread{"lines": {Worst: 0.967, Session: "session-1.jsonl"}}
	r.Recommendation = &compare.Recommendation{PriceList: "list-0", MinRecall: 0.95, Variant: "variant-1", Held: 2, Of: 2,
		Month: &compare.Month{USD: 34.1}}
	o := htmlreport.Options{Set: "in ~/thresh.yaml:", Lines: []string{"compression.strategy: s"}}
	text := parse(t, write(t, r, o)).text()
	at := 0
	for _, want := range []string{"variant-1 is the cheapest that keeps enough", "−27\u00a0%", "7.29 USD instead of 10.00", "34.10", "USD saved in 30 days",
		"99.1\u00a0%", "of the lines that later turns used are kept, and in the worst session 96.7\u00a0%",
		"90.4\u00a0%", "of the agent's own words and edits", "Set in ~/thresh.yaml:", "compression.strategy: s",
		"at list-0's prices", "USD a session", "2 of 2 keep it",
		"Totals of all sessions", "Prompts without the answers"} {
		next := strings.Index(text[at:], want)
		if next < 0 {
			t.Fatalf("no %q in its place in\n%.600s", want, text)
		}
		at += next
	}
	r.Sessions[0].Billed = 40
	if text := parse(t, write(t, r, o)).text(); !strings.Contains(text, "in the 1 of 2 sessions that were recorded with usage, also") {
		t.Error("the page does not say that one session has the answers")
	}
	r.Recommendation = &compare.Recommendation{PriceList: "list-0", MinRecall: 0.95}
	if text := parse(t, write(t, r, htmlreport.Options{})).text(); !strings.Contains(text, "Doing nothing is best: no strategy saves even 0.5 % at list-0") {
		t.Errorf("no verdict in\n%.600s", text)
	}
}

// As in the terminal: the cadences of a strategy are no choices between strategies.
func TestTheTotalsHaveOneRowForEachStrategy(t *testing.T) {
	t.Parallel()
	r := made(size{1, 40, 3, 1})
	for i := range r.Variants {
		r.Variants[i].Strategy = "the same"
	}
	for every, want := range map[bool]int{false: 1, true: 3} {
		text := parse(t, write(t, r, htmlreport.Options{Every: every})).text()
		totals, details, _ := strings.Cut(text[strings.Index(text, "Totals of all sessions"):], "Details")
		if n := strings.Count(totals, "variant-"); n != want {
			t.Errorf("every %v: %d rows in\n%s", every, n, totals)
		}
		if strings.Contains(details, "Totals of all variants") == every {
			t.Errorf("every %v: the other variants are not where they should be", every)
		}
	}
}

func TestWriteSaysWhatTheWriterSaid(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	if err := htmlreport.Write(failing{full}, made(size{1, 5, 1, 1}), htmlreport.Options{}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// BenchmarkWrite is a report of the size of a team's week: 16 sessions of 5000 turns, 6 variants, 3 price lists.
func BenchmarkWrite(b *testing.B) {
	r := made(size{16, 5000, 6, 3})
	b.ReportAllocs()
	for b.Loop() {
		if err := htmlreport.Write(io.Discard, r, htmlreport.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
