package compare

import (
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// What the agent made itself stands nowhere else: what it said and thought, and what it wrote into files that no result
// shows. Recall and needs hardly notice when it goes, as names and lines of files stand in results too.

// ownLine is a line that the agent made. It counts from the request on at which it was made; a line of an edit until a
// later write to the same file takes it away.
type ownLine struct {
	line int32 // its number among the things
	by   int32 // 1: one more place says it; -1: one less
}

// findOwn returns for each request which lines became the agent's own since the one before, and which no longer are,
// and numbers them behind all other things. Like findNeeds it extends what entries are searched for.
func (r *recording) findOwn() [][]ownLine {
	out := make([][]ownLine, len(r.Requests))
	f := ownFinder{recording: r, files: map[string]map[int32]bool{}}
	for n, q := range r.Requests {
		if r.begins(n) {
			f.restart(q.From)
		}
		for ; f.at < q.Entry; f.at++ {
			f.entry(f.at)
		}
		out[n], f.changes = f.changes, nil
	}
	return out
}

type ownFinder struct {
	*recording
	at      int
	said    []int32                   // the lines of the agent's words in this context
	files   map[string]map[int32]bool // the lines of the edits that are current, by file
	changes []ownLine
}

// restart begins again where the recorder compacted: the recorded agent lost what was before.
func (f *ownFinder) restart(from int) {
	for _, line := range f.said {
		f.change(line, -1)
	}
	for path := range f.files {
		f.supersede(path)
	}
	f.said, f.at = nil, from
}

func (f *ownFinder) change(line, by int32) { f.changes = append(f.changes, ownLine{line, by}) }

func (f *ownFinder) entry(at int) {
	c := f.entries()[at]
	if c.Speaker != content.AI {
		return
	}
	for j, b := range c.Blocks {
		if call, ok := b.(content.ToolCall); ok {
			f.call(call, turns.At{Entry: at, Block: j})
			continue
		}
		blockLines(b, func(s string) {
			line := f.own(s)
			f.said = append(f.said, line)
			f.change(line, 1)
		})
	}
}

// call takes in what a call wrote. One that failed or was not answered wrote nothing.
func (f *ownFinder) call(call content.ToolCall, at turns.At) {
	writes := f.taxonomy.UseCall(call).Writes
	answer, answered := f.pairs.Response(at)
	if len(writes) == 0 || !answered ||
		f.taxonomy.Failed(call, f.entries()[answer.Entry].Blocks[answer.Block].(content.ToolResponse)) {
		return
	}
	var before, after = map[string]bool{}, map[string]bool{}
	replaced(call.Parameters, func(s string) { before[fileLine(s)] = true })
	written(call.Parameters, func(s string) {
		if gone, ok := strings.CutPrefix(s, "-"); !ok || !before[fileLine(gone)] { // in a patch
			after[s] = true
		}
	})
	for _, w := range writes {
		path := tools.Key("/", w.Path)
		if w.Whole || w.Deletes {
			f.supersede(path)
		}
		for s := range before {
			if line, ok := f.lines[s]; ok && !after[s] && f.files[path][line] {
				delete(f.files[path], line)
				f.change(line, -1)
			}
		}
	}
	// A patch of several files is taken as one of the first: which line went where makes no difference to the sum.
	path := tools.Key("/", writes[0].Path)
	if f.files[path] == nil {
		f.files[path] = map[int32]bool{}
	}
	for s := range after {
		if line := f.own(s); !before[s] && !f.files[path][line] {
			f.files[path][line] = true
			f.change(line, 1)
		}
	}
}

func (f *ownFinder) supersede(path string) {
	for line := range f.files[path] {
		f.change(line, -1)
	}
	delete(f.files, path)
}

// own returns the number of one of the agent's lines.
func (f *ownFinder) own(s string) int32 {
	line := f.number(s)
	f.sizes[line] = int32(len(s))
	return line
}

// written yields the lines that a call writes, in the form of fileLine: those of its parameters but what they replace,
// without the plus of a patch.
func written(parameters json.RawMessage, yield func(line string)) {
	eachParameter(parameters, func(name, text string) {
		if oldTexts[name] {
			return
		}
		search := false
		eachLine(text[:min(len(text), maxScan)], func(s string) {
			search = opensSearch(s) || search && !strings.HasPrefix(s, "=======")
			if s = fileLine(strings.TrimPrefix(s, "+")); s != "" && !search {
				yield(s)
			}
		})
	})
}

// ownShare follows how much of its own lines the latest request holds, in bytes. Its cost depends on what changes.
type ownShare struct {
	rec       *recording
	places    []int32 // thing → how many current places say it; 0: the line is not the agent's own now
	all, kept int     // bytes of the lines that are
}

func newOwnShare(rec *recording) *ownShare {
	return &ownShare{rec: rec, places: make([]int32, rec.things)}
}

// moved takes in that the request holds a line that it did not hold (by 1), or no longer does (by -1).
func (s *ownShare) moved(thing int32, by int) {
	if s.places[thing] > 0 {
		s.kept += by * int(s.rec.sizes[thing])
	}
}

// turn returns the share of the next request, before which these changes were made. held must have taken it in. ok is
// false if the agent had made nothing.
func (s *ownShare) turn(changes []ownLine, h *held) (v float64, ok bool) {
	for _, c := range changes {
		was := s.places[c.line]
		s.places[c.line] += c.by
		if (was > 0) == (s.places[c.line] > 0) {
			continue
		}
		size := int(c.by) * int(s.rec.sizes[c.line])
		s.all += size
		if h.holds(c.line) {
			s.kept += size
		}
	}
	return share(s.kept, s.all), s.all > 0
}

type ownTally struct {
	requests   int
	sum, worst float64
}

func (t *ownTally) add(o ownTally) {
	if o.requests > 0 && (t.requests == 0 || o.worst < t.worst) {
		t.worst = o.worst
	}
	t.requests += o.requests
	t.sum += o.sum
}

// result returns it as an [Own]; without requests nothing was lost.
func (t *ownTally) result() Own {
	if t.requests == 0 {
		return Own{Share: 1, Worst: 1}
	}
	return Own{Requests: t.requests, Share: t.sum / float64(t.requests), Worst: t.worst}
}
