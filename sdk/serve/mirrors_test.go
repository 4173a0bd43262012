package serve

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// A host that keeps no mirrors sets no limit. A history without entries takes no bytes, and is not held either.
func TestWithoutALimitNoMirrorIsHeld(t *testing.T) {
	var m mirrors
	m.keep(&mirror{session: "s"})
	if m.take("s") != nil {
		t.Error("the mirror is held")
	}
}

// A mirror is dropped when its session rests, not while it goes on, and memory is given back once calls have ended, and
// once more when the last mirror has gone.
func TestWhatRestsIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m mirrors
		m.setLimit(100)
		given := func() uint32 {
			synctest.Wait()
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			return s.NumForcedGC
		}
		before := given()
		m.keep(&mirror{session: "rests", bytes: 1})
		for range 20 {
			time.Sleep(restAfter / 10)
			m.keep(&mirror{session: "goes on", bytes: 1})
		}
		if m.take("rests") != nil {
			t.Error("the mirror of a session that rests is held")
		}
		if goes := m.take("goes on"); goes == nil {
			t.Error("the mirror of a session that goes on was dropped")
		} else {
			m.keep(goes)
		}
		time.Sleep(2 * quietAfter)
		ended := given()
		if ended == before {
			t.Error("after calls no memory was given back")
		}
		if time.Sleep(restAfter / 2); given() != ended {
			t.Error("memory was given back again, and there was none")
		}
		time.Sleep(restAfter)
		now := given()
		m.mu.Lock()
		defer m.mu.Unlock()
		if now != ended+1 || len(m.held) != 0 || m.sweep != nil {
			t.Errorf("at rest: given back %d times, %d mirrors held", now-ended, len(m.held))
		}
	})
}
