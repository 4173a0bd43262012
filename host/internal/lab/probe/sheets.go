package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// The stages, each a directory of a book. A stage's sheets can be worked through in any order; the next needs them.
const (
	stageQuestions = "1-questions"
	stageAnswers   = "2-answers"
	stageGrades    = "3-grades"
)

const (
	sheetFile   = "prompt.md"
	historyFile = "history.md"
	nextFile    = "next.md"
	contextFile = "context.md"
	itemsFile   = "answers.json" // which answers a sheet for a grader has; it does not say whose they are
)

// Task is a sheet, one piece of work: a prompt with the files that it is about, and the file for the outcome.
type Task struct {
	Stage  string `json:"stage"`
	Sheet  string `json:"sheet"`  // the file that says what to do
	Output string `json:"output"` // the file for the outcome

	dir string // in the book
	// field of the outcome has its elements; ids are theirs, nil for questions.
	field string
	ids   []string
	// records are the files that the prompt speaks of; here says where they are to somebody who has the directory.
	records []string
	here    string
	// prompt is the sheet's text, but for where the records are, where the outcome belongs, and how to search.
	prompt func(files, output, search string) string
	// searches: who answers may search.
	searches bool
	// judge says how many elements of an outcome can be used, and what is wrong with the others.
	judge func(data []byte) (usable int, problems []string)
}

func newTask(stage, dir, field string) *Task {
	return &Task{
		Stage: stage, Sheet: path.Join(dir, sheetFile), Output: path.Join(dir, field+".json"), dir: dir, field: field,
	}
}

// judged makes a [Task.judge] of what reads an outcome.
func judged[T any](read func([]byte) (map[string]T, []string)) func([]byte) (int, []string) {
	return func(data []byte) (int, []string) {
		found, problems := read(data)
		return len(found), problems
	}
}

// handOut writes a sheet for somebody who has its directory, and returns what came back for it. Without that, it is to
// be worked through.
func (b *Book) handOut(st *State, t *Task) (data []byte, there bool, err error) {
	text := t.prompt(t.here, "Write your answer into the file "+path.Base(t.Output)+" in this directory.", searchByCommand)
	if err := b.write(text, t.Sheet); err != nil {
		return nil, false, err
	}
	data, err = atomicfile.Read(b.path(t.Output), maxReply)
	if errors.Is(err, fs.ErrNotExist) {
		st.Todo = append(st.Todo, *t)
		return nil, false, nil
	}
	return data, err == nil, err
}

// message is the form of a sheet for a model that has nothing but the message. The mark of a record closes it: nothing
// in it can.
func (b *Book) message(t *Task) (string, error) {
	var records strings.Builder
	var names []string
	for _, file := range t.records {
		data, err := os.ReadFile(b.path(t.dir, file))
		if err != nil {
			return "", err
		}
		name, mark := strings.TrimSuffix(file, path.Ext(file)), markOf(string(data))
		names = append(names, fmt.Sprintf("<%s id=%q>", name, mark))
		fmt.Fprintf(&records, "\n<%s id=%q>\n%s</%[1]s id=%[2]q>\n", name, mark, data)
	}
	const alone = "Answer with it alone, without any other word."
	if len(names) == 0 {
		return t.prompt("", alone, searchByTool), nil
	}
	return t.prompt("Behind these instructions stand, each up to the end tag with the same id: "+
		strings.Join(names, ", ")+".", alone, searchByTool) + records.String() + "\nThat was the data. Now follow the " +
		"instructions at the beginning, and answer with the JSON object alone.\n", nil
}

func (b *Book) questionSheet(m Moment) (*Task, error) {
	t := newTask(stageQuestions, path.Join(stageQuestions, m.ID), "questions")
	t.records, t.judge = []string{historyFile, nextFile}, judged(t.questions)
	var marks []string
	for _, file := range t.records {
		data, err := os.ReadFile(b.path(t.dir, file))
		if err != nil {
			return nil, err
		}
		marks = append(marks, markOf(string(data)))
	}
	t.here = "The record is the file " + historyFile + " in this directory, what came next is " + nextFile +
		". Read both to their ends."
	t.prompt = func(files, output, _ string) string {
		return fill(questionsPrompt, "mark", strings.Join(marks, ` entry" or "=== `), "files", files, "output", output)
	}
	return t, nil
}

// answerSheet is the sheet on which questions are answered from a context, without their references. They are in the
// order of their ids, which tells nothing about where the answers stand.
func (b *Book) answerSheet(c Context, questions []*scored) (*Task, error) {
	t := newTask(stageAnswers, path.Join(stageAnswers, c.Unit), "answers")
	t.searches = c.Search
	t.records, t.judge = []string{contextFile}, judged(t.answers)
	context, err := os.ReadFile(b.path(t.dir, contextFile))
	if err != nil {
		return nil, err
	}
	var asked []string
	for _, q := range questions {
		t.ids = append(t.ids, q.id)
		asked = append(asked, fmt.Sprintf("- %s: %s", q.id, strings.Join(strings.Fields(q.Question), " ")))
	}
	t.here = "The record is the file " + contextFile + " in this directory. Read it to its end, and no other file."
	t.prompt = func(files, output, search string) string {
		if !c.Search {
			search = searchNothing
		}
		return fill(answersPrompt, "mark", markOf(string(context)), "questions", strings.Join(asked, "\n"), "files", files,
			"output", output, "search", strings.TrimSpace(search))
	}
	return t, nil
}

// gradeSheet shows answers under their questions, both in an order that is the grader's own.
func gradeSheet(dir, grader string, answers []graded) *Task {
	t := newTask(stageGrades, dir, "grades")
	t.judge = judged(t.grades)
	mark := []string{grader}
	for _, a := range answers {
		t.ids = append(t.ids, a.ID)
		mark = append(mark, a.Answer)
	}
	m := id(mark...)
	order := byID(answers, func(a graded) string { return id(grader, a.Question.Question) + id(grader, a.ID) })
	t.prompt = func(_, output, _ string) string {
		var b strings.Builder
		number, last := 0, ""
		for _, a := range order {
			if q := a.Question; number == 0 || q.Question != last {
				number, last = number+1, q.Question
				fmt.Fprintf(&b, "## Question %d\n\n%s\n\nReference: %s\n\nPartly: %s\n\n", number, q.Question, q.Reference,
					q.Partly)
			}
			fmt.Fprintf(&b, "=== %s answer %s\n%s\n=== %[1]s end\n\n", m, a.ID, strings.TrimSpace(a.Answer))
		}
		return fill(gradesPrompt, "mark", m, "answers", strings.TrimSpace(b.String()), "output", output)
	}
	return t
}

// gradeSheets returns a grader's sheets of a moment: those that the book has, and one more with the answers that stand
// on none of them. A sheet that was handed out never changes.
func (b *Book) gradeSheets(m Moment, grader string, answers []graded) (sheets []*Task, err error) {
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
		var has []graded
		if err := b.readJSON(&has, root, d.Name(), itemsFile); err != nil {
			return nil, err
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
	t := gradeSheet(path.Join(root, m.ID+"-"+id(name...)), grader, left)
	return append(sheets, t), b.writeJSON(left, t.dir, itemsFile)
}
