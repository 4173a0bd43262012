package check

import (
	"encoding/json"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// An edited entry records in its metadata which of its lines are marks that rewrites put there, and what lines a
// reference stands for. Who reads marks reads these only: a line that came with the entry is none, whatever it says.

// Record returns an entry with these marks in its metadata.
func Record(c content.Content, all []marks.Written) content.Content {
	if len(all) == 0 {
		return Unrecorded(c)
	}
	list, _ := json.Marshal(all) // numbers and hexadecimal sums
	return withField(c, marks.Field, list)
}

// Unrecorded returns an entry that says nothing of marks: one that the host did not rewrite has none of its own.
func Unrecorded(c content.Content) content.Content {
	if fieldOf(c, marks.Field) == nil {
		return c
	}
	return withField(c, marks.Field, nil)
}

// recorded returns the content of an edit of an entry with its marks: those that the entry had, and the lines that read
// like marks and are none of its lines.
func recorded(was content.Content, p Part) content.Content {
	if was.Speaker == content.AI {
		return p.Content
	}
	had := map[int][]marks.Written{}
	for _, w := range marks.Recorded(was) {
		had[w.Block] = append(had[w.Block], w)
	}
	var all []marks.Written
	for i, b := range p.Content.Blocks {
		if k := p.Kept[i]; k >= 0 {
			for _, w := range had[k] {
				all = append(all, marks.Written{Block: i, Line: w.Line, Was: w.Was})
			}
			continue
		}
		lines := marks.BlockLines(b)
		if !slices.ContainsFunc(lines, marks.Reads) {
			continue
		}
		r := newRecorder(was, p.Of[i], had)
		for n, line := range lines {
			if mark, sum := r.line(line); mark {
				all = append(all, marks.Written{Block: i, Line: n + 1, Was: sum})
			}
		}
	}
	return Record(p.Content, all)
}

// recorder reads the lines of an edited block beside those of what it was.
type recorder struct {
	old     []string
	own     []*marks.Written // of old; nil for a line that came with the entry
	foreign map[string]bool  // lines of old that read like marks and are none
	stood   map[string][]int // where old has a mark, by its text
	at      int              // the first line of old that was not read
	lost    bool             // it is not known any more which lines of old are gone
}

// newRecorder is for what was made of a block, or, with -1, of any block of an entry.
func newRecorder(was content.Content, of int, had map[int][]marks.Written) *recorder {
	r := &recorder{foreign: map[string]bool{}, stood: map[string][]int{}}
	for k, b := range was.Blocks {
		if of >= 0 && of != k {
			continue
		}
		first := len(r.old)
		r.old = append(r.old, marks.BlockLines(b)...)
		r.own = append(r.own, make([]*marks.Written, len(r.old)-first)...)
		for i := range had[k] {
			if at := first + had[k][i].Line - 1; at >= first && at < len(r.old) {
				r.own[at] = &had[k][i]
				r.stood[r.old[at]] = append(r.stood[r.old[at]], at)
			}
		}
	}
	for i, line := range r.old {
		if r.own[i] == nil && marks.Reads(line) {
			r.foreign[line] = true
		}
	}
	return r
}

// line reads the next line, and reports whether it is a mark, and the sum of what it stands for.
func (r *recorder) line(line string) (mark bool, sum string) {
	if !marks.Reads(line) || r.foreign[line] {
		for i := r.at; i < len(r.old) && !r.lost; i++ {
			if r.old[i] == line && r.own[i] == nil {
				r.at = i + 1
				return false, ""
			}
		}
		r.lost = true // a part of a line
		return false, ""
	}
	stood := r.stood[line]
	for len(stood) > 0 && stood[0] < r.at {
		stood = stood[1:]
	}
	if len(stood) > 0 {
		r.at, r.stood[line] = stood[0]+1, stood[1:]
		return true, r.own[stood[0]].Was
	}
	_, refers := marks.ReadReference(line)
	n, counts := marks.Read(line)
	if !counts || r.lost {
		return true, ""
	}
	from := r.at
	for plain := true; n > 0 && r.at < len(r.old); r.at++ {
		more := 1
		if r.own[r.at] != nil {
			plain = false
			more, _ = marks.Read(r.old[r.at])
		}
		if n -= more; n == 0 && plain && refers {
			sum = marks.Sum(r.old[from : r.at+1])
		}
	}
	return true, sum
}
