package main_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/sqlite"
)

// TestKilledDuringACompress takes 3 s at most from the next host: as long as the lease of the killed one lasts by the
// store's clock, however long its call had been going on.
func TestKilledDuringACompress(t *testing.T) {
	t.Parallel()
	p, calls := silent(t)
	file := p.path("sessions.db")
	kept := []string{"--set", "sessions.store=sqlite:" + file}
	first := p.serve(kept...)
	s := first.open("s", object{"model.contextLimit": 5000})
	first.call("history.add", object{"session": s, "entries": entries(t, turns(60))}, nil)
	first.send("window.prepare", object{"session": s})
	call := <-calls
	if err := syscall.Kill(first.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, call)

	db, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// By its own wish, the one who asks would wait for an hour.
	key := store.Key{ID: s}
	_, err = db.Lease(t.Context(), key, "another host", time.Hour)
	if leased := (*store.LeasedError)(nil); errors.As(err, &leased) && leased.Left > 3*time.Second {
		t.Errorf("the lease of the killed host lasts for %v", leased.Left)
	}
	if err := db.Release(t.Context(), key, "another host"); err != nil {
		t.Fatal(err)
	}

	next := p.serve(kept...)
	next.open("s", nil)
	if c := next.prepare(s).Outcome["compress"].(object); c["kind"] != "applied" {
		t.Errorf("the next host: %v", c)
	}
	if n := len(p.server.Requests()); n != 2 {
		t.Errorf("%d calls of the model, want one of each host", n)
	}
	next.end()
	p.sweep()
}
