package samples

import (
	"fmt"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/internal/conform/statements"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

func TestTheSamplesAreTheSameInEveryRun(t *testing.T) {
	first, second := All(), All()
	names := map[string]bool{}
	for i, s := range first {
		if !slices.EqualFunc(s.History, second[i].History, content.Content.Equal) {
			t.Errorf("%s differs", s.Name)
		}
		if names[s.Name] {
			t.Errorf("there are two samples %q", s.Name)
		}
		names[s.Name] = true
	}
	if !names[Plain] {
		t.Errorf("there is no sample %q", Plain)
	}
}

// What an earlier pass wrote is true, or strategies that keep it would be blamed for it.
func TestEarlierMarksAreTrue(t *testing.T) {
	entries := func(history []content.Content) (out []statements.Entry) {
		for i, c := range history {
			out = append(out, statements.Entry{ID: fmt.Sprint("e", i), Content: c})
		}
		return out
	}
	read := 0
	for _, s := range append(All(), Mixed(Matters(), 2)) {
		c := statements.New(statements.Options{Root: "/w"})
		c.Add(entries(s.Added)...)
		if s.Added != nil {
			r := c.Check(entries(s.History))
			read += len(r.All)
			for _, f := range r.False() {
				t.Errorf("%s: %v", s.Name, f)
			}
		}
	}
	if read < 500 {
		t.Errorf("%d sentences", read)
	}
}

func TestTheSamplesHoldWhatTheirNamesSay(t *testing.T) {
	if len(turns.Pair(orphans()).Orphans()) < 2 {
		t.Error("no orphaned responses")
	}
	if len(turns.Pair(unanswered()).Pending()) < 2 {
		t.Error("no unanswered calls")
	}
	plain := turns.Pair(session(120, 1))
	if len(plain.Orphans()) > 0 {
		t.Error("the plain session has orphaned responses")
	}
	const bytes = 16 << 20
	size := 0
	for _, c := range Large(bytes).History {
		size += len(c.AppendJSON(nil))
	}
	if size < bytes || size > bytes*3/2 {
		t.Errorf("the large history has %d bytes instead of %d", size, bytes)
	}
}
