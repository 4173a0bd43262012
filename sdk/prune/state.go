package prune

import (
	"context"
	"log/slog"
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// state is what is known of a history after its entries were taken in one by one. An entry changes what is known of
// earlier ones through the indexes only: from a path to its last write and to the reads that it may make stale, from a
// path to its last inclusion, from a tool to its newest results. So an entry costs what it says and what it
// supersedes, however long the history is.
//
// Nothing depends on how many entries one call brought: the state after n entries, and with it the answer, is the same
// whether they came at once or one by one.
//
// The end of a history may be rewritten, by the edits of an earlier call for instance. So the state can go back. What
// an entry adds goes to the ends of the lists, and going back cuts them. What it changes elsewhere goes through
// [state.change], and going back undoes that from the journal. A number that is changed in any other way is wrong after
// the next rewrite.
//
// Ids of calls, results and so on are positions in their lists. Where 0 means none, an id is stored as id + 1. They
// have 32 bits, because a process keeps many sessions and the state should be small next to the text.
type state struct {
	set   settings
	match turns.Matcher

	files      list[file]
	fileID     map[string]int32 // by resolved path; reads, writes and inclusions share it
	calls      list[toolCall]   // all calls of the AI
	paths      []int32          // the files of the calls, see call.reads and call.writes
	results    list[toolResult] // results that a rule may prune
	tools      list[tool]
	toolID     map[string]int32 // by name
	inclusions list[placed]

	marks   []mark // marks[i] is before entry i; the last one is now
	journal []undo

	// The answer, by position in the history, and the entries whose part in it is out of date.
	removed  []int // ascending
	replaced map[int]sdk.Content
	reasons  map[int]sdk.Reason
	counts   struct{ pairs, inclusions, results int32 } // for the metadata
	touched  []int32                                    // may repeat
}

// settings are everything but the history that an answer depends on. A state is of no use under other ones.
type settings struct {
	density sdk.DensityConfig
	root    string
	tools   *tools.Taxonomy
}

// mark is where the lists ended at some moment. Going back cuts them there. Between the marks before and after an entry
// are its own items, in the order of its blocks.
type mark struct {
	match                               turns.Mark
	calls, results, inclusions, journal int32
}

// undo is one change of something that was there before: the number at *at was was. The edit of entry depends on it; -1
// is none.
type undo struct {
	at         *int32
	was, entry int32
}

func newState(set settings) *state {
	return &state{
		set:      set,
		fileID:   map[string]int32{},
		toolID:   map[string]int32{},
		marks:    make([]mark, 1),
		replaced: map[int]sdk.Content{},
		reasons:  map[int]sdk.Reason{},
	}
}

// known returns how many entries were taken in.
func (s *state) known() int { return len(s.marks) - 1 }

// change sets a number and remembers what it was. entry is the one whose edit depends on it; -1 is none.
func (s *state) change(at *int32, to int32, entry int32) {
	s.journal = append(s.journal, undo{at, *at, entry})
	*at = to
	if entry >= 0 {
		s.touched = append(s.touched, entry)
	}
}

// extend makes the state that of history, whose first unchanged entries were taken in before. It checks ctx before each
// entry; one takes microseconds, unless its text is very large. After an error the state fits no history.
//
// Entries of unknown speakers say nothing to any rule, and no rule touches them.
func (s *state) extend(ctx context.Context, history []sdk.Content, unchanged int, log *slog.Logger) error {
	s.rollback(unchanged)
	s.marks = slices.Grow(s.marks, len(history)-unchanged)
	for i := unchanged; i < len(history); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch entry := &history[i]; entry.Speaker {
		case sdk.AI:
			if s.set.density.ReadWritePruning {
				s.takeCalls(int32(i), entry)
			}
		case sdk.Tool:
			s.takeResponses(history, int32(i), log)
		case sdk.Human:
			if s.set.density.FileDedupe {
				s.takeInclusions(int32(i), entry)
			}
		}
		s.marks = append(s.marks, mark{
			s.match.Mark(), s.calls.n, s.results.n, s.inclusions.n, int32(len(s.journal)),
		})
	}
	s.settle(history)
	return nil
}

// rollback forgets the entries from n on, in time proportional to what they brought. After it the state is as it was
// before entry n came, apart from the answer for entries that were touched: settle brings that up to date.
func (s *state) rollback(n int) {
	to, known := s.marks[n], s.known()
	for i := len(s.journal) - 1; i >= int(to.journal); i-- { // in reverse: one number may have changed twice
		u := s.journal[i]
		*u.at = u.was
		if u.entry >= 0 {
			s.touched = append(s.touched, u.entry)
		}
	}
	s.journal = s.journal[:to.journal]
	s.marks = s.marks[:n+1]

	for id := s.calls.n - 1; id >= to.calls; id-- {
		for _, f := range s.reads(s.calls.at(id)) {
			reads := &s.files.at(f).reads
			*reads = (*reads)[:len(*reads)-1] // ascending, so that it is the last one
		}
	}
	if to.calls < s.calls.n {
		s.paths = s.paths[:s.calls.at(to.calls).paths]
	}
	s.match.Rollback(to.match)
	s.calls.cut(to.calls)
	s.results.cut(to.results)
	s.inclusions.cut(to.inclusions)
	// Files and tools are listed in the order in which they were named first.
	for ; s.files.n > 0 && s.files.last().since >= int32(n); s.files.cut(s.files.n - 1) {
		delete(s.fileID, s.files.last().path)
	}
	for ; s.tools.n > 0 && s.tools.last().since >= int32(n); s.tools.cut(s.tools.n - 1) {
		delete(s.toolID, s.tools.last().name)
	}

	// What was to be done about the entries that are gone. They may come again as others.
	at, _ := slices.BinarySearch(s.removed, n)
	s.removed = s.removed[:at]
	for i := n; i < known; i++ {
		delete(s.replaced, i)
		delete(s.reasons, i)
	}
}

// list is a list that grows at its end. Unlike those of a slice its items do not move, so that the journal can point
// into them.
type list[T any] struct {
	chunks [][]T
	n      int32
}

// chunk is how many items are allocated at once: few enough for the many sessions that are short.
const chunk = 64

func (l *list[T]) at(i int32) *T { return &l.chunks[i/chunk][i%chunk] }
func (l *list[T]) last() *T      { return l.at(l.n - 1) }

// add returns the id of the new item.
func (l *list[T]) add(item T) int32 {
	if int(l.n) == len(l.chunks)*chunk {
		l.chunks = append(l.chunks, make([]T, chunk))
	}
	l.n++
	*l.last() = item
	return l.n - 1
}

// cut drops the items from n on.
func (l *list[T]) cut(n int32) {
	l.n = n
	l.chunks = l.chunks[:(n+chunk-1)/chunk]
}
