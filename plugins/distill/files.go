package main

import (
	"math"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Bonuses for lines, by what they are. They fade with age: they are halved after bonusAge thousands of tokens.
const (
	errorBonus, definitionBonus, edgeBonus, saidBonus = 0.05, 0.03, 0.02, 0.05
	headLines, tailLines                              = 2, 3 // that get edgeBonus
	bonusAge                                          = 8.0
	// fileBonus is for a line of a file. An edit needs the exact lines as they were seen last, and files that were
	// worked on lately are edited next. fileBonus doubles with the first edit, and grows with the root of their number.
	// fileAge is as bonusAge, but since the file was last read or written.
	fileBonus, mostEdits, fileAge = 0.3, 9, 8.0
)

// files are the files that the calls of a history name, by their resolved paths.
type files struct {
	root   string
	tools  *tools.Taxonomy
	byPath map[string]*file
}

// file is what is known of a file: how often it was edited, and which entry read or wrote it last.
type file struct{ edits, last int }

// findFiles goes through all calls.
func findFiles(in sdk.CompressInput) files {
	f := files{in.WorkspaceRoot, in.Tools, map[string]*file{}}
	touch := func(path string, entry, edits int) {
		path = tools.Resolve(f.root, path)
		if f.byPath[path] == nil {
			f.byPath[path] = &file{}
		}
		f.byPath[path].last = entry
		f.byPath[path].edits += edits
	}
	for i, entry := range in.History {
		for _, b := range entry.Blocks {
			if call, ok := b.(sdk.ToolCall); ok {
				use := f.tools.Use(call.Name, call.Parameters)
				for _, path := range use.Reads {
					touch(path, i, 0)
				}
				for _, w := range use.Writes {
					touch(w.Path, i, 1)
				}
			}
		}
	}
	return f
}

// of returns the file that a call is about, nil if none is known.
func (f files) of(call sdk.ToolCall) *file {
	use := f.tools.Use(call.Name, call.Parameters)
	switch {
	case len(use.Writes) > 0:
		return f.byPath[tools.Resolve(f.root, use.Writes[0].Path)]
	case len(use.Reads) > 0:
		return f.byPath[tools.Resolve(f.root, use.Reads[0])]
	}
	return nil
}

// isOldText reports whether a parameter is the text that an edit replaces.
func isOldText(s stringIn) bool {
	switch s.field {
	case "old_string", "old_str", "old_text", "oldString", "oldText", "search":
		return true
	}
	return false
}

// isPatch reports whether each line of a text begins with what becomes of it: "-", "+" or a space.
func isPatch(s string) bool {
	return strings.HasPrefix(s, "*** Begin Patch") || strings.HasPrefix(s, "--- ") || strings.HasPrefix(s, "diff ")
}

// rate gives each line a bonus for what it is.
func (p *plan) rate() {
	for i := range p.texts {
		t := &p.texts[i]
		fades := 1 / (1 + p.age[t.entry]/bonusAge)
		inFile := p.inFile(t)
		_, said := p.in.History[t.entry].Blocks[t.block].(sdk.Text)
		for k := t.units.from; k < t.units.to; k++ {
			u := &p.units[k]
			// What a later edit took out of its file is of no use.
			if u.gap > 0 || u.id >= 0 && int(p.index.items[u.id].replaced) > t.entry+1 {
				continue
			}
			if k < t.units.from+headLines || k >= t.units.to-tailLines {
				u.bonus += edgeBonus
			}
			if isError(u.line) {
				u.bonus += errorBonus
			}
			if isDefinition(u.line) {
				u.bonus += definitionBonus
			}
			if said {
				u.bonus += saidBonus
			}
			u.bonus *= fades
			if u.id >= 0 {
				u.bonus += inFile
			}
		}
	}
}

// inFile is what a line of a text is worth as a line of a file; 0 if it is of none.
func (p *plan) inFile(t *text) float64 {
	call, ok := p.in.History[t.entry].Blocks[t.block].(sdk.ToolCall)
	if !ok {
		at, answered := p.pairs.Call(turns.At{Entry: t.entry, Block: t.block})
		if !answered {
			return 0
		}
		call = p.in.History[at.Entry].Blocks[at.Block].(sdk.ToolCall) // only calls are answered
	}
	f := p.files.of(call)
	if f == nil || ok && isOldText(t.in) {
		return 0
	}
	return fileBonus * (1 + math.Sqrt(float64(min(f.edits, mostEdits)))) / (1 + p.age[f.last]/fileAge)
}

var errorWords = [...]string{
	"rror", "ERROR", "ail", "FAIL", "panic", "xception", "raceback", "atal:", "not found", "denied", "undefined",
}

// isError reports whether a line looks like a message of failure.
func isError(line string) bool {
	line = line[:min(len(line), longLine)]
	for _, word := range errorWords {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}

// isDefinition reports whether a line defines something in one of the common languages.
func isDefinition(line string) bool {
	for word := range strings.FieldsSeq(bare(line[:min(len(line), longLine)])) {
		switch word {
		case "export", "default", "public", "private", "protected", "static", "abstract", "async", "pub":
		case "func", "def", "class", "type", "struct", "interface", "impl", "fn", "const", "enum", "trait", "module",
			"function":
			return true
		default:
			return false
		}
	}
	return false
}
