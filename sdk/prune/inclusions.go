package prune

import (
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// The markers around files that a person included with @. Each is a line of its own. There are two
// forms:
//
//	--- src/a.ts ---                         --- Content from referenced files ---
//	content                                  Content from @src/a.ts:
//	--- End of content ---                   content
//	                                         Content from @src/b.ts:
//	                                         content
//	                                         --- End of content ---
const (
	openPrefix  = "--- "
	openSuffix  = " ---"
	blockOpen   = "--- Content from referenced files ---"
	blockPrefix = "Content from @"
	blockSuffix = ":"
	closeLine   = "--- End of content ---"
)

// inclusion is one included file in a message: from start in a text block to end in the same one or a later one, without
// the line break after it. In the first form it is everything from the open line to the close line, in the second one
// file between the markers of the block, which stay.
type inclusion struct {
	path       string
	block, to  int32
	start, end int
}

// placed is an inclusion and its place in the history.
type placed struct {
	inclusion
	entry  int32
	pinned bool // it stays as it is
	// by is 1 + the entry that includes the file again; 0: this is the last inclusion of the file.
	by int32
}

// takeInclusions takes in the file inclusions of what a person said. Each supersedes the one before of the same file,
// even in the same message. What people wrote around an inclusion stays byte for byte. A pinned entry
// supersedes earlier inclusions like any other, because it holds the file, but its own stay.
func (s *state) takeInclusions(i int32, entry *sdk.Content) {
	for _, inc := range findInclusions(entry.Blocks) {
		f := s.files.at(s.file(inc.path))
		if f.included != 0 {
			if last := s.inclusions.at(f.included - 1); !last.pinned {
				last.by = i + 1
				s.touched = append(s.touched, last.entry)
				s.counts.inclusions++
			}
		}
		inc.path = strings.Clone(inc.path)
		pinned := entry.Pinned() || !inc.worth(entry.Blocks)
		f.included = 1 + s.inclusions.add(placed{inclusion: inc, entry: i, pinned: pinned})
	}
}

// worth reports whether an inclusion over several blocks can go: the marker is shorter, and no block that goes with it
// says more than its text.
func (inc *inclusion) worth(blocks []sdk.Block) bool {
	if inc.block == inc.to {
		return true
	}
	size := inc.end - inc.start
	for j := inc.block; j < inc.to; j++ {
		size += len(blocks[j].(sdk.Text).Text)
		if len(blocks[j+1].(sdk.Text).Extra.All()) > 0 {
			return false
		}
	}
	return size > len(inc.stripped())
}

// findInclusions returns the inclusions of a message, in order. Agents send one as one text or as several text blocks;
// a block begins a line. Open and close lines must alternate. If they do not, it is unclear which file a part belongs
// to, and only those blocks have inclusions in which they alternate. What is outside of these lines is
// the person's and never part of an inclusion. One with a block of another kind in it, such as an image, is left alone.
func findInclusions(blocks []sdk.Block) []inclusion {
	if !slices.ContainsFunc(blocks, func(b sdk.Block) bool {
		text, ok := b.(sdk.Text)
		return ok && strings.Contains(text.Text, closeLine)
	}) {
		return nil
	}
	if found, ok := alternating(blocks, 0); ok {
		return found
	}
	var found []inclusion
	for j := range blocks {
		one, _ := alternating(blocks[:j+1], j)
		found = append(found, one...)
	}
	return found
}

// alternating returns the inclusions in blocks from the one at from on; ok is false if the lines do not alternate.
func alternating(blocks []sdk.Block, from int) (found []inclusion, ok bool) {
	var f finder
	for j := from; j < len(blocks); j++ {
		text, ok := blocks[j].(sdk.Text)
		if !ok {
			f.mixed = true
			continue
		}
		for start := 0; start < len(text.Text); {
			end, next := len(text.Text), len(text.Text)
			if n := strings.IndexByte(text.Text[start:], '\n'); n >= 0 {
				end, next = start+n, start+n+1
			}
			line := strings.TrimSuffix(text.Text[start:end], "\r")
			if !f.line(line, int32(j), start) {
				return nil, false
			}
			f.block, f.end = int32(j), start+len(line)
			start = next
		}
	}
	if f.inside {
		return nil, false
	}
	return f.found, true
}

// finder reads a message line by line.
type finder struct {
	found  []inclusion
	open   inclusion // the one that began last; its path is "" between an opened block and its first file
	mixed  bool      // a block that is no text stands in it
	inside bool      // between an open and a close line
	files  bool      // and these are of the second form
	// The end of the previous line, without its line break.
	block int32
	end   int
}

// line takes in the next line; ok is false if open and close lines do not alternate.
func (f *finder) line(line string, block int32, start int) (ok bool) {
	path, opens := openPath(line)
	switch {
	case line == closeLine && !f.inside, opens && f.inside:
		return false
	case line == closeLine:
		if !f.files {
			f.block, f.end = block, start+len(line)
		}
		f.endFile()
		f.inside = false
	case opens:
		f.inside, f.files, f.mixed = true, line == blockOpen, false
		if f.open = (inclusion{path: path, block: block, start: start}); f.files {
			f.open.path = ""
		}
	case f.inside && f.files:
		if path, ok := blockPath(line); ok {
			f.endFile()
			f.open, f.mixed = inclusion{path: path, block: block, start: start}, false
		}
	}
	return true
}

// endFile ends the open inclusion with the previous line.
func (f *finder) endFile() {
	if f.open.path != "" && !f.mixed {
		f.open.to, f.open.end = f.block, f.end
		f.found = append(f.found, f.open)
	}
}

// openPath returns the path that an open line names; ok is false for any other line, the close line too.
func openPath(line string) (string, bool) {
	if line == closeLine {
		return "", false
	}
	marked := strings.HasPrefix(line, openPrefix) && strings.HasSuffix(line, openSuffix)
	if !marked || len(line) <= len(openPrefix)+len(openSuffix) {
		return "", false
	}
	path := strings.TrimSpace(line[len(openPrefix) : len(line)-len(openSuffix)])
	return path, path != ""
}

// blockPath returns the path that begins an inclusion in a block, "" if it names none; ok is false for any other line.
func blockPath(line string) (path string, ok bool) {
	path, ok = strings.CutPrefix(line, blockPrefix)
	if !ok || !strings.HasSuffix(path, blockSuffix) {
		return "", false
	}
	return strings.TrimSpace(strings.TrimSuffix(path, blockSuffix)), true
}

// stripped is what stands in the place of an inclusion that is repeated later.
func (inc *inclusion) stripped() string {
	return marks.Inclusion(inc.path)
}

// cut is a part of a text that goes, and what stands in its place.
type cut struct {
	start, end int
	with       string
}

// strip replaces the stale inclusions of a message, which are in order, by a line each that tells the model where the
// content is. put gets the new text of a block, drop a block of which nothing is left.
func strip(blocks []sdk.Block, stale []*placed, put func(block int32, text string), drop func(block int32)) {
	cuts := make(map[int32][]cut)
	text := func(block int32) string { return blocks[block].(sdk.Text).Text }
	for _, inc := range stale {
		if inc.to == inc.block {
			cuts[inc.block] = append(cuts[inc.block], cut{inc.start, inc.end, inc.stripped()})
			continue
		}
		// What is left of the last line stays with the marker: its line break, and what would be a blank text.
		end, last := inc.end, text(inc.to)
		if n := strings.IndexByte(last[end:], '\n'); n >= 0 && end > 0 {
			end += n + 1
		}
		if strings.TrimSpace(last[end:]) == "" {
			end = len(last)
		}
		cuts[inc.block] = append(cuts[inc.block],
			cut{inc.start, len(text(inc.block)), inc.stripped() + last[inc.end:end]})
		for j := inc.block + 1; j < inc.to; j++ {
			cuts[j] = []cut{{0, len(text(j)), ""}}
		}
		cuts[inc.to] = []cut{{0, end, ""}}
	}
	for _, block := range slices.Sorted(maps.Keys(cuts)) {
		var b strings.Builder
		from, was := 0, text(block)
		for _, c := range cuts[block] {
			b.WriteString(was[from:c.start])
			b.WriteString(c.with)
			from = c.end
		}
		b.WriteString(was[from:])
		if b.Len() == 0 {
			drop(block)
		} else {
			put(block, b.String())
		}
	}
}
