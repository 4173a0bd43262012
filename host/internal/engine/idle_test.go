package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
)

// Sessions whose memory is released and read again, between any two of their steps, do what others do. What is in
// memory stays within the setting.
func TestIdleSessionsLeaveMemory(t *testing.T) {
	const limit = 300_000 // bytes: about one of the sessions
	settings := map[string]any{"model.contextLimit": 12_000, "compression.density.recencyPruning": true}
	whole := open(t, settings)
	settings["sessions.maxMemory"] = limit
	tight := openOn(t, store.NewMemory(), settings)
	tight.SetSnapshotEvery(10)
	var sessions, twins []*engine.Session
	var scripts [][]step
	for i := range 4 {
		o := engine.SessionOptions{ID: fmt.Sprint("s", i), Settings: map[string]any{"compression.threshold": 0.7}}
		for h, list := range map[*engine.Host]*[]*engine.Session{whole: &twins, tight: &sessions} {
			s, err := h.Session(o)
			if err != nil {
				t.Fatal(err)
			}
			*list = append(*list, s)
		}
		scripts = append(scripts, script(gen.Session(110, uint64(i)), uint64(i)))
	}
	released := 0
	for at := range scripts[0] {
		for i := range scripts {
			if at >= len(scripts[i]) {
				continue
			}
			if diff := cmp.Diff(scripts[i][at](t, twins[i]), scripts[i][at](t, sessions[i])); diff != "" {
				t.Fatalf("session %d, step %d:\n%s", i, at, diff)
			}
			if diff := cmp.Diff(texts(twins[i].History().Contents()), texts(sessions[i].History().Contents())); diff != "" {
				t.Fatalf("session %d, step %d:\n%s", i, at, diff)
			}
			if tight.Memory() > limit {
				t.Errorf("step %d: %d bytes are in memory", at, tight.Memory())
			}
			for _, s := range sessions {
				if s.Released() {
					released++
				}
			}
		}
	}
	if released == 0 {
		t.Error("no session was ever released: the test shows nothing")
	}
}

func TestOldSessionsAreDeleted(t *testing.T) {
	kept := store.NewMemory()
	s, err := openOn(t, kept, nil).Session(engine.SessionOptions{ID: "old"})
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, says("human", "long ago"))
	openOn(t, kept, map[string]any{"sessions.keep": "1ns"})
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, err := kept.Head(t.Context(), store.Key{ID: "old"}); err != nil {
			break
		}
		if time.Since(start) > soon {
			t.Fatal("the session is still there")
		}
	}
}
