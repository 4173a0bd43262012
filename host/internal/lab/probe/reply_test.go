package probe_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/probe"
)

// problem finds what is said about a file.
func problem(st *probe.State, file string) (out []string) {
	for _, p := range st.Problems {
		if strings.Contains(p, file+": ") {
			out = append(out, p)
		}
	}
	return out
}

func TestABrokenReplyCostsItself(t *testing.T) {
	t.Parallel()
	at, h := t.TempDir(), host(t)
	o := options("top-down-truncation")
	o.Sessions = o.Sessions[:1]
	b, _ := plan(t, h, at, o)
	first := check(t, b).Todo[0]
	const good = `{"kind":"details","question":"Which value does a-1 hold?","reference":"value-a-1",` +
		`"partly":"x","entry":2}`
	with := func(from, to string) string {
		return `{"questions":[` + strings.Replace(good, from, to, 1) + `]}`
	}
	for name, c := range map[string]struct{ reply, want string }{
		"no JSON":       {`I am done.`, "questions.json: not one JSON object"},
		"another field": {`{"answers":[]}`, `want an object with the one field "questions"`},
		"two fields":    {`{"questions":[` + good + `],"note":"done"}`, `the one field "questions"`},
		"empty":         {`{"questions":[]}`, "the list is empty"},
		"kind":          {with("details", "trivia"), `element 1: kind: "trivia"`},
		"reference":     {with("value-a-1", " "), "element 1: reference: missing"},
		"entry":         {with(`"entry":2`, `"entry":-2`), "element 1: entry"},
		"unknown field": {with(`"entry"`, `"line"`), "element 1: json: unknown field"},
		"twice":         {with(good, good+","+good), "element 2: it is given twice"},
	} {
		write(t, filepath.Join(at, first.Output), c.reply)
		st := check(t, b)
		if got := problem(st, "questions.json"); len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for _, task := range st.Todo {
			if task.Output == first.Output {
				t.Errorf("%s: it is asked for as if nothing had come", name)
			}
		}
	}
	if err := os.Remove(filepath.Join(at, first.Output)); err != nil {
		t.Fatal(err)
	}
	workThrough(t, b, at)

	// One answer that is no answer, and one grade that is none: each costs its question.
	before := check(t, b).Report()
	answers, _ := filepath.Glob(filepath.Join(at, "2-answers", "*", "answers.json"))
	kept := text(t, answers[0])
	id := strings.Split(kept, `"id":"`)[1][:8]
	for name, c := range map[string]struct{ from, to, want string }{
		"missing":    {`"id":"` + id + `"`, `"id":"00000000"`, id + ": missing"},
		"no such id": {`"id":"` + id + `"`, `"id":"00000000"`, "00000000: the sheet has no such id"},
		"wrong type": {`"id":"` + id + `"`, `"id":7`, "element 1: json"},
	} {
		write(t, answers[0], strings.Replace(kept, c.from, c.to, 1))
		st := check(t, b)
		if got := strings.Join(problem(st, "answers.json"), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if r := st.Report(); r.Questions != before.Questions-1 || r.Open != 1 {
			t.Errorf("%s: %d of %d questions are left, %d open", name, r.Questions, before.Questions, r.Open)
		}
	}
	write(t, answers[0], kept)
	grades, _ := filepath.Glob(filepath.Join(at, "3-grades", "A", "*", "grades.json"))
	whole := text(t, grades[0])
	write(t, grades[0], strings.Replace(whole, `"full"`, `"great"`, 1))
	st := check(t, b)
	if got := problem(st, "grades.json"); len(got) != 1 || !strings.Contains(got[0], `grade: "great"; want full`) {
		t.Errorf("a grade: %q", got)
	}
	if r := st.Report(); r.Questions != before.Questions-1 || r.Open != 1 {
		t.Errorf("a grade: %d of %d questions are left, %d open", r.Questions, before.Questions, r.Open)
	}
	// One grader is not enough for a question whose whole history is said not to answer it.
	write(t, grades[0], strings.Replace(whole, `"full"`, `"partly"`, 1))
	if r := check(t, b).Report(); r.Dropped != 1 || r.Questions != before.Questions-1 || r.Agreed != r.Graded-1 {
		t.Errorf("%d dropped, %d of %d questions, agreed on %d of %d", r.Dropped, r.Questions, before.Questions, r.Agreed,
			r.Graded)
	}
}
