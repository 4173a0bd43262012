package prune

import (
	"context"
	"log/slog"
	"slices"
	"sort"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// state is what is known of a history after its entries were taken in one by one. An entry changes what is known of
// earlier ones through the indexes only: from a path to its last write and to the reads that it may make stale, from a
// path to its last inclusion, from a tool to its newest results. So an entry costs what it says and what it
// supersedes, however long the history is.
//
// That is what a long session needs: at 100,000 entries (BenchmarkOptimize) a turn takes tens of microseconds, and to
// begin anew takes more than a second. Results of a tool are a plain list, which is as fast there as a linked one.
//
// Nothing depends on how many entries one call brought: the state after n entries, and with it the answer, is the same
// whether they came at once or one by one.
//
// Entries go by numbers: the position that an entry would have if none had ever been removed. So what is known stays as
// it is when the answer is applied, and that costs nothing for the entries that the answer leaves alone: see
// [state.applied].
//
// Ids of calls, results and so on are positions in their lists. Where 0 means none, an id or a number is stored as one
// more. They have 32 bits, because a process keeps many sessions and the state should be small next to the text. For
// the same reason strings that are kept are copies: a part of a text would keep all of it in memory, also when it is
// gone from the history.
type state struct {
	set   settings
	match turns.Matcher // of a call it knows the number of the entry and, as its block, the id

	files      list[file]
	fileID     map[string]int32 // by resolved path; reads, writes and inclusions share it
	calls      list[toolCall]   // all calls of the AI
	paths      []int32          // the files of the calls, see call.reads and call.writes
	running    map[string]int32 // by the name of a command in the background, 1 + the call that writes files by it
	results    list[toolResult] // results that a rule may prune
	tools      list[tool]
	toolID     map[string]int32 // by name
	inclusions list[placed]

	marks []mark  // marks[n] is before the entry with number n; the last one is now
	gone  []int32 // the numbers of the entries that were removed, ascending

	// The answer, by position in the history, and the numbers of the entries whose part in it is out of date.
	removed  []int // ascending
	replaced map[int]sdk.Content
	reasons  map[int]sdk.Reason                       // of all that is in removed or replaced
	counts   struct{ pairs, inclusions, results int } // for the metadata
	touched  []int32                                  // may repeat
}

// settings are everything but the history that an answer depends on. A state is of no use under other ones.
type settings struct {
	density sdk.DensityConfig
	root    string
	tools   *tools.Taxonomy
}

// mark is where the lists ended at some moment. Between the marks before and after an entry are its own items, in the
// order of its blocks.
type mark struct{ calls, results, inclusions int32 }

func newState(set settings) *state {
	return &state{
		set:      set,
		fileID:   map[string]int32{},
		toolID:   map[string]int32{},
		running:  map[string]int32{},
		marks:    make([]mark, 1),
		replaced: map[int]sdk.Content{},
		reasons:  map[int]sdk.Reason{},
	}
}

// known returns how many entries the history has.
func (s *state) known() int { return len(s.marks) - 1 - len(s.gone) }

// position returns where the entry with a number stands.
func (s *state) position(number int32) int {
	before, _ := slices.BinarySearch(s.gone, number)
	return int(number) - before
}

// number is the inverse of position.
func (s *state) number(position int) int32 {
	before := sort.Search(len(s.gone), func(i int) bool { return int(s.gone[i])-i > position })
	return int32(position + before)
}

// extend takes in the entries of history that are not known yet. It checks ctx before each entry; one takes
// microseconds, unless its text is very large.
//
// Entries of unknown speakers say nothing to any rule, and no rule touches them.
func (s *state) extend(ctx context.Context, history []sdk.Content, log *slog.Logger) error {
	added := history[s.known():]
	s.marks = slices.Grow(s.marks, len(added))
	for i := range added {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := int32(len(s.marks) - 1)
		switch entry := &added[i]; entry.Speaker {
		case sdk.AI:
			if s.set.density.ReadWritePruning {
				s.takeCalls(n, entry)
			}
		case sdk.Tool:
			s.takeResponses(history, n, entry, log)
		case sdk.Human:
			if s.set.density.FileDedupe {
				s.takeInclusions(n, entry)
			}
		}
		s.marks = append(s.marks, mark{s.calls.n, s.results.n, s.inclusions.n})
	}
	s.settle(history)
	return nil
}

// list is a list that grows at its end. Unlike in a slice, its items do not move, and there is little room to
// spare.
type list[T any] struct {
	chunks [][]T
	n      int32
}

// chunk is how many items are allocated at once: few enough for the many sessions that are short.
const chunk = 64

func (l *list[T]) at(i int32) *T { return &l.chunks[i/chunk][i%chunk] }

// add returns the id of the new item.
func (l *list[T]) add(item T) int32 {
	if int(l.n) == len(l.chunks)*chunk {
		l.chunks = append(l.chunks, make([]T, chunk))
	}
	l.n++
	*l.at(l.n - 1) = item
	return l.n - 1
}
