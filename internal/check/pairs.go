package check

import (
	"cmp"
	"slices"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// side is one side of a pair in terms that a rewrite does not change: the id of the call, and the entry of the history
// that the strategy was given (below 0: a new entry). Ids alone would not do, because recorders repeat ids in one
// session. Several blocks of an entry may be the same side, so sides are counted.
type side struct {
	entry int
	call  string
}

type couple struct{ call, response side }

// pairing counts sides and couples in a history. Two pairings, before and after, are compared as multisets: the answer
// is wrong only where the second is worse.
type pairing struct {
	// together are the calls that have a response, with that response.
	together map[couple]int
	// late are those of together that a provider does not take for pairs ([turns.Pairs.Late]).
	late    map[couple]int
	orphans map[side]int
	waiting map[side]int
	// pending are those of waiting after which only tools spoke: the tool may still be running.
	calls, pending map[side]int
}

// pairingOf returns the pairing of the calls with the given ids; origin names the entries. Only touched ids are
// counted: a conversation has thousands of calls, and an answer usually changes a few. last is the last entry not of a
// tool, as origin names it: unanswered calls in it or behind it are pending.
func pairingOf(
	history []content.Content, pairs *turns.Pairs, ids map[string]struct{}, origin func(i int) int, last int,
) pairing {
	p := pairing{
		together: map[couple]int{}, late: map[couple]int{},
		orphans: map[side]int{}, waiting: map[side]int{}, calls: map[side]int{}, pending: map[side]int{},
	}
	at := func(ref turns.At) (side, bool) {
		id, _ := content.CallID(history[ref.Entry].Blocks[ref.Block])
		_, wanted := ids[id]
		return side{origin(ref.Entry), id}, wanted
	}
	for call, response := range pairs.Answered() {
		if c, wanted := at(call); wanted {
			r, _ := at(response)
			p.together[couple{c, r}]++
			if pairs.Late(response) {
				p.late[couple{c, r}]++
			}
			p.calls[c]++
		}
	}
	for _, ref := range pairs.Orphans() {
		if s, wanted := at(ref); wanted {
			p.orphans[s]++
		}
	}
	for _, ref := range pairs.Pending() {
		s, wanted := at(ref)
		if !wanted {
			continue
		}
		p.waiting[s]++
		p.calls[s]++
		// An older call without a response was abandoned, which is the recording's fault. It may be removed.
		if s.entry >= last {
			p.pending[s]++
		}
	}
	return p
}

// origin returns where a block of the answer was in the history; ok is false for a new block.
func origin(parts []Part, at turns.At, place func(entry int) int) (was turns.At, ok bool) {
	part := parts[at.Entry]
	if part.Index < 0 || part.Origin(at.Block) < 0 {
		return turns.At{}, false
	}
	return turns.At{Entry: place(part.Index), Block: part.Origin(at.Block)}, true
}

// touched returns the ids of all calls and responses that a rewrite could have parted: those in removed, changed or new
// entries. Other ids pair as they did. An answer that keeps all entries with calls whole touches none, so the usual
// answer is judged without building a single pairing.
func touched(history []content.Content, parts []Part) map[string]struct{} {
	ids := map[string]struct{}{}
	collect := func(c content.Content) { collectIDs(ids, c) }
	// next is the first entry that no part has accounted for; skipped entries were removed.
	next := 0
	for _, part := range parts {
		if part.Index < 0 {
			collect(part.Content)
			continue
		}
		for ; next < part.Index; next++ {
			collect(history[next])
		}
		next = part.Index + 1
		if part.Edited {
			collect(history[part.Index])
			collect(part.Content)
		}
	}
	for ; next < len(history); next++ {
		collect(history[next])
	}
	return ids
}

// pairs finds where the pairing of calls and responses got worse. What was wrong before may stay wrong; a strategy need
// not repair recorded orphans. It costs pairing both histories once, or nothing if no id was touched.
func (p *problems) pairs(history []content.Content, parts []Part) {
	made := make([]content.Content, len(parts))
	for i, part := range parts {
		made[i] = part.Content
	}
	// A new entry of the AI between a call and its response makes the response late without touching its id, so those
	// ids are added.
	ids := touched(history, parts)
	pairs := turns.Pair(made)
	for call, response := range pairs.Answered() {
		if pairs.Late(response) {
			id, _ := content.CallID(made[call.Entry].Blocks[call.Block])
			ids[id] = struct{}{}
		}
	}
	if len(ids) == 0 {
		return
	}
	last := lastSpoken(len(history), func(i int) content.Content { return history[i] })
	paired := turns.Pair(history)
	was := pairingOf(history, paired, ids, func(i int) int { return i }, last)
	is := pairingOf(made, pairs, ids, func(i int) int {
		if parts[i].Index < 0 {
			// A number of its own below 0: two new entries are never the same side.
			return -1 - i
		}
		return parts[i].Index
	}, last)
	p.worse(was, is)
	p.crossed(paired, pairs, history, parts, func(i int) int { return i })
}

// crossed reports responses that answer another call of their id than they did. A [pairing] does not tell apart blocks
// of one entry with one id. parts are the entries of is, history those of was, and place maps a part's index to a position
// in history. Where responses were found to be those of other calls, it looks for ones that fit, and sets Part.Of.
func (p *problems) crossed(
	was, is *turns.Pairs, history []content.Content, parts []Part, place func(entry int) int,
) {
	alike := likeness(history)
	fits := func(call turns.At, response turns.At) bool {
		c, known := origin(parts, call, place)
		asked, answers := was.Call(response)
		return !known || answers && (asked == c || alike(asked) == alike(c))
	}
	var crossed []int // the parts with such responses
	for call, response := range is.Answered() {
		if r, known := origin(parts, response, place); known && !fits(call, r) {
			crossed = append(crossed, response.Entry)
		}
	}
	slices.Sort(crossed)
	for _, entry := range slices.Compact(crossed) {
		part := parts[entry]
		at := place(part.Index)
		of, lost := madeOf(history[at].Blocks, part, func(block, of int) bool {
			call, answers := is.Call(turns.At{Entry: entry, Block: block})
			return !answers || fits(call, turns.At{Entry: at, Block: of})
		})
		if lost >= 0 {
			p.add(wrong(part.Index, ErrMismatched, "block %d answers another call of its id now", part.Origin(lost)))
		} else if part.Edited {
			copy(part.Of, of)
		}
	}
}

// likeness returns a function that names blocks, so that equal ones of an entry get one name. A strategy that removes
// the first of two equal calls may say that it kept the first, as nothing tells them apart.
func likeness(history []content.Content) func(turns.At) turns.At {
	firsts := map[int][]int{}
	return func(at turns.At) turns.At {
		if firsts[at.Entry] == nil {
			firsts[at.Entry] = rewrite.Firsts(history[at.Entry].Blocks)
		}
		at.Block = firsts[at.Entry][at.Block]
		return at
	}
}

func lastSpoken(n int, at func(int) content.Content) int {
	last := n - 1
	for last >= 0 && at(last).Speaker == content.Tool {
		last--
	}
	return last
}

func (p *problems) worse(was, is pairing) {
	var found problems
	// The error names the entry in the numbering that its author knows: the given history, or the answer for a new
	// entry.
	report := func(s side, err *Rule) {
		e := wrong(s.entry, err, "call id %q", s.call)
		if s.entry < 0 {
			e.Index, e.New = -1-s.entry, true
		}
		found.add(e)
	}
	for s, n := range is.orphans {
		if n > was.orphans[s] {
			report(s, ErrOrphaned)
		}
	}
	for c, n := range is.late { // an entry of the AI was put between the two
		if n > was.late[c] {
			report(c.response, ErrOrphaned)
		}
	}
	for s, n := range is.waiting {
		if n > was.waiting[s] {
			report(s, ErrUnanswered)
		}
	}
	// Both halves are old and were not a pair before: the response changed its meaning.
	for c, n := range is.together {
		if c.call.entry >= 0 && c.response.entry >= 0 && n > was.together[c] {
			report(c.response, ErrMismatched)
		}
	}
	// Compared with all calls, not only the pending ones: a call that has its response by now is still there.
	for s, n := range was.pending {
		if n > is.calls[s] {
			report(s, ErrPendingRemoved)
		}
	}
	slices.SortFunc(found, func(a, b *Error) int { // in a fixed order: maps have none
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Error(), b.Error()))
	})
	*p = append(*p, found...)
}
