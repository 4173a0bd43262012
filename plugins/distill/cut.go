package distill

import (
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/summary"
)

const (
	// longLine is from how many bytes on a line is cut into pieces of about pieceBytes. A line of up to shortLine bytes
	// belongs to the one before.
	longLine, pieceBytes, shortLine = 400, 160, 6
	// maxText is how much of one text is divided into lines, in bytes, half of it at each end. What is between is one
	// line. It bounds what one result can cost.
	maxText = 512 << 10
)

// textsOf returns the texts of a block.
func textsOf(b sdk.Block) []content.Literal {
	switch b := b.(type) {
	case sdk.Text:
		return []content.Literal{{Text: b.Text}}
	case sdk.ToolCall:
		return content.Literals(b.Parameters)
	case sdk.ToolResponse:
		return content.Literals(b.Result)
	}
	return nil
}

// mayShrink reports whether a text may lose lines: only a result. What the AI said and its calls stay as it made them:
// it would take a shorter one for what it wrote. So does a sentence that stands for a whole result.
func mayShrink(b sdk.Block, s content.Literal) bool {
	r, ok := b.(sdk.ToolResponse)
	return ok && !marks.ForWhole(r.Result) && !summary.IsLine(r.ToolName, s.Text) &&
		!strings.Contains(s.Text, marks.RemovedBytes)
}

// changed returns a copy of a block with new texts, which are in the order of the block.
func changed(b sdk.Block, texts []content.Literal) sdk.Block {
	if r, ok := b.(sdk.ToolResponse); ok {
		r.Result = content.WithLiterals(r.Result, texts)
		return r
	}
	return b
}

// lines divides a text into lines with their line breaks: long ones into pieces, so one line of a megabyte can
// lose parts too; short ones together with the line before, because a bracket alone is no use. What is joined again is
// the text.
func lines(text string) (out []string) {
	if len(text) > maxText {
		head, tail := seam(text, maxText/2), seam(text, len(text)-maxText/2)
		out = append(lines(text[:head]), text[head:tail])
		return append(out, lines(text[tail:])...)
	}
	at, last := 0, 0     // where the next line and the last one of out begin
	whole, begin := 0, 0 // where the last line, with all its pieces, begins in out and in text
	glue, behind := false, false
	for line := range strings.Lines(text) {
		end := at + len(line)
		// What is left of one line stays together with the marks in it, or nobody could tell how many lines went.
		var before bool
		glue = behind
		if before, behind = marks.Joins(line); (before || glue) && len(out) > 0 {
			out = append(out[:whole], text[begin:end])
			at, last = end, begin
			continue
		}
		if n := len(out); n > 0 && len(strings.TrimSpace(line)) <= shortLine && at-last < longLine &&
			!marks.Like(out[n-1]) {
			out[n-1], at = text[last:end], end
			whole, begin = n-1, last
			continue
		}
		whole, begin = len(out), at
		for end-at > longLine {
			to := edge(text, at+pieceBytes)
			if space := strings.LastIndexAny(text[at:to], " ,;"); space > pieceBytes/2 {
				to = at + space + 1
			}
			out = append(out, text[at:to])
			at = to
		}
		out = append(out, text[at:end])
		at, last = end, at
	}
	return out
}

// seam returns a position near at where a line ends, or that is well within a long one: only those are cut.
func seam(text string, at int) int {
	start, end := strings.LastIndexByte(text[:at], '\n')+1, len(text)
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		end = at + n + 1
	}
	switch {
	case end-start <= longLine+1 || end-at < pieceBytes:
		return end
	case at-start < pieceBytes:
		return start
	}
	return edge(text, at) // so that what is left is still valid UTF-8
}

// edge returns the first position from at on at which a character begins.
func edge(s string, at int) int {
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return at
}
