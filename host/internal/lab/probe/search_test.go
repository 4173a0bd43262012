package probe_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/probe"
)

func TestWhatWasRemovedIsAnsweredBySearching(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	b, _ := planSearch(t, host(t), at, options("top-down-truncation"), true)
	st, done := workThrough(t, b, at)
	r := st.Report()
	without, with := row(t, r, "top-down-truncation"), row(t, r, "top-down-truncation + search")
	if without.Score.Mean == 1 || with.Score.Mean != 1 || with.Left != without.Left {
		t.Errorf("score %v without searching, %v with; left %d and %d", without.Score.Mean, with.Score.Mean, without.Left,
			with.Left)
	}
	if without.Searches != nil || with.Searches.Mean != 1 || with.Found.Mean < 100 || with.Found.Interval == nil {
		t.Errorf("searches %+v and %+v, found %+v", without.Searches, with.Searches, with.Found)
	}
	// Each variant is one sheet at each moment: nothing, without searching, with it.
	if done["2-answers"] != 3*done["1-questions"] {
		t.Errorf("%d sheets for answers at %d moments", done["2-answers"], done["1-questions"])
	}
	for _, d := range r.Differences {
		if d.Than == with.Variant && d.Score.Mean >= 0 {
			t.Errorf("%s against %s: %v", d.Variant, d.Than, d.Score.Mean)
		}
	}
	// What counts can be chosen, also without what drops questions.
	r = check(t, b, "top-down-truncation", with.Variant).Report()
	if len(r.Variants) != 2 || r.Questions == 0 || r.Dropped != 0 || len(r.Differences) != 1 {
		t.Errorf("without nothing: %d variants, %d questions, %d differences", len(r.Variants), r.Questions, len(r.Differences))
	}
}

func TestASearchFindsWhatWasRemovedThenAndNothingElse(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	o := options("top-down-truncation")
	o.Sessions = []compare.Session{session("a")}
	b, _ := planSearch(t, host(t), at, o, true)
	for _, task := range check(t, b).Todo {
		write(t, filepath.Join(at, task.Output), work(text(t, filepath.Join(at, task.Sheet)),
			text(t, filepath.Join(at, filepath.Dir(task.Sheet), "history.md"))))
	}
	sheets := 0
	for _, task := range check(t, b).Todo {
		sheet := filepath.Join(at, filepath.Dir(task.Sheet))
		prompt, context := text(t, filepath.Join(sheet, "prompt.md")), text(t, filepath.Join(sheet, "context.md"))
		question := askedIn.FindStringSubmatch(prompt)[1]
		find := func(words string) (string, error) { return probe.Search(t.Context(), sheet, question, words) }
		if !strings.Contains(prompt, "thresh-probe search") {
			if _, err := find("value"); err == nil || !strings.Contains(err.Error(), "nothing is searched") {
				t.Errorf("a sheet without searching: %v", err)
			}
			continue
		}
		sheets++
		left := valueIn.FindAllString(context, -1)
		first, last := "value-a-0", left[len(left)-1]
		if strings.Contains(context, first+".") {
			t.Fatalf("%s is left", first)
		}
		if _, err := probe.Search(t.Context(), sheet, "00000000", "value"); err == nil {
			t.Error("a question that is not asked was searched for")
		}
		if _, err := find("=>"); err == nil {
			t.Error("no words were searched for")
		}
		for _, words := range []string{`"` + first + `."`, `"` + last + `."`, `"value-a-39."`} {
			found, err := find(words)
			if has := strings.Contains(found, "[recalled: "); has != strings.Contains(words, first) || err != nil {
				t.Errorf("%s: %q %v", words, found, err)
			}
		}
		if found, err := find(first); err == nil || found != "" || !strings.Contains(err.Error(), "3 times") {
			t.Errorf("the fourth search found %q, %v", found, err)
		}
		// What could not be searched for is not counted.
		if files, _ := os.ReadDir(filepath.Join(sheet, "searches")); len(files) != 3 {
			t.Errorf("%d searches were counted", len(files))
		}
	}
	if sheets == 0 {
		t.Error("no sheet for searching")
	}
	if _, err := probe.Search(t.Context(), at, "00000000", "value"); err == nil || !strings.Contains(err.Error(), "no sheet") {
		t.Errorf("another directory: %v", err)
	}
}
