package history

import (
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// resolveInclusions mends the lines that say that a file is included again later, if it no longer is.
func resolveInclusions(old []*Entry, parts []check.Part) {
	stays := map[int]bool{}
	for _, p := range parts {
		if p.Index >= 0 && !p.Edited {
			stays[p.Index] = true
		}
	}
	touched := false
	for i, e := range old {
		touched = touched || e.Content.Speaker == content.Human && !stays[i]
	}
	if !touched {
		return // no inclusion was removed
	}
	var later []string // the paths of the files that are included further down
	for i := len(parts) - 1; i >= 0; i-- {
		p := &parts[i]
		if p.Content.Speaker != content.Human {
			continue
		}
		for j := len(p.Content.Blocks) - 1; j >= 0; j-- {
			text, ok := p.Content.Blocks[j].(content.Text)
			if !ok {
				continue
			}
			now, included := mendInclusions(text.Text, later)
			later = append(later, included...)
			if now != text.Text {
				text.Text = now
				replaceBlock(p, j, text)
			}
		}
	}
}

// mendInclusions returns a text with these lines mended, and the paths of the files included in it. later are those
// included behind it.
func mendInclusions(text string, later []string) (now string, included []string) {
	if !strings.Contains(text, "[Earlier inclusion of ") && !strings.Contains(text, "--- ") {
		return text, nil
	}
	lines := slices.Collect(strings.Lines(text))
	closed := false // an inclusion that begins here ends further down
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimRight(lines[i], "\r\n")
		if line == "--- End of content ---" {
			closed = true
			continue
		}
		if p, ok := marks.ReadInclusion(line); ok {
			if !slices.ContainsFunc(slices.Concat(later, included), func(l string) bool { return samePath(p, l) }) {
				lines[i] = marks.InclusionAlone(p) + ending(lines[i])
			}
			continue
		}
		if p, ok := check.Included(line); ok && closed {
			included = append(included, p)
		}
	}
	return strings.Join(lines, ""), included
}

// samePath reports whether two paths may be of one file: one may be relative to a directory that the other names.
func samePath(a, b string) bool {
	a, b = path.Clean(a), path.Clean(b)
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}
