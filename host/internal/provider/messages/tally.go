package messages

import "fmt"

// Note is a remark for people about what was read or written.
type Note struct {
	// Line in the file, counted from 1; 0 if it concerns no line.
	Line int `json:"line,omitempty"`
	// Entry in the history, counted from 0; -1 if it concerns no entry.
	Entry   int    `json:"entry"`
	Message string `json:"message"`
	// Kind is the same for all notes about the same thing, in any file; "" for a note about this file alone.
	Kind string `json:"-"`
	// Routine marks notes that need no attention: what was left out is never conversation. Other notes are warnings:
	// something was lost, odd or broken.
	Routine bool `json:"routine,omitempty"`
}

// String returns the message behind its place, if known.
func (n Note) String() string {
	switch {
	case n.Line > 0 && n.Entry >= 0:
		return fmt.Sprintf("line %d, entry %d: %s", n.Line, n.Entry, n.Message)
	case n.Line > 0:
		return fmt.Sprintf("line %d: %s", n.Line, n.Message)
	case n.Entry >= 0:
		return fmt.Sprintf("entry %d: %s", n.Entry, n.Message)
	default:
		return n.Message
	}
}

// Tally counts what is not noted one by one: a session may have ten thousand records of one kind, and a note for each
// would hide all others. Each kind becomes one note at the place of its first occurrence. The zero value is empty.
type Tally struct {
	warnings, routines kinds
}

// Count adds one of a kind that deserves a warning. what continues the note "N × …".
func (t *Tally) Count(line, entry int, what string) { t.warnings.count(line, entry, what) }

// Routine adds one of a kind that needs no attention; see [Note.Routine].
func (t *Tally) Routine(line, entry int, what string) { t.routines.count(line, entry, what) }

// Notes returns the counts, the warnings first.
func (t *Tally) Notes() []Note { return append(t.warnings.notes(false), t.routines.notes(true)...) }

// kinds are one half of a tally, in the order in which they came up.
type kinds struct {
	index map[string]int
	list  []tallied
	more  int // of kinds beyond MaxKinds
}

type tallied struct {
	what  string
	count int
	first Note
}

// MaxKinds bounds how many kinds are counted separately. Their names contain text of the file, which could invent any
// number.
const MaxKinds = 100

func (k *kinds) count(line, entry int, what string) {
	if i, ok := k.index[what]; ok {
		k.list[i].count++
		return
	}
	if len(k.list) >= MaxKinds {
		k.more++
		return
	}
	if k.index == nil {
		k.index = map[string]int{}
	}
	k.index[what] = len(k.list)
	k.list = append(k.list, tallied{what: what, count: 1, first: Note{Line: line, Entry: entry}})
}

// notes returns one note per kind, and one for the kinds beyond MaxKinds.
func (k *kinds) notes(routine bool) []Note {
	var out []Note
	for _, kind := range k.list {
		n := kind.first
		n.Kind, n.Message = kind.what, fmt.Sprintf("%d × %s", kind.count, kind.what)
		n.Routine = routine
		if kind.count > 1 {
			n.Message += " (the first is here)"
		}
		out = append(out, n)
	}
	if k.more > 0 {
		out = append(
			out, Note{Entry: -1, Routine: routine, Message: fmt.Sprintf("%d × of further kinds left out", k.more)},
		)
	}
	return out
}
