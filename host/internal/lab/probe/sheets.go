package probe

import (
	"fmt"
	"os"
	"path"
	"strings"
)

// sheet is one piece of work: a prompt with the files that it is about, and the file in which the outcome is expected.
type sheet struct {
	stage string
	dir   string // in the book
	// output is the file for what comes back, records are the files that the prompt speaks of, in the same directory.
	output  string
	records []string
	// here says where the records are to somebody who has the directory.
	here string
	// prompt is the sheet's text, but for where the records are and where the outcome belongs.
	prompt func(files, output string) string
	// ids are what must come back; nil for questions.
	ids []string
	// judge says how many elements of a reply can be used, and what is wrong with the others.
	judge func(data []byte) (usable int, problems []Problem)
}

// writeSheet writes the form of a sheet for somebody who has its directory.
func (b *Book) writeSheet(s *sheet) error {
	return b.write(s.prompt(s.here, "Write your answer into the file "+s.output+" in this directory."), s.dir, sheetFile)
}

// message is the form of a sheet for a model that has nothing but the message. The mark of a record closes it: nothing
// in it can.
func (b *Book) message(s *sheet) (string, error) {
	var records strings.Builder
	var names []string
	for _, file := range s.records {
		data, err := os.ReadFile(b.path(s.dir, file))
		if err != nil {
			return "", err
		}
		name, mark := strings.TrimSuffix(file, path.Ext(file)), markOf(string(data))
		names = append(names, fmt.Sprintf("<%s id=%q>", name, mark))
		fmt.Fprintf(&records, "\n<%s id=%q>\n%s</%[1]s id=%[2]q>\n", name, mark, data)
	}
	where := ""
	if len(names) > 0 {
		where = "Behind these instructions stand, each up to the end tag with the same id: " +
			strings.Join(names, ", ") + "."
	}
	message := s.prompt(where, "Answer with it alone, without any other word.") + records.String()
	if len(names) > 0 {
		message += "\nThat was the data. Now follow the instructions at the beginning, and answer with the JSON object " +
			"alone.\n"
	}
	return message, nil
}

func (b *Book) questionSheet(m Moment) (*sheet, error) {
	dir := path.Join(stageQuestions, m.ID)
	var marks []string
	for _, file := range []string{historyFile, nextFile} {
		data, err := os.ReadFile(b.path(dir, file))
		if err != nil {
			return nil, err
		}
		marks = append(marks, markOf(string(data)))
	}
	s := &sheet{
		stage: stageQuestions, dir: dir, output: "questions.json", records: []string{historyFile, nextFile},
		here: "The record is the file " + historyFile + " in this directory, what came next is " + nextFile +
			". Read both to their ends.",
		prompt: func(files, output string) string {
			return fill(questionsPrompt, "mark", strings.Join(marks, ` entry" or "=== `), "files", files, "output", output)
		},
	}
	s.judge = func(data []byte) (int, []Problem) {
		found, problems := questions(s, m, data)
		return len(found), problems
	}
	return s, nil
}

// answerSheet is the sheet on which questions are answered from a context, without their references.
func (b *Book) answerSheet(unit string, questions []question) (*sheet, error) {
	dir := path.Join(stageAnswers, unit)
	context, err := os.ReadFile(b.path(dir, contextFile))
	if err != nil {
		return nil, err
	}
	s := &sheet{
		stage: stageAnswers, dir: dir, output: "answers.json", records: []string{contextFile}, ids: idsOf(questions),
		here: "The record is the file " + contextFile + " in this directory. Read it to its end, and no other file.",
		prompt: func(files, output string) string {
			return fill(answersPrompt, "mark", markOf(string(context)), "questions", asked(questions), "files", files,
				"output", output)
		},
	}
	s.judge = func(data []byte) (int, []Problem) {
		found, problems := answers(s, data)
		return len(found), problems
	}
	return s, nil
}

// markOf returns the mark of a record's text.
func markOf(record string) string {
	mark, _, _ := strings.Cut(strings.TrimPrefix(record, "=== "), " ")
	return mark
}

// asked lists questions by their ids, an order that tells nothing about where the answers stand.
func asked(questions []question) string {
	var b strings.Builder
	for _, q := range byID(questions, func(q question) string { return q.id }) {
		fmt.Fprintf(&b, "- %s: %s\n", q.id, strings.Join(strings.Fields(q.Question), " "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func idsOf(questions []question) (ids []string) {
	for _, q := range questions {
		ids = append(ids, q.id)
	}
	return ids
}
