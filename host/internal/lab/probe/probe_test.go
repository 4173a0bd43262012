package probe_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/probe"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/sdk/content"
)

var dir string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if dir, err = os.MkdirTemp("", "probe"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		return m.Run()
	}())
}

var built = sync.OnceValue(func() error { return binaries.Strategies(dir, "high-density", "top-down-truncation") })

func host(t *testing.T) *window.Host {
	t.Helper()
	if err := built(); err != nil {
		t.Fatal(err)
	}
	c := settings.Load(t, dir, map[string]any{"workspace.root": "/w", "model.contextLimit": 6000})
	h, err := window.Open(window.Options{Config: c, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// session is one in which each file that is read holds one value: value-NAME-0, value-NAME-1 and so on.
func session(name string) compare.Session {
	says := func(s content.Speaker, b ...content.Block) content.Content {
		return content.Content{Speaker: s, Blocks: b}
	}
	entries := []content.Content{says(content.Human, content.Text{Text: "Add up the values of " + name + "."})}
	for i := range 40 {
		call := content.ToolCall{ID: fmt.Sprint("c", i), Name: "read_file", Parameters: json.RawMessage(
			fmt.Sprintf(`{"file_path":"/w/%s-%d.txt"}`, name, i))}
		result := fmt.Sprintf("value-%s-%d.\n%s", name, i, strings.Repeat("nothing of interest here. ", 60))
		entries = append(entries, says(content.AI, call), says(content.Tool,
			content.ToolResponse{CallID: call.ID, ToolName: call.Name, Result: content.String(result)}))
	}
	entries = append(entries, says(content.AI, content.Text{Text: "That is the sum."}))
	return compare.Session{Name: name, Transcript: &transcript.Transcript{Format: transcript.Native, Entries: entries}}
}

var list = &pricing.List{Name: "cheap", Input: 1, CacheRead: 0.1, CacheWrite: 1.25, Output: 5}

func options(strategies ...string) compare.Options {
	o := compare.Options{Sessions: []compare.Session{session("a"), session("b")}, Prices: []*pricing.List{list}}
	for _, s := range strategies {
		o.Variants = append(o.Variants, compare.Variant{Name: s, Strategy: s})
	}
	return o
}

// plan begins or goes on with a book in a directory.
func plan(t *testing.T, h *window.Host, dir string, o compare.Options) (*probe.Book, []string) {
	t.Helper()
	return planSearch(t, h, dir, o, false)
}

func planSearch(t *testing.T, h *window.Host, dir string, o compare.Options, search bool) (*probe.Book, []string) {
	t.Helper()
	b, err := probe.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := b.Plan(t.Context(), h, o, 2, search)
	if err != nil {
		t.Fatal(err)
	}
	return b, sessions
}

func check(t *testing.T, b *probe.Book, variants ...string) *probe.State {
	t.Helper()
	if variants == nil {
		variants = b.Variants()
	}
	st, err := b.Check(variants)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

var (
	valueIn    = regexp.MustCompile(`value-[a-z]-\d+`)
	askedIn    = regexp.MustCompile(`(?m)^- ([0-9a-f]{8}): Which value does (\S+) hold`)
	gradedIn   = regexp.MustCompile(`(?s)=== [0-9a-f]{8} answer ([0-9a-f]{8})\n(.*?)\n=== `)
	referredIn = regexp.MustCompile(`(?m)^Reference: (.*)$`)
)

// work does what a sheet asks for, as a model that misses nothing and makes nothing up: record is what it can see.
func work(prompt, record string) string {
	var items []map[string]any
	switch {
	case strings.Contains(prompt, "You write questions"):
		// The record ends where what came next begins.
		values := valueIn.FindAllString(strings.Split(record, "\n<next")[0], -1)
		for i, kind := range slices.Concat(probe.Kinds, probe.Kinds, probe.Kinds) {
			v := values[i*len(values)/12]
			var s string
			var n int
			_, _ = fmt.Sscanf(strings.ReplaceAll(v, "-", " "), "value %s %d", &s, &n)
			items = append(items, map[string]any{"kind": kind, "question": fmt.Sprintf("Which value does %s-%d hold?", s, n),
				"reference": v, "partly": "its beginning", "entry": 2 * n})
		}
		return object("questions", items)
	case strings.Contains(prompt, "You take over"):
		for _, q := range askedIn.FindAllStringSubmatch(prompt, -1) {
			if v := "value-" + q[2]; strings.Contains(record, v+".") {
				items = append(items, map[string]any{"id": q[1], "answer": v})
			} else {
				items = append(items, map[string]any{"id": q[1], "unknown": true})
			}
		}
		return object("answers", items)
	}
	for _, part := range strings.Split(prompt, "## Question ")[1:] {
		reference := referredIn.FindStringSubmatch(part)[1]
		for _, a := range gradedIn.FindAllStringSubmatch(part, -1) {
			g := map[string]any{"id": a[1], "grade": "no", "wrong": true}
			if a[2] == reference {
				g["grade"], g["wrong"] = "full", false
			}
			items = append(items, g)
		}
	}
	return object("grades", items)
}

func object(field string, items []map[string]any) string {
	data, _ := json.Marshal(map[string]any{field: items})
	return string(data)
}

// workThrough does all that is missing, and returns how many sheets of each stage that were.
func workThrough(t *testing.T, b *probe.Book, dir string) (st *probe.State, done map[string]int) {
	t.Helper()
	done = map[string]int{}
	for st = check(t, b); len(st.Todo) > 0; st = check(t, b) {
		for _, task := range st.Todo {
			done[task.Stage]++
			sheet := filepath.Dir(filepath.Join(dir, task.Sheet))
			var record strings.Builder
			for _, f := range []string{"history.md", "context.md"} {
				record.WriteString(text(t, filepath.Join(sheet, f)))
			}
			prompt := text(t, filepath.Join(sheet, "prompt.md"))
			if strings.Contains(prompt, "thresh-probe search") {
				for _, q := range askedIn.FindAllStringSubmatch(prompt, -1) {
					found, err := probe.Search(t.Context(), sheet, q[1], "value-"+q[2])
					if err != nil {
						t.Fatal(err)
					}
					record.WriteString(found)
				}
			}
			write(t, filepath.Join(dir, task.Output), work(prompt, record.String()))
		}
	}
	return st, done
}

// text returns a file; "" if there is none.
func text(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func row(t *testing.T, r *probe.Report, variant string) probe.Row {
	t.Helper()
	for _, v := range r.Variants {
		if v.Variant == variant {
			return v
		}
	}
	t.Fatalf("no row of %s", variant)
	return probe.Row{}
}

func TestWhatAStrategyRemovedCannotBeAnswered(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	b, _ := plan(t, host(t), at, options("top-down-truncation"))
	st, _ := workThrough(t, b, at)
	r := st.Report()
	nothing, cut := row(t, r, "nothing"), row(t, r, "top-down-truncation")
	if r.Sessions != 2 || r.Dropped != 0 || r.Open != 0 || r.Agreed != r.Graded || r.Graded == 0 {
		t.Errorf("the report is of %d sessions, %d dropped, %d open, graders agreed on %d of %d", r.Sessions, r.Dropped,
			r.Open, r.Agreed, r.Graded)
	}
	if nothing.Score.Mean != 1 || nothing.Unknown != 0 || nothing.Relative != 0 {
		t.Errorf("nothing: %+v", nothing)
	}
	// What the strategy left is the end: the first values are gone, the last are there.
	if cut.Score.Mean == 0 || cut.Score.Mean == 1 || cut.Wrong != 0 || cut.Unknown != 1-cut.Score.Mean {
		t.Errorf("top-down-truncation: wrong %v, unknown %v, score %v", cut.Wrong, cut.Unknown, cut.Score.Mean)
	}
	if cut.Left >= nothing.Left || cut.Left == 0 || cut.Worst == nil || cut.Worst.Score > cut.After.Mean {
		t.Errorf("left %d of %d, worst %+v, after %v", cut.Left, nothing.Left, cut.Worst, cut.After.Mean)
	}
	if r.Clusters != "sessions" || cut.Score.Interval == nil || cut.Score.Interval[0] > cut.Score.Mean {
		t.Errorf("interval %v over %s", cut.Score.Interval, r.Clusters)
	}
}

func TestNoSheetTellsWhoseItIs(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	b, _ := plan(t, host(t), at, options("top-down-truncation", "high-density"))
	workThrough(t, b, at)
	orders := map[string][]string{}
	err := filepath.WalkDir(at, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(file, "plan"+string(filepath.Separator)) {
			return err
		}
		data := text(t, file)
		for _, name := range []string{"top-down", "truncation", "high-density"} {
			if strings.Contains(data, name) || strings.Contains(strings.TrimPrefix(file, at), name) {
				t.Errorf("%s names %s", file, name)
			}
		}
		if strings.Contains(file, "2-answers") && filepath.Base(file) == "prompt.md" && valueIn.MatchString(data) {
			t.Errorf("%s has a reference", file)
		}
		if strings.Contains(file, "3-grades") && filepath.Base(file) == "prompt.md" {
			var ids []string
			for _, a := range gradedIn.FindAllStringSubmatch(data, -1) {
				ids = append(ids, a[1])
			}
			sorted := strings.Join(slices.Sorted(slices.Values(ids)), " ")
			orders[sorted] = append(orders[sorted], strings.Join(ids, " "))
		}
		return nil
	})
	if err != nil || len(orders) == 0 {
		t.Fatal(err, len(orders))
	}
	for _, both := range orders {
		if len(both) != 2 || both[0] == both[1] {
			t.Errorf("the graders' orders are %q", both)
		}
	}
}

func TestAFurtherVariantAsksOnlyAboutItself(t *testing.T) {
	t.Parallel()
	at, h := t.TempDir(), host(t)
	b, _ := plan(t, h, at, options("top-down-truncation"))
	before, first := workThrough(t, b, at)
	b, _ = plan(t, h, at, options("high-density"))
	after, more := workThrough(t, b, at)
	if after.Moments() != before.Moments() || more["1-questions"] != 0 {
		t.Errorf("%d moments became %d, with %d sheets for questions", before.Moments(), after.Moments(),
			more["1-questions"])
	}
	if n := more["2-answers"]; n == 0 || n > first["1-questions"] {
		t.Errorf("%d sheets for answers at %d moments", n, first["1-questions"])
	}
	one, two := row(t, before.Report(), "top-down-truncation"), row(t, after.Report(), "top-down-truncation")
	if one.Score.Mean != two.Score.Mean {
		t.Errorf("the score of the first variant was %v and is %v", one.Score.Mean, two.Score.Mean)
	}
	// The same once more has nothing to do.
	b, _ = plan(t, h, at, options("high-density", "top-down-truncation"))
	if st := check(t, b); len(st.Todo) != 0 {
		t.Errorf("again: %v", st.Todo)
	}
}

func TestEqualContextsAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	o := options("top-down-truncation")
	o.Variants = append(o.Variants, compare.Variant{Name: "the same", Strategy: "top-down-truncation"})
	b, _ := plan(t, host(t), at, o)
	_, done := workThrough(t, b, at)
	if done["2-answers"] != 2*done["1-questions"] {
		t.Errorf("%d sheets for answers at %d moments, want one for nothing and one for both variants",
			done["2-answers"], done["1-questions"])
	}
}
