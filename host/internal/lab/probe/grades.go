package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// graders grade the same answers, in different orders.
var graders = []string{"A", "B"}

// grade is what one grader gave one answer.
type grade struct {
	ID    string `json:"id"` // the answer's
	Grade string `json:"grade"`
	// Wrong: the answer says something that is not true.
	Wrong *bool `json:"wrong"`
}

// worth is what each grade counts.
var worth = map[string]float64{"full": 1, "partly": 0.5, "no": 0}

func (g *grade) problem() string {
	_, known := worth[g.Grade]
	switch {
	case !known:
		return fmt.Sprintf("grade: %.40q; want full, partly or no", g.Grade)
	case g.Wrong == nil:
		return "wrong: missing; want true or false"
	case *g.Wrong && g.Grade == "full":
		return "graded full, and wrong: want one of them"
	}
	return ""
}

// graded is one answer to be graded. Equal answers from different contexts are one.
type graded struct {
	ID       string   `json:"id"`
	Answer   string   `json:"answer"`
	Question question `json:"question"`
}

// answerID changes with all that a grade depends on.
func answerID(m Moment, q question, answer string) string {
	return id(m.ID, q.Question, q.Reference, q.Partly, strings.TrimSpace(answer))
}

// gradeSheets returns a grader's sheets of a moment: those that the book has, and one more with the answers that stand
// on none of them. A sheet that was handed out never changes.
func (b *Book) gradeSheets(m Moment, grader string, answers []graded) (sheets []*sheet, err error) {
	root := path.Join(stageGrades, grader)
	dirs, err := os.ReadDir(b.path(root))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	left := slices.Clone(answers)
	for _, d := range dirs {
		if !strings.HasPrefix(d.Name(), m.ID+"-") {
			continue
		}
		file := b.path(root, d.Name(), itemsFile)
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var has []graded
		if err := json.Unmarshal(data, &has); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		left = slices.DeleteFunc(left, func(a graded) bool {
			return slices.ContainsFunc(has, func(h graded) bool { return h.ID == a.ID })
		})
		sheets = append(sheets, gradeSheet(path.Join(root, d.Name()), grader, has))
	}
	if len(left) == 0 {
		return sheets, nil
	}
	name := []string{grader}
	for _, a := range left {
		name = append(name, a.ID)
	}
	s := gradeSheet(path.Join(root, m.ID+"-"+id(name...)), grader, left)
	data, err := json.MarshalIndent(left, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(sheets, s), b.write(string(data)+"\n", s.dir, itemsFile)
}

// itemsFile says which answers a sheet has. It does not say whose they are.
const itemsFile = "answers.json"

// gradeSheet shows answers under their questions, both in an order that is the grader's own.
func gradeSheet(dir, grader string, answers []graded) *sheet {
	s := &sheet{stage: stageGrades, dir: dir, output: "grades.json"}
	s.judge = func(data []byte) (int, []Problem) {
		found, problems := grades(s, data)
		return len(found), problems
	}
	byQuestion := map[string][]graded{}
	var questions []question
	mark := []string{grader}
	for _, a := range answers {
		s.ids = append(s.ids, a.ID)
		mark = append(mark, a.Answer)
		q := a.Question
		q.id = id(grader, q.Question)
		if byQuestion[q.id] == nil {
			questions = append(questions, q)
		}
		byQuestion[q.id] = append(byQuestion[q.id], a)
	}
	m := id(mark...)
	s.prompt = func(_, output string) string {
		var b strings.Builder
		for i, q := range byID(questions, func(q question) string { return q.id }) {
			fmt.Fprintf(&b, "## Question %d\n\n%s\n\nReference: %s\n\nPartly: %s\n\n", i+1, q.Question, q.Reference, q.Partly)
			for _, a := range byID(byQuestion[q.id], func(a graded) string { return id(grader, a.ID) }) {
				fmt.Fprintf(&b, "=== %s answer %s\n%s\n=== %[1]s end\n\n", m, a.ID, strings.TrimSpace(a.Answer))
			}
		}
		return fill(gradesPrompt, "mark", m, "answers", strings.TrimSpace(b.String()), "output", output)
	}
	return s
}

// grades reads a grader's grades, by answer.
func grades(s *sheet, data []byte) (map[string]grade, []Problem) {
	return replies(s, data, "grades", func(g *grade) (string, string) { return g.ID, g.problem() })
}
