package distill

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"sort"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// lineIndex finds where a run of lines stands in the results so far. It knows lines by hashes, and where each window of
// [runLines] lines begins. A run is found by its first window, and then followed line by line.
//
// Entries are taken in in their order and forgotten from the end, so it follows a history that grows and is
// rewritten. What it says depends on the history alone.
type lineIndex struct {
	seed    maphash.Seed
	lines   []indexed
	windows map[uint64]int32 // 1 + the position of the last window with that hash
	sources []source
	results []labelled
	labels  map[string]int32 // 1 + the number of the last result with that label
	cleared int              // the entry before which it was cleared last, because it was too large
}

const (
	// maxLines bounds the lines of one text and of all of them; when these are more, it begins again with what
	// follows.
	maxLines, maxInAll = 1 << 14, 1 << 17
	// maxTries is how many places of a window are looked at.
	maxTries = 8
)

// lineKey is what a line is known by. 0 in either hash: it is not.
type lineKey struct {
	// exact is a hash of all of it. bare is one of the file and of what stands behind its number, if a tool read one
	// file and numbered the line.
	exact, bare uint64
}

// indexed is a line that was taken in, and 1 + the position before of the same window, for both hashes.
type indexed struct {
	lineKey
	exactBefore, bareBefore int32
}

// origin is the result that a text is in. file is a hash of the path, if a tool read one file.
type origin struct {
	entry, block int32
	file         uint64
}

// source is one text that was taken in: lines[at:at+n].
type source struct {
	origin
	text   int32 // which of the texts of its result
	first  int32 // how many lines of the result are before it
	at, n  int32
	result int32
}

// labelled is a result; before is 1 + the number of the one before with the same label.
type labelled struct {
	label  string
	entry  int32
	before int32
}

func newLineIndex() lineIndex {
	return lineIndex{seed: maphash.MakeSeed(), windows: map[uint64]int32{}, labels: map[string]int32{}}
}

// bytes is about how much memory it takes.
func (x *lineIndex) bytes() int {
	return 24*cap(x.lines) + 24*len(x.windows) + 48*cap(x.sources) + 24*cap(x.results) + 120*len(x.labels)
}

func (x *lineIndex) hash(s string) uint64 { return maphash.String(x.seed, s) }

// keys returns what lines are known by.
func (x *lineIndex) keys(lines []string, file uint64) []lineKey {
	keys := make([]lineKey, len(lines))
	for i, line := range lines {
		if marks.Like(line) {
			continue // a mark is no line of the result
		}
		line = strings.TrimSuffix(line, "\n")
		keys[i].exact = x.hash(line) | 1
		if file == 0 {
			continue
		}
		if _, rest, ok := marks.Number(line); ok {
			keys[i].bare = (x.hash(rest) ^ file) | 1
		}
	}
	return keys
}

// window returns the hash of the window at i; ok is false if a line in it is not known by such a hash.
func window(keys []lineKey, i int, bare bool) (h uint64, ok bool) {
	if i+runLines > len(keys) {
		return 0, false
	}
	for _, k := range keys[i : i+runLines] {
		x := k.exact
		if bare {
			x = k.bare
		}
		if x == 0 {
			return 0, false
		}
		h = bits.RotateLeft64(h, 7) ^ x
		h *= 0x9e3779b97f4a7c15
	}
	if bare {
		h = ^h
	}
	return h, true
}

// add takes a result in.
func (x *lineIndex) add(from origin, label string, texts []content.Literal) {
	if len(x.lines) > maxInAll {
		x.lines, x.windows, x.sources = nil, map[uint64]int32{}, nil
		x.cleared = int(from.entry)
	}
	first := 0
	for i, s := range texts {
		lines := marks.Lines(s.Text)
		if lines >= runLines {
			x.addText(source{origin: from, text: int32(i), first: int32(first), result: int32(len(x.results))}, s.Text)
		}
		first += lines
	}
	if first > 0 {
		x.results = append(x.results, labelled{label, from.entry, x.labels[label]})
		x.labels[label] = int32(len(x.results))
	}
}

func (x *lineIndex) addText(s source, text string) {
	var lines []string
	for line := range strings.Lines(text) {
		if lines = append(lines, line); len(lines) == maxLines {
			break
		}
	}
	keys := x.keys(lines, s.file)
	s.at, s.n = int32(len(x.lines)), int32(len(keys))
	x.sources = append(x.sources, s)
	x.lines = slices.Grow(x.lines, len(keys))
	for i := range keys {
		line := indexed{lineKey: keys[i]}
		at := s.at + int32(i)
		for _, bare := range [...]bool{false, true} {
			h, ok := window(keys, i, bare)
			if !ok {
				continue
			}
			// Of equal windows in one text the first counts: a run from there is the longest.
			if before := x.windows[h]; before <= s.at {
				if bare {
					line.bareBefore = before
				} else {
					line.exactBefore = before
				}
				x.windows[h] = at + 1
			}
		}
		x.lines = append(x.lines, line)
	}
}

// forget takes the entries from one on out, and returns how many are left: fewer if it knows nothing of these.
func (x *lineIndex) forget(to int) int {
	if x.cleared > 0 && to <= x.cleared {
		*x = lineIndex{seed: x.seed, windows: map[uint64]int32{}, labels: map[string]int32{}}
		return 0
	}
	for len(x.results) > 0 && int(x.results[len(x.results)-1].entry) >= to {
		last := x.results[len(x.results)-1]
		if x.labels[last.label] = last.before; last.before == 0 {
			delete(x.labels, last.label)
		}
		x.results = x.results[:len(x.results)-1]
	}
	for len(x.sources) > 0 && int(x.sources[len(x.sources)-1].entry) >= to {
		x.forgetText(x.sources[len(x.sources)-1])
		x.sources = x.sources[:len(x.sources)-1]
	}
	return to
}

func (x *lineIndex) forgetText(s source) {
	keys := make([]lineKey, s.n)
	for i := range keys {
		keys[i] = x.lines[int(s.at)+i].lineKey
	}
	for i := len(keys) - 1; i >= 0; i-- {
		line := x.lines[int(s.at)+i]
		for _, bare := range [...]bool{false, true} {
			h, ok := window(keys, i, bare)
			if !ok || x.windows[h] != s.at+int32(i)+1 {
				continue
			}
			before := line.exactBefore
			if bare {
				before = line.bareBefore
			}
			if x.windows[h] = before; before == 0 {
				delete(x.windows, h)
			}
		}
	}
	x.lines = x.lines[:s.at]
}

// longest returns where the longest run stands that begins like keys[i:], and its length; of equally long ones the
// last. numbered: with other line numbers. n is 0 if there is none.
func (x *lineIndex) longest(keys []lineKey, i int) (at int32, n int, numbered bool) {
	for _, bare := range [...]bool{false, true} {
		h, ok := window(keys, i, bare)
		if !ok {
			continue
		}
		next := x.windows[h]
		for range maxTries {
			if next == 0 {
				break
			}
			p := next - 1
			if length := x.follow(keys[i:], p, bare); length > n {
				at, n, numbered = p, length, bare
			}
			if next = x.lines[p].exactBefore; bare {
				next = x.lines[p].bareBefore
			}
		}
	}
	return at, n, numbered
}

// follow returns how many lines from a position on are equal to keys, within one text.
func (x *lineIndex) follow(keys []lineKey, at int32, bare bool) (n int) {
	s := x.sources[x.sourceAt(at)]
	there := x.lines[at : s.at+s.n]
	for n < min(len(keys), len(there)) {
		if bare {
			if keys[n].bare == 0 || keys[n].bare != there[n].bare {
				break
			}
		} else if keys[n].exact == 0 || keys[n].exact != there[n].exact {
			break
		}
		n++
	}
	return n
}

// sourceAt returns the number of the text that a line is in.
func (x *lineIndex) sourceAt(at int32) int32 {
	return int32(sort.Search(len(x.sources), func(i int) bool { return x.sources[i].at > at }) - 1)
}

// reference returns what a mark says of n lines from a position on, and the number of the text that they are in; ok is
// false if too many results with the same label follow.
func (x *lineIndex) reference(at int32, n int) (ref marks.Reference, number int32, ok bool) {
	number = x.sourceAt(at)
	s := x.sources[number]
	label := x.results[s.result].label
	from := int(s.first + at - s.at)
	ref = marks.Reference{From: from + 1, To: from + n, Nth: 1, Label: label}
	for i := x.labels[label]; i != s.result+1; i = x.results[i-1].before {
		if ref.Nth++; ref.Nth > marks.MaxNth {
			return ref, number, false
		}
	}
	return ref, number, true
}
