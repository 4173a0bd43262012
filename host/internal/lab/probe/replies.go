package probe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Kinds of questions, in the order of reports.
var Kinds = []string{"continuation", "artifacts", "decisions", "details"}

// Bounds in bytes: of a file that came back, and of a question, reference or answer.
const maxReply, maxText = 16 << 20, 8 << 10

// question is what one model must be able to answer from what is left.
type question struct {
	Kind      string `json:"kind"`
	Question  string `json:"question"`
	Reference string `json:"reference"`
	Partly    string `json:"partly"`
	// Entry is the entry of the record that answers it.
	Entry *int `json:"entry"`

	id string
}

func (t *Task) questions(data []byte) (map[string]question, []string) {
	return replies(t, data, func(q *question) (string, string) {
		q.id = id(path.Base(t.dir), q.Question)
		blank := func(s string) bool { return strings.TrimSpace(s) == "" }
		switch {
		case !slices.Contains(Kinds, q.Kind):
			return q.id, fmt.Sprintf("kind: %.40q; want one of %s", q.Kind, strings.Join(Kinds, ", "))
		case blank(q.Question):
			return q.id, "question: missing"
		case blank(q.Reference):
			return q.id, "reference: missing"
		case blank(q.Partly):
			return q.id, "partly: missing; say which answer counts half"
		case q.Entry == nil || *q.Entry < 0:
			return q.id, "entry: want the number of the entry that answers it"
		case len(q.Question)+len(q.Reference)+len(q.Partly) > maxText:
			return q.id, fmt.Sprintf("longer than %d bytes", maxText)
		}
		return q.id, ""
	})
}

// answer is what was answered to one question from one context.
type answer struct {
	ID      string `json:"id"` // the question's
	Answer  string `json:"answer"`
	Unknown bool   `json:"unknown"`
}

func (t *Task) answers(data []byte) (map[string]answer, []string) {
	return replies(t, data, func(a *answer) (string, string) {
		switch said := strings.TrimSpace(a.Answer) != ""; {
		case said && a.Unknown:
			return a.ID, "an answer, and \"unknown\": want one of them"
		case !said && !a.Unknown:
			return a.ID, "no answer; want one, or \"unknown\": true"
		case len(a.Answer) > maxText:
			return a.ID, fmt.Sprintf("longer than %d bytes", maxText)
		}
		return a.ID, ""
	})
}

// graded is one answer to be graded. Equal answers from different contexts are one.
type graded struct {
	ID       string   `json:"id"`
	Answer   string   `json:"answer"`
	Question question `json:"question"`
}

type grade struct {
	ID    string `json:"id"` // the answer's
	Grade string `json:"grade"`
	// Wrong: the answer says something that is not true.
	Wrong *bool `json:"wrong"`
}

var worth = map[string]float64{"full": 1, "partly": 0.5, "no": 0}

func (t *Task) grades(data []byte) (map[string]grade, []string) {
	return replies(t, data, func(g *grade) (string, string) {
		_, known := worth[g.Grade]
		switch {
		case !known:
			return g.ID, fmt.Sprintf("grade: %.40q; want full, partly or no", g.Grade)
		case g.Wrong == nil:
			return g.ID, "wrong: missing; want true or false"
		case *g.Wrong && g.Grade == "full":
			return g.ID, "graded full, and wrong: want one of them"
		}
		return g.ID, ""
	})
}

// replies reads what came back for a sheet, by id. A problem costs what it names and nothing else. about returns an
// element's id and what is wrong with it.
func replies[T any](t *Task, data []byte, about func(*T) (id, problem string)) (out map[string]T, problems []string) {
	items, err := list(data, t.field)
	if err != nil {
		return nil, []string{t.Output + ": " + err.Error()}
	}
	out = map[string]T{}
	wrong := map[string]bool{}
	for i, raw := range items {
		var item T
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields() // a field that is not asked for is a misunderstanding
		err := d.Decode(&item)
		id, bad := about(&item)
		switch _, twice := out[id]; {
		case err != nil:
			id, bad = fmt.Sprintf("element %d", i+1), err.Error()
		case t.ids != nil && !slices.Contains(t.ids, id):
			bad = "the sheet has no such id"
		case twice:
			bad = "it is given twice" // which of them was meant is not known
		}
		if bad == "" && !wrong[id] {
			out[id] = item
			continue
		}
		if t.ids != nil {
			delete(out, id)
		}
		if !wrong[id] {
			name := id
			if name == "" || t.ids == nil {
				name = fmt.Sprintf("element %d", i+1)
			}
			problems = append(problems, t.Output+": "+name+": "+bad)
		}
		wrong[id] = true
	}
	for _, id := range t.ids {
		if _, came := out[id]; !came && !wrong[id] {
			problems = append(problems, t.Output+": "+id+": missing")
		}
	}
	return out, problems
}

// list returns the elements of an object's only field, which is a list.
func list(data []byte, field string) ([]json.RawMessage, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("it is empty; want one JSON object")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("not one JSON object: %w", err)
	}
	raw, ok := object[field]
	if !ok || len(object) != 1 {
		return nil, fmt.Errorf("want an object with the one field %q", field)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, fmt.Errorf("%s: want a list: %w", field, err)
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%s: the list is empty", field)
	}
	return items, nil
}

// byID returns elements in the order of their ids, which are as good as random.
func byID[T any](items []T, id func(T) string) []T {
	return slices.SortedFunc(slices.Values(items), func(a, b T) int { return cmp.Compare(id(a), id(b)) })
}
