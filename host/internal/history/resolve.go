package history

import (
	"bytes"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// A mark that says where lines are instead ([marks.Reference]) is true while they are there. A rewrite that changes or
// removes that place also mends the mark: it names the new place, or the lines come back, or, if room is needed, the
// mark says that they are gone.

// refers reports whether an entry has such a mark. Only what strategies wrote counts: it is asked for entries that a
// plan edits, and for those from a store.
func refers(c content.Content) bool {
	return c.Speaker == content.Tool && slices.ContainsFunc(c.Blocks, func(b content.Block) bool {
		r, ok := b.(content.ToolResponse)
		return ok && bytes.Contains(r.Result, []byte(marks.Refers))
	})
}

type resolver struct {
	old   []*Entry
	parts []check.Part
	tools *tools.Taxonomy
	// restore puts lines back; otherwise marks say that they are gone.
	restore bool

	before, after []marks.Result
	at            map[spot]int // where a result is in before
	now           map[spot]int // the index in after of a result of before
	lines         map[int][]string
}

type spot struct{ entry, block int }

func resolve(old []*Entry, parts []check.Part, t *tools.Taxonomy, restore bool) {
	r := &resolver{old: old, parts: parts, tools: t, restore: restore}
	for i := range parts {
		p := &parts[i]
		if p.Index < 0 || !old[p.Index].Refers {
			continue
		}
		for j, b := range p.Content.Blocks {
			if response, ok := b.(content.ToolResponse); ok && bytes.Contains(response.Result, []byte(marks.Refers)) {
				r.block(p, i, j, response)
			}
		}
	}
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
	r.at, r.now, r.lines = map[spot]int{}, map[spot]int{}, map[int][]string{}
	for k, x := range r.before {
		r.at[spot{x.Entry, x.Block}] = k
	}
	for k, x := range r.after {
		if p := r.parts[x.Entry]; p.Index >= 0 {
			r.now[spot{p.Index, p.Origin(x.Block)}] = k
		}
	}
}

func (r *resolver) block(p *check.Part, part, block int, response content.ToolResponse) {
	r.read()
	self, known := r.at[spot{p.Index, p.Origin(block)}]
	var changed []content.Literal
	for _, s := range content.Literals(response.Result) {
		if !strings.Contains(s.Text, marks.Refers) {
			continue
		}
		var b strings.Builder
		for line := range strings.Lines(s.Text) {
			if ref, ok := marks.ReadReference(line); ok && known {
				line = r.mended(ref, self, spot{part, block}, line)
			}
			b.WriteString(line)
		}
		if now := b.String(); now != s.Text {
			s.Text = now
			changed = append(changed, s)
		}
	}
	if len(changed) == 0 {
		return
	}
	response.Result = content.WithLiterals(response.Result, changed)
	replaceBlock(p, block, response)
}

func replaceBlock(p *check.Part, at int, b content.Block) {
	if !p.Edited {
		*p = check.AllKept(p.Index, p.Content)
	}
	p.Content.Blocks = slices.Clone(p.Content.Blocks)
	p.Content.Blocks[at], p.Kept[at] = b, -1
}

// mended returns what replaces a mark. self is the result that has it, as a number in before; here is its place in
// parts.
func (r *resolver) mended(ref marks.Reference, self int, here spot, line string) string {
	source := nth(r.before, self, ref)
	if source < 0 {
		return line // it was not true before: another program wrote it
	}
	was := r.linesOf(source)
	lines, ok := ref.Resolve(was)
	if !ok {
		return line
	}
	x := r.before[source]
	if k, stands := r.now[spot{x.Entry, x.Block}]; stands {
		if ref, ok = r.moved(ref, k, here, was[ref.From-1:ref.To]); ok {
			return ref.String() + ending(line)
		}
	}
	if r.restore {
		return strings.Join(lines, "\n") + ending(line)
	}
	return strings.TrimSuffix(marks.Omitted(len(lines)), "\n") + ending(line)
}

func ending(line string) string { return line[len(strings.TrimRight(line, "\r\n")):] }

func nth(results []marks.Result, self int, ref marks.Reference) int {
	n := 0
	for k := self - 1; k >= 0; k-- {
		if results[k].Label == ref.Label {
			if n++; n == ref.Nth {
				return k
			}
		}
	}
	return -1
}

func (r *resolver) moved(ref marks.Reference, k int, here spot, lines []string) (marks.Reference, bool) {
	x := r.after[k]
	response := r.parts[x.Entry].Content.Blocks[x.Block].(content.ToolResponse)
	now := marks.ResultLines(response.Result)
	if ref.To > len(now) || !slices.Equal(now[ref.From-1:ref.To], lines) {
		all, run := "\n"+strings.Join(now, "\n")+"\n", "\n"+strings.Join(lines, "\n")+"\n"
		at := strings.Index(all, run)
		if at < 0 {
			return ref, false
		}
		ref.To -= ref.From
		ref.From = strings.Count(all[:at], "\n") + 1
		ref.To += ref.From
	}
	ref.Nth, ref.Label = 1, x.Label
	for i := k + 1; i < len(r.after); i++ {
		y := r.after[i]
		if y.Entry > here.entry || y.Entry == here.entry && y.Block >= here.block {
			break
		}
		if y.Label == ref.Label {
			ref.Nth++
		}
	}
	return ref, ref.Nth <= marks.MaxNth && (x.Entry < here.entry || x.Entry == here.entry && x.Block < here.block)
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
