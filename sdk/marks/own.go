package marks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Field is the metadata field in which the host says which lines of an entry are marks: a list of [Written]. Only the
// host sets it. A line that it does not name is text, whatever it reads like.
const Field = "marksAt"

// Written is a line that is a mark: a rewrite put it there.
type Written struct {
	Block int `json:"block"` // of the entry, from 0
	Line  int `json:"line"`  // of the strings in the block, from 1
	// Was is the [Sum] of the lines that a [Reference] stands for; "" for other marks, and where that is not known.
	Was string `json:"was,omitempty"`
}

// Recorded returns the marks of an entry, in their order; nil if it has none.
func Recorded(c content.Content) (all []Written) {
	if !bytes.Contains(c.Metadata, []byte(Field)) || json.Unmarshal(rawjson.Field(c.Metadata, Field), &all) != nil {
		return nil
	}
	return all
}

// Places are the numbers of the lines of a block that are marks, from 1, ascending.
type Places []int

// In returns the places of an entry's marks, by block.
func In(c content.Content) map[int]Places {
	var in map[int]Places
	for _, w := range Recorded(c) {
		if in == nil {
			in = map[int]Places{}
		}
		in[w.Block] = append(in[w.Block], w.Line)
	}
	return in
}

// Has reports whether a line is a mark.
func (p Places) Has(line int) bool { _, ok := slices.BinarySearch(p, line); return ok }

// LinesIn returns how many lines some lines were before any were left out of them. first is the number of the first.
func (p Places) LinesIn(lines []string, first int) (n int) {
	for i, line := range lines {
		if omitted, ok := Read(line); ok && p.Has(first+i) {
			n += omitted
		} else {
			n++
		}
	}
	return n
}

// Sum identifies lines, which have no line breaks.
func Sum(lines []string) string {
	h := sha256.New()
	for _, line := range lines {
		_, _ = h.Write([]byte(line))
		_, _ = h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Reads reports whether a line reads like a mark that is read back.
func Reads(line string) bool {
	if len(line) == 0 || line[0] != '[' {
		return false
	}
	line = strings.TrimRight(line, "\r\n")
	if _, ok := Read(line); ok {
		return true
	}
	if _, ok := ReadInclusion(line); ok {
		return true
	}
	return line[len(line)-1] == ']' && strings.Contains(line, RemovedBytes)
}

// BlockLines returns the lines of a block in which marks may be, without their line breaks.
func BlockLines(b content.Block) []string {
	switch b := b.(type) {
	case content.ToolResponse:
		return ResultLines(b.Result)
	case content.Text:
		return linesOf(nil, b.Text)
	}
	return nil
}
