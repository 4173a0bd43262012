package probe

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Kinds of questions, in the order of reports.
var Kinds = []string{"continuation", "artifacts", "decisions", "details"}

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

func (q *question) problem() string {
	switch {
	case !slices.Contains(Kinds, q.Kind):
		return fmt.Sprintf("kind: %.40q; want one of %s", q.Kind, strings.Join(Kinds, ", "))
	case strings.TrimSpace(q.Question) == "":
		return "question: missing"
	case strings.TrimSpace(q.Reference) == "":
		return "reference: missing"
	case strings.TrimSpace(q.Partly) == "":
		return "partly: missing; say which answer counts half"
	case q.Entry == nil || *q.Entry < 0:
		return "entry: want the number of the entry that answers it"
	case len(q.Question)+len(q.Reference)+len(q.Partly) > mostText:
		return fmt.Sprintf("longer than %d bytes", mostText)
	}
	return ""
}

// How much of what came next is shown, in bytes: in all, and of one entry.
const (
	mostNext      = 60_000
	mostNextEntry = 6_000
)

// next writes what followed a moment in the recording, up to a bound and to the recorder's next compaction. Its entries
// go on counting from those of the request.
func next(rec *replay.Recording, m Moment, first int) record {
	all := rec.Transcript.Entries
	replaced := rec.Transcript.Replaced()
	var out []content.Content
	size := 0
	for i := m.Entry; i < len(all) && size < mostNext && (i == m.Entry || !replaced[i]); i++ {
		body := readable(all[i].Blocks)
		if len(body) > mostNextEntry {
			body = text.Clip(body, mostNextEntry) + "\n(the rest of this entry is not shown)"
		}
		size += len(body)
		out = append(out, content.Content{
			Speaker: all[i].Speaker, Blocks: []content.Block{content.Text{Text: body}},
		})
	}
	return newRecord(nil, out, first)
}

// questions reads the questions of a moment.
func questions(s *sheet, m Moment, data []byte) (out []question, problems []Problem) {
	file := path.Join(s.dir, s.output)
	items, err := list(data, "questions")
	if err != nil {
		return nil, []Problem{{File: file, Message: err.Error()}}
	}
	for i, raw := range items {
		var q question
		err := strict(raw, &q)
		bad := q.problem()
		q.id = id(m.ID, q.Question)
		switch {
		case err != nil:
			bad = err.Error()
		case bad == "" && slices.ContainsFunc(out, func(o question) bool { return o.id == q.id }):
			bad = "the same question again"
		}
		if bad != "" {
			problems = append(problems, Problem{file, fmt.Sprintf("question %d", i+1), bad})
			continue
		}
		out = append(out, q)
	}
	return out, problems
}
