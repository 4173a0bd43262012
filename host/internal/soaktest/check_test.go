package soaktest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// isAsItWas checks that nothing happened to the history between two turns but that entries were added.
func (c *conversation) isAsItWas(added []content.Content) error {
	now, err := c.session.History()
	if err != nil {
		return err
	}
	if want := len(c.owned.Entries) + len(added); len(now.Entries) != want {
		return fmt.Errorf("%d entries are owned, not %d", len(now.Entries), want)
	}
	for i, e := range now.Entries {
		if i < len(c.owned.Entries) {
			if e != c.owned.Entries[i] {
				return fmt.Errorf("entry %d is another one", i)
			}
		} else if !e.Content.Equal(added[i-len(c.owned.Entries)]) {
			return fmt.Errorf("entry %d is not the one that was added", i)
		}
	}
	return nil
}

// keepsPeople are the strategies that never take away what a person said.
var keepsPeople = map[string]bool{"high-density": true, "distill": true}

// rewritten checks that of a history only went what a plan took away that was applied, and that what came in late
// stands at the end.
func rewritten(before, after history.Snapshot, late []content.Content, done outcome.Outcome) error {
	sum, at := 0, make(map[string]int, len(after.Entries))
	for i, e := range after.Entries {
		sum += e.Tokens
		at[e.ID] = i
	}
	if sum != after.Tokens {
		return fmt.Errorf("the total is kept as %d tokens and the entries add up to %d", after.Tokens, sum)
	}
	if err := lateAtTheEnd(after, late); err != nil {
		return err
	}
	compressed, gone := done.Compress.Kind == outcome.KindApplied, map[string]bool{}
	for _, c := range done.Changes {
		gone[c.EntryID] = gone[c.EntryID] || c.Kind == outcome.Removed
	}
	last, stayed := -1, 0
	for i, e := range before.Entries {
		j, there := at[e.ID]
		switch {
		case !there && !compressed && done.Optimize.Removed == 0:
			return fmt.Errorf("entry %d (%s) is gone though nothing was applied", i, e.ID)
		case !there && !gone[e.ID]:
			return fmt.Errorf("entry %d (%s) is gone and no outcome says so", i, e.ID)
		case !there && keepsPeople[done.Strategy] && e.Content.Speaker == content.Human && !marks.IsGone(e.Content):
			return fmt.Errorf("entry %d (%s), a person's, is gone", i, e.ID)
		case !there:
			continue
		case j < last:
			return fmt.Errorf("entry %d (%s) has moved before others", i, e.ID)
		case !after.Entries[j].SentAs(e) && !compressed && done.Optimize.Replaced == 0:
			return fmt.Errorf("entry %d (%s) is another though nothing was applied", i, e.ID)
		}
		last = j
		stayed++
	}
	made := 0 // marks where messages went
	for _, e := range after.Entries {
		if marks.IsGone(e.Content) && !slices.ContainsFunc(before.Entries, func(b *history.Entry) bool {
			return b.ID == e.ID
		}) {
			made++
		}
	}
	newTokens := 0
	for _, e := range after.Entries[len(after.Entries)-len(late):] {
		newTokens += e.Tokens
	}
	switch fresh := len(after.Entries) - stayed - len(late) - made; {
	case after.Tokens-newTokens > before.Tokens:
		return fmt.Errorf("%d tokens became %d, %d of which came in late", before.Tokens, after.Tokens, newTokens)
	case !compressed && fresh != 0:
		return fmt.Errorf("%d entries are new though nothing was compressed", fresh)
	case !compressed && stayed+done.Optimize.Removed < len(before.Entries): // of what came in late, some may have gone
		return fmt.Errorf("%d entries were removed, %d are gone", done.Optimize.Removed, len(before.Entries)-stayed)
	case done.Strategy == "distill":
		return linesForCalls(before, after.Entries[:len(after.Entries)-len(late)])
	case fresh > 2: // a summary and its acknowledgement
		return fmt.Errorf("%d entries are new", fresh)
	}
	return nil
}

// linesForCalls checks that each entry that distill added is the line that names calls that went, and that something
// went there. So there is at most one for each run, and the history never has more entries.
func linesForCalls(before history.Snapshot, after []*history.Entry) error {
	was := make(map[string]int, len(before.Entries))
	for i, e := range before.Entries {
		was[e.ID] = i
	}
	last, line := -1, false // the last entry that stayed, and whether a line follows it
	less := false           // that entry lost its calls
	inPlace := func(next int) error {
		if line && next-last < 2 && !less {
			return fmt.Errorf("a line was added before entry %d though no entry went there", next)
		}
		last, line = next, false
		return nil
	}
	for _, e := range after {
		if i, stayed := was[e.ID]; stayed {
			if err := inPlace(i); err != nil {
				return err
			}
			less = len(e.Content.Blocks) < len(before.Entries[i].Content.Blocks)
			continue
		}
		if marks.IsGone(e.Content) {
			continue
		}
		text := string(e.Content.AppendJSON(nil))
		if line || !strings.HasPrefix(text, `{"speaker":"ai","blocks":[{"type":"text","text":"[Earlier tool calls, `) {
			return fmt.Errorf("a new entry is no line for calls, or the second in a row: %.200s", text)
		}
		line = true
	}
	return inPlace(len(before.Entries))
}

func lateAtTheEnd(after history.Snapshot, late []content.Content) error {
	end := len(after.Entries) - len(late)
	for i, c := range late {
		// The newest message may have been pinned.
		if end < 0 || !check.MarkKept(after.Entries[end+i].Content, "").Equal(c) {
			return fmt.Errorf("what came in meanwhile is not at the end: %.200s", c.AppendJSON(nil))
		}
	}
	return nil
}

// countsRight counts the history again, as another session's, and compares.
func (c *conversation) countsRight() error {
	fresh, err := c.host.Open(window.Opening{})
	if err != nil {
		return err
	}
	owned, err := c.session.History()
	if err != nil {
		return err
	}
	if _, err := fresh.Add(context.Background(), window.Addition{Entries: owned.Contents(),
		Judge: window.Anything}); err != nil {
		return err
	}
	again, err := fresh.History()
	if err != nil {
		return err
	}
	for i, e := range again.Entries {
		if kept := owned.Entries[i]; kept.Tokens != e.Tokens {
			return fmt.Errorf("entry %d (%s) is kept as %d tokens and counts %d", i, kept.ID, kept.Tokens, e.Tokens)
		}
	}
	return fresh.Close()
}

// tally counts what happened, to see that the test tested something.
type tally struct {
	mu                   sync.Mutex
	turns, failures      int
	disturbances         int
	befell               map[string]int // by disturbance, and for kills by strategy
	pruned, compressions map[string]int // by strategy
}

func newTally() *tally {
	return &tally{befell: map[string]int{}, pruned: map[string]int{}, compressions: map[string]int{}}
}

// turn counts a turn that ended with err.
func (y *tally) turn(done outcome.Outcome, err error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.turns++
	if err != nil {
		y.failures++
	}
	if done.Optimize.Removed+done.Optimize.Replaced > 0 {
		y.pruned[done.Strategy]++
	}
	if done.Compress.Kind == outcome.KindApplied {
		y.compressions[done.Strategy]++
	}
}

func (y *tally) disturbed(what disturbance, name string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.disturbances++
	if what == killed {
		y.befell[name]++
	} else {
		y.befell[string(what)]++
	}
}

// due reports whether there were enough turns since the last disturbance.
func (y *tally) due() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.turns >= turnsPerDisturbance()*(y.disturbances+1)
}

// enough reports whether the test has proved what it is for: there were enough turns, every plugin was killed, all else
// befell one, and every strategy did its work.
func (y *tally) enough() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.turns >= minTurns() && len(y.missing()) == 0
}

// missing lists what has not happened yet. Callers hold y.mu.
func (y *tally) missing() (missing []string) {
	for _, name := range strategies {
		if y.befell[name] == 0 {
			missing = append(missing, name+" was not killed")
		}
		if y.compressions[name] == 0 {
			missing = append(missing, name+" did not compress")
		}
	}
	for _, d := range []disturbance{stopped, replaced, removed, swept} {
		if y.befell[string(d)] == 0 {
			missing = append(missing, "nothing was "+string(d))
		}
	}
	if y.pruned["high-density"] == 0 {
		missing = append(missing, "nothing was pruned")
	}
	return missing
}

// check fails the test if too little happened before the time was up, or if too many turns failed.
func (y *tally) check(t *testing.T) {
	t.Helper()
	y.mu.Lock()
	defer y.mu.Unlock()
	t.Logf("%d turns, %d of which failed; killed and disturbed: %v; pruned: %v; compressed: %v", y.turns, y.failures,
		y.befell, y.pruned, y.compressions)
	if missing := y.missing(); len(missing) > 0 || y.turns < minTurns() {
		t.Errorf("%d turns; %s", y.turns, strings.Join(missing, "; "))
	}
	if y.failures*5 > y.turns {
		t.Errorf("%d of %d turns failed", y.failures, y.turns)
	}
}
