package transcript

import "fmt"

// tally counts what is not noted one by one: a session may have ten thousand records of one kind, and a note for each
// would hide all others. Each kind becomes one note at the place of its first occurrence. The zero value is empty.
type tally struct {
	warnings, routines kinds
}

// count adds one of a kind that deserves a warning. what continues the note "N × …".
func (t *tally) count(line, entry int, what string) { t.warnings.count(line, entry, what) }

// routine adds one of a kind that needs no attention; see [Note.Routine].
func (t *tally) routine(line, entry int, what string) { t.routines.count(line, entry, what) }

func (t *tally) notes() []Note { return append(t.warnings.notes(false), t.routines.notes(true)...) }

// kinds are one half of a tally, in the order in which they came up.
type kinds struct {
	index map[string]int
	list  []tallied
	more  int // of kinds beyond maxKinds
}

type tallied struct {
	what  string
	count int
	first Note
}

// maxKinds bounds how many kinds are counted separately. Their names contain text of the file, which could invent any
// number.
const maxKinds = 100

func (k *kinds) count(line, entry int, what string) {
	if i, ok := k.index[what]; ok {
		k.list[i].count++
		return
	}
	if len(k.list) >= maxKinds {
		k.more++
		return
	}
	if k.index == nil {
		k.index = map[string]int{}
	}
	k.index[what] = len(k.list)
	k.list = append(k.list, tallied{what: what, count: 1, first: Note{Line: line, Entry: entry}})
}

// notes returns one note per kind, and one for the kinds beyond maxKinds.
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
