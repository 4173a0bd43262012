package samples

import (
	"slices"
	"testing"

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
