package distill

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// lineIndex finds where a run of lines stood last in the results that the AI has seen. It knows lines by hashes of 64
// bits, and where each window of [runLines] lines begins. A run is found by its first window, and then followed line by
// line. It is kept from one Optimize to the next, so a turn costs what is new in it.
type lineIndex struct {
	upTo    int // entries of the history that were taken in: all that the AI had seen
	seed    maphash.Seed
	lines   []line
	windows map[uint64]int32 // 1 + the position of the last window with that hash
	sources []source         // of the texts that were taken in
	labels  map[string]int32 // how many results have a label
}

// line is a line of a text, and where it stands in the result, from 1.
type line struct {
	key          uint64
	text, number int32
}

// source is a result, the nth with its label.
type source struct {
	label string
	nth   int32
}

// maxLines is how many lines are kept; when these are more, it begins again with what follows.
const maxLines = 1 << 17

func newLineIndex() *lineIndex {
	return &lineIndex{seed: maphash.MakeSeed(), windows: map[uint64]int32{}, labels: map[string]int32{}}
}

// MemoBytes is about how much memory it takes.
func (x *lineIndex) MemoBytes() int {
	return 16*cap(x.lines) + 24*len(x.windows) + 24*cap(x.sources) + 120*len(x.labels)
}

// keys returns what lines are known by.
func (x *lineIndex) keys(lines []string) []uint64 {
	keys := make([]uint64, len(lines))
	for i, line := range lines {
		keys[i] = maphash.String(x.seed, strings.TrimSuffix(line, "\n"))
	}
	return keys
}

// window returns the hash of the window that lines begin with; 0 if they are too few.
func (x *lineIndex) window(keys []uint64) uint64 {
	if len(keys) < runLines {
		return 0
	}
	return maphash.Comparable(x.seed, [runLines]uint64(keys)) | 1
}

// add takes a result in.
func (x *lineIndex) add(label string, texts []content.Literal) {
	if len(x.lines) > maxLines {
		x.lines, x.windows, x.sources = nil, map[uint64]int32{}, nil
	}
	nth, number := x.labels[label]+1, int32(0)
	for _, t := range texts {
		text, first := int32(len(x.sources)), int32(len(x.lines))
		x.sources = append(x.sources, source{label, nth})
		keys := x.keys(slices.Collect(strings.Lines(t.Text)))
		for i, key := range keys {
			number++
			x.lines = append(x.lines, line{key, text, number})
			// Of equal windows in one text the first counts: a run from there is the longest.
			if h := x.window(keys[i:]); h != 0 && x.windows[h] <= first {
				x.windows[h] = first + int32(i) + 1
			}
		}
	}
	if number > 0 {
		x.labels[label] = nth
	}
}

// longest returns where a run stands that begins like keys: the result, its first line there, and how many lines it has;
// 0 if there is none.
func (x *lineIndex) longest(keys []uint64) (s source, from, n int) {
	at := int(x.windows[x.window(keys)]) - 1
	if at < 0 {
		return s, 0, 0
	}
	first := x.lines[at]
	for n < min(len(keys), len(x.lines)-at) && x.lines[at+n].key == keys[n] && x.lines[at+n].text == first.text {
		n++
	}
	return x.sources[first.text], int(first.number), n
}
