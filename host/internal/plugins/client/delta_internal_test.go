package client

import (
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/history"
)

// A call that outlives its session puts nothing back, and the process is told after the last one. A session that begins
// meanwhile with the same id is another one.
func TestACallThatOutlivesItsSession(t *testing.T) {
	some := held{entries: []*history.Entry{{}}}
	var s sessions
	_, first := s.take("a")
	_, second := s.take("a")
	if s.end("a") {
		t.Error("the process is told while calls are under way")
	}
	_, other := s.take("a")
	for _, c := range []struct {
		what string
		u    *use
		h    held
		tell bool
	}{{"a call that failed", first, held{}, false}, {"the other session's", other, some, false},
		{"the last call", second, some, true}} {
		if tell := s.done("a", c.u, c.h); tell != c.tell {
			t.Errorf("%s: told: %v", c.what, tell)
		}
	}
	if len(s.known) != 1 || len(s.uses) != 0 || !s.end("a") || len(s.known) != 0 {
		t.Errorf("%d are known, %d in use", len(s.known), len(s.uses))
	}

	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				_, u := s.take("b")
				s.done("b", u, some)
				_, u = s.take("b")
				s.end("b")
				s.done("b", u, some)
			}
		})
	}
	all.Wait()
	if s.end("b"); len(s.known)+len(s.uses) != 0 {
		t.Errorf("%d are known, %d in use", len(s.known), len(s.uses))
	}
}
