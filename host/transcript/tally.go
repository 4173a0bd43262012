package transcript

import "fmt"

// tally counts what is not noted one by one: one note for each kind, at the place of the first.
type tally struct {
	index map[string]int
	kinds []tallied
	more  int // of kinds beyond maxKinds
}

type tallied struct {
	what  string
	count int
	first Note
}

// maxKinds bounds the kinds that are told apart: their names come from the file.
const maxKinds = 100

// count counts one more of a kind. what goes on after "N × ".
func (t *tally) count(line, entry int, what string) {
	if i, ok := t.index[what]; ok {
		t.kinds[i].count++
		return
	}
	if len(t.kinds) >= maxKinds {
		t.more++
		return
	}
	if t.index == nil {
		t.index = map[string]int{}
	}
	t.index[what] = len(t.kinds)
	t.kinds = append(t.kinds, tallied{what: what, count: 1, first: Note{Line: line, Entry: entry}})
}

func (t *tally) notes() []Note {
	var out []Note
	for _, k := range t.kinds {
		n := k.first
		n.Message = fmt.Sprintf("%d × %s", k.count, k.what)
		if k.count > 1 {
			n.Message += " (the first is here)"
		}
		out = append(out, n)
	}
	if t.more > 0 {
		out = append(out, Note{Entry: -1, Message: fmt.Sprintf("%d × of further kinds left out", t.more)})
	}
	return out
}
