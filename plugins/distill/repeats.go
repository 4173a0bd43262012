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

// lineIndex finds where a run of lines stood last in the results that the AI has seen. It knows lines by hashes of 64
// bits, and where each window of [runLines] lines begins. A run is found by its first window, and then followed line by
// line.
type lineIndex struct {
	seed    maphash.Seed
	lines   []uint64         // 0: a mark, which is no line of a result
	windows map[uint64]int32 // 1 + the position of the last window with that hash
	sources []source
	labels  map[string]int32 // how many results have a label
}

// maxLines is how many lines are kept; when these are more, it begins again with what follows.
const maxLines = 1 << 17

// source is one text that was taken in: the lines from a position on, as far as the next one's.
type source struct {
	label     string // of its result, which is the nth with it
	nth       int32
	first, at int32 // first is how many lines of the result are before it
}

func newLineIndex() lineIndex {
	return lineIndex{seed: maphash.MakeSeed(), windows: map[uint64]int32{}, labels: map[string]int32{}}
}

// MemoBytes is about how much memory it takes.
func (x *lineIndex) MemoBytes() int {
	return 8*cap(x.lines) + 24*len(x.windows) + 32*cap(x.sources) + 120*len(x.labels)
}

// keys returns what lines are known by.
func (x *lineIndex) keys(lines []string) []uint64 {
	keys := make([]uint64, len(lines))
	for i, line := range lines {
		if !marks.Like(line) {
			keys[i] = maphash.String(x.seed, strings.TrimSuffix(line, "\n")) | 1
		}
	}
	return keys
}

// window returns the hash of the window that lines begin with; 0 if a mark is in it, or there is none.
func window(keys []uint64) (h uint64) {
	if len(keys) < runLines {
		return 0
	}
	for _, key := range keys[:runLines] {
		if key == 0 {
			return 0
		}
		h = bits.RotateLeft64(h, 7) ^ key
		h *= 0x9e3779b97f4a7c15
	}
	return h | 1
}

// add takes a result in.
func (x *lineIndex) add(label string, texts []content.Literal) {
	if len(x.lines) > maxLines {
		x.lines, x.windows, x.sources = nil, map[uint64]int32{}, nil
	}
	s := source{label: label, nth: x.labels[label] + 1}
	for _, t := range texts {
		if s.at = int32(len(x.lines)); t.Text == "" {
			continue
		}
		lines := slices.Collect(strings.Lines(t.Text))
		keys := x.keys(lines)
		x.sources, x.lines = append(x.sources, s), append(x.lines, keys...)
		for i := range keys {
			// Of equal windows in one text the first counts: a run from there is the longest.
			if h := window(keys[i:]); h != 0 && x.windows[h] <= s.at {
				x.windows[h] = s.at + int32(i) + 1
			}
		}
		s.first += int32(len(lines))
	}
	if s.first > 0 {
		x.labels[label]++
	}
}

// longest returns where a run stands that begins like keys: the text, after how many lines of its result, and how many
// lines it has; 0 if there is none.
func (x *lineIndex) longest(keys []uint64) (s source, from, n int) {
	at := int(x.windows[window(keys)]) - 1
	if at < 0 {
		return s, 0, 0
	}
	next := sort.Search(len(x.sources), func(i int) bool { return int(x.sources[i].at) > at })
	end := len(x.lines)
	if next < len(x.sources) {
		end = int(x.sources[next].at)
	}
	for n < min(len(keys), end-at) && keys[n] != 0 && keys[n] == x.lines[at+n] {
		n++
	}
	s = x.sources[next-1]
	return s, int(s.first) + at - int(s.at), n
}
