package history

import (
	"slices"
	"sort"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// A mark that says where lines are instead ([marks.Reference]) is true while they are there. A rewrite that changes or
// removes that place also mends the mark: it names the new place, or the lines come back, or, if room is needed, the
// mark says that they are gone. Marks are those that the entry has recorded, and what comes back is what they took.

// refers reports whether an entry has such a mark.
func refers(c content.Content) bool {
	return slices.ContainsFunc(marks.Recorded(c), func(w marks.Written) bool { return w.Was != "" })
}

type resolver struct {
	old   []*Entry
	parts []check.Part
	tools *tools.Taxonomy
	// restore puts lines back; otherwise marks say that they are gone.
	restore bool

	before, after []marks.Result
	labels, news  map[string][]int // where in before and after results have a label
	at            map[spot]int     // where a result is in before
	now           map[spot]int     // the index in after of a result of before
	lines         map[int][]string // of results of before
	texts         map[int]text     // of results of after
}

type text struct {
	lines []string
	all   string // with a line break at either end
}

type spot struct{ entry, block int }

func resolve(old []*Entry, parts []check.Part, t *tools.Taxonomy, restore bool) {
	r := &resolver{old: old, parts: parts, tools: t, restore: restore}
	for i := range parts {
		p := &parts[i]
		if p.Index < 0 || !old[p.Index].Refers {
			continue
		}
		mendOwn(p, func(block, _ int, was, line string) (string, bool) {
			ref, ok := marks.ReadReference(line)
			if was == "" || !ok {
				return line, true
			}
			return r.mended(ref, was, p, spot{i, block}, line)
		})
	}
}

// mendOwn replaces lines of a part that it has recorded as marks. mend returns what stands there then, with its line
// break, and whether that still is the mark. line is the number of a line in its block.
func mendOwn(p *check.Part, mend func(block, line int, was, text string) (now string, mark bool)) {
	own := marks.Recorded(p.Content)
	var all []marks.Written
	changed := false
	for len(own) > 0 {
		block := own[0].Block
		n := slices.IndexFunc(own, func(w marks.Written) bool { return w.Block != block })
		if n < 0 {
			n = len(own)
		}
		if block < 0 || block >= len(p.Content.Blocks) {
			break
		}
		now, left, edited := mendBlock(p.Content.Blocks[block], own[:n], mend)
		if own, all = own[n:], append(all, left...); edited {
			replaceBlock(p, block, now)
			changed = true
		}
	}
	if changed {
		p.Content = check.Record(p.Content, all)
	}
}

func mendBlock(b content.Block, own []marks.Written, mend func(int, int, string, string) (string, bool)) (
	now content.Block, left []marks.Written, edited bool) {
	line, moved := 0, 0 // lines that were read, and how many more there are now
	text := func(s string) string {
		var out strings.Builder
		for text := range strings.Lines(s) {
			if line++; len(own) > 0 && own[0].Line == line {
				w := own[0]
				own = own[1:]
				now, mark := mend(w.Block, line, w.Was, text)
				if w.Line += moved; mark {
					if _, refers := marks.ReadReference(now); !refers {
						w.Was = ""
					}
					left = append(left, w)
				}
				moved += marks.Lines(now) - marks.Lines(text)
				text = now
			}
			out.WriteString(text)
		}
		return out.String()
	}
	switch b := b.(type) {
	case content.Text:
		was := b.Text
		b.Text = text(was)
		return b, left, b.Text != was
	case content.ToolResponse:
		var changed []content.Literal
		for _, s := range content.Literals(b.Result) {
			if was := s.Text; len(own) > 0 {
				if s.Text = text(was); s.Text != was {
					changed = append(changed, s)
				}
			}
		}
		if len(changed) > 0 {
			b.Result = content.WithLiterals(b.Result, changed)
		}
		return b, left, len(changed) > 0
	}
	return b, left, false
}

// resolve adds to the changes of an Optimize those of marks in entries that it leaves alone. It only looks at entries
// if some behind the first change have marks: marks refer to what is before them.
func (s Snapshot) resolve(changes []check.Change) []check.Change {
	if s.refers == 0 {
		return changes
	}
	if !slices.ContainsFunc(s.Entries[changes[0].Index+1:], func(e *Entry) bool { return e.Refers }) {
		return changes
	}
	parts := check.Expand(s.Contents(), changes)
	resolve(s.Entries, parts, s.Tools, true)
	var out []check.Change
	for _, p := range parts {
		for len(changes) > 0 && changes[0].Index < p.Index {
			out, changes = append(out, changes[0]), changes[1:] // it is removed
		}
		if p.Edited {
			out = append(out, check.Change{Part: p})
		}
		if len(changes) > 0 && changes[0].Index == p.Index {
			changes = changes[1:]
		}
	}
	return append(out, changes...)
}

// read is needed only if a mark may have changed.
func (r *resolver) read() {
	if r.at != nil {
		return
	}
	r.before = marks.Results(len(r.old), func(i int) *content.Content { return &r.old[i].Content }, r.tools)
	r.after = marks.Results(len(r.parts), func(i int) *content.Content { return &r.parts[i].Content }, r.tools)
	r.at, r.now, r.lines, r.texts = map[spot]int{}, map[spot]int{}, map[int][]string{}, map[int]text{}
	r.labels, r.news = map[string][]int{}, map[string][]int{}
	for k, x := range r.before {
		r.labels[x.Label] = append(r.labels[x.Label], k)
		r.at[spot{x.Entry, x.Block}] = k
	}
	for k, x := range r.after {
		r.news[x.Label] = append(r.news[x.Label], k)
		if p := r.parts[x.Entry]; p.Index >= 0 {
			r.now[spot{p.Index, p.Origin(x.Block)}] = k
		}
	}
}

func replaceBlock(p *check.Part, at int, b content.Block) {
	if !p.Edited {
		*p = check.AllKept(p.Index, p.Content)
	}
	p.Content.Blocks = slices.Clone(p.Content.Blocks)
	p.Content.Blocks[at], p.Kept[at] = b, -1
}

// mended returns what replaces a mark of a part, and whether it is a mark. was is the sum of what it stands for, and
// here is its place in parts.
func (r *resolver) mended(ref marks.Reference, was string, p *check.Part, here spot, line string) (string, bool) {
	r.read()
	self, known := r.at[spot{p.Index, p.Origin(here.block)}]
	if !known {
		return line, true
	}
	source := r.nth(self, ref)
	if source < 0 {
		return line, true // it was not true before
	}
	all := r.linesOf(source)
	lines, ok := ref.Resolve(all)
	if !ok || marks.Sum(lines) != was {
		return line, true
	}
	x := r.before[source]
	if k, stands := r.now[spot{x.Entry, x.Block}]; stands {
		if ref, ok = r.moved(ref, k, here, all[ref.From-1:ref.To]); ok {
			return ref.String() + ending(line), true
		}
	}
	if r.restore {
		return strings.Join(lines, "\n") + ending(line), false
	}
	return strings.TrimSuffix(marks.Omitted(len(lines)), "\n") + ending(line), true
}

func ending(line string) string { return line[len(strings.TrimRight(line, "\r\n")):] }

// nth returns the result of before that a mark in another one refers to; -1 if there is none.
func (r *resolver) nth(self int, ref marks.Reference) int {
	all := r.labels[ref.Label]
	above, _ := slices.BinarySearch(all, self)
	if ref.Nth > above {
		return -1
	}
	return all[above-ref.Nth]
}

// moved returns the mark for lines that a result of after has somewhere above; ok is false if it has not.
func (r *resolver) moved(ref marks.Reference, k int, here spot, lines []string) (marks.Reference, bool) {
	x := r.after[k]
	if x.Entry > here.entry || x.Entry == here.entry && x.Block >= here.block {
		return ref, false
	}
	now, read := r.texts[k]
	if !read {
		response := r.parts[x.Entry].Content.Blocks[x.Block].(content.ToolResponse)
		now.lines = marks.ResultLines(response.Result)
		now.all = "\n" + strings.Join(now.lines, "\n") + "\n"
		r.texts[k] = now
	}
	if ref.To > len(now.lines) || !slices.Equal(now.lines[ref.From-1:ref.To], lines) {
		at := strings.Index(now.all, "\n"+strings.Join(lines, "\n")+"\n")
		if at < 0 {
			return ref, false
		}
		ref.From = strings.Count(now.all[:at], "\n") + 1
		ref.To = ref.From + len(lines) - 1
	}
	same := r.news[x.Label]
	at, _ := slices.BinarySearch(same, k)
	above := sort.Search(len(same), func(i int) bool {
		y := r.after[same[i]]
		return y.Entry > here.entry || y.Entry == here.entry && y.Block >= here.block
	})
	ref.Nth, ref.Label = above-at, x.Label
	return ref, ref.Nth <= marks.MaxNth
}

func (r *resolver) linesOf(k int) []string {
	lines, ok := r.lines[k]
	if !ok {
		x := r.before[k]
		lines = marks.ResultLines(r.old[x.Entry].Content.Blocks[x.Block].(content.ToolResponse).Result)
		r.lines[k] = lines
	}
	return lines
}
