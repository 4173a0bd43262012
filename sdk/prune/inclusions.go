package prune

import (
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// The markers around files that a person included with @. Each is a line of its own (REQ-HD-006.1). There are two
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

// inclusion is one included file in a text block: text[start:end], without the line break after it. In the first form
// it is everything from the open line to the close line, in the second one file between the markers of the block,
// which stay.
type inclusion struct {
	path       string
	start, end int
}

// placed is an inclusion and its place in the history.
type placed struct {
	inclusion
	entry, block int32
	pinned       bool // its entry stays as it is
	// by is 1 + the entry that includes the file again; 0: this is the last inclusion of the file.
	by int32
}

// takeInclusions takes in the file inclusions of what a person said. Each supersedes the one before of the same file,
// even in the same message (REQ-HD-006). What people wrote around an inclusion stays byte for byte. A pinned entry
// supersedes earlier inclusions like any other, because it holds the file, but its own stay.
func (s *state) takeInclusions(i int32, entry *sdk.Content) {
	pinned := entry.Pinned()
	for j, block := range entry.Blocks {
		text, ok := block.(sdk.Text)
		if !ok {
			continue
		}
		for _, inc := range findInclusions(text.Text) {
			f := s.files.at(s.file(inc.path))
			if f.included != 0 {
				if last := s.inclusions.at(f.included - 1); !last.pinned {
					last.by = i + 1
					s.touched = append(s.touched, last.entry)
					s.counts.inclusions++
				}
			}
			inc.path = strings.Clone(inc.path)
			f.included = 1 + s.inclusions.add(placed{inclusion: inc, entry: i, block: int32(j), pinned: pinned})
		}
	}
}

// findInclusions returns the inclusions of one text, in order. Open and close lines must alternate. If they do not,
// it is unclear which file a part belongs to, so there are none (REQ-HD-006.5). What is outside of these lines is the
// person's and never part of an inclusion.
func findInclusions(text string) []inclusion {
	if !strings.Contains(text, closeLine) {
		return nil
	}
	var found []inclusion
	var open inclusion  // the one that began last; its path is "" between an opened block and its first file
	inside := false     // between an open and a close line
	inBlock := false    // and that is a block of the second form
	last := 0           // the end of the previous line, without its line break
	endFile := func() { // in a block: the open inclusion ends with the previous line
		if open.path != "" {
			open.end = last
			found = append(found, open)
		}
	}
	for start := 0; start < len(text); {
		end, next := len(text), len(text)
		if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
			end, next = start+n, start+n+1
		}
		line := strings.TrimSuffix(text[start:end], "\r")
		path, opens := openPath(line)
		switch {
		case line == closeLine && !inside, opens && inside:
			return nil
		case line == closeLine && inBlock:
			endFile()
			inside = false
		case line == closeLine:
			open.end = start + len(line)
			found = append(found, open)
			inside = false
		case opens:
			inside, inBlock = true, line == blockOpen
			if open = (inclusion{path: path, start: start}); inBlock {
				open.path = ""
			}
		case inside && inBlock:
			if path, ok := blockPath(line); ok {
				endFile()
				open = inclusion{path: path, start: start}
			}
		}
		last = start + len(line)
		start = next
	}
	if inside {
		return nil
	}
	return found
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

// blockPath returns the path that begins an inclusion in a block; ok is false for any other line.
func blockPath(line string) (path string, ok bool) {
	path, ok = strings.CutPrefix(line, blockPrefix)
	if !ok || !strings.HasSuffix(path, blockSuffix) {
		return "", false
	}
	path = strings.TrimSpace(strings.TrimSuffix(path, blockSuffix))
	return path, path != ""
}

// stripped is what stands in the place of an inclusion that is repeated later.
func (inc *inclusion) stripped() string {
	return marks.Inclusion(inc.path)
}

// strip replaces each of the stale inclusions of a text, which are in order, by a line that tells the model where the
// content is.
func strip(text string, stale []*placed) string {
	var b strings.Builder
	b.Grow(len(text))
	from := 0
	for _, inc := range stale {
		b.WriteString(text[from:inc.start])
		b.WriteString(inc.stripped())
		from = inc.end
	}
	b.WriteString(text[from:])
	return b.String()
}
