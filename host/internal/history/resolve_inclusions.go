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
		included := make([][]includedAt, len(p.Content.Blocks))
		for j, b := range p.Content.Blocks {
			included[j] = inclusions(b)
		}
		behind := func(path string, block, line int) bool {
			for j := block; j < len(included); j++ {
				if slices.ContainsFunc(included[j], func(f includedAt) bool {
					return (j > block || f.line > line) && samePath(path, f.path)
				}) {
					return true
				}
			}
			return slices.ContainsFunc(later, func(l string) bool { return samePath(path, l) })
		}
		mendOwn(p, func(block, line int, _, text string) (string, bool) {
			if path, ok := marks.ReadInclusion(strings.TrimRight(text, "\r\n")); ok && !behind(path, block, line) {
				text = marks.InclusionAlone(path) + ending(text)
			}
			return text, true
		})
		for _, all := range included {
			for _, f := range all {
				later = append(later, f.path)
			}
		}
	}
}

// includedAt is a file that a message includes, and the line from which on.
type includedAt struct {
	path string
	line int
}

// inclusions returns the files that a block of a message includes.
func inclusions(b content.Block) (all []includedAt) {
	t, ok := b.(content.Text)
	if !ok || !strings.Contains(t.Text, "--- ") {
		return nil
	}
	lines := slices.Collect(strings.Lines(t.Text))
	closed := false // an inclusion that begins here ends further down
	for i, line := range slices.Backward(lines) {
		line = strings.TrimRight(line, "\r\n")
		if line == "--- End of content ---" {
			closed = true
		} else if p, ok := check.Included(line); ok && closed {
			all = append(all, includedAt{p, i + 1})
		}
	}
	return all
}

// samePath reports whether two paths may be of one file: one may be relative to a directory that the other names.
func samePath(a, b string) bool {
	a, b = path.Clean(a), path.Clean(b)
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}
