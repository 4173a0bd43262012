package main_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// opened is the reply to session.open.
type opened struct {
	Session                   string
	Revision, Tokens, Entries int
}

// A session in a file goes on where it was: after the host was closed, and after it was killed.
func TestASessionGoesOnInAnotherProcess(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	store := []string{"--set", "sessions.store=sqlite:" + p.path("work", "sessions.db")}
	other := newPlace(t).serve() // one that is never closed, and keeps nothing
	other.open("s", nil)
	var want prepared
	for i, end := range []func(*agent){
		func(a *agent) { a.end() },
		func(a *agent) { a.signal(syscall.SIGKILL); _ = a.cmd.Wait() },
		func(a *agent) { a.call("session.close", object{"session": "s"}, nil); a.end() },
		func(a *agent) { a.signal(syscall.SIGKILL); _ = a.cmd.Wait() },
	} {
		a := p.serve(store...)
		var r opened
		a.call("session.open", object{"id": "s"}, &r)
		if wanted := (opened{"s", want.Revision, want.Tokens, len(want.History)}); r != wanted {
			t.Errorf("opened for the %dth time: %+v, want %+v", i+1, r, wanted)
		}
		for _, each := range []*agent{a, other} {
			each.call("history.add", object{"session": "s", "entries": []object{
				says("human", fmt.Sprint("question ", i)), says("ai", "an answer")}}, nil)
		}
		got := a.prepare("s")
		want = other.prepare("s")
		if diff := cmp.Diff(want.History, got.History); diff != "" || got.Revision != want.Revision {
			t.Errorf("prepared in the %dth process: revision %d, want %d\n%s", i+1, got.Revision, want.Revision, diff)
		}
		var first struct{ Entries []object }
		a.call("history.recorded", object{"session": "s", "id": "e1"}, &first)
		if diff := cmp.Diff(want.History[:1], first.Entries); diff != "" {
			t.Error(diff)
		}
		end(a)
	}
	a := p.serve(store...)
	a.call("session.delete", object{"session": "s"}, nil)
	a.refused(-32000, "session.delete", object{"session": "s"}, "no such session")
	var r opened
	a.call("session.open", object{"id": "s"}, &r)
	if r.Entries != 0 {
		t.Errorf("a deleted session still has %d entries", r.Entries)
	}
	a.prepare("s") // starts a plugin, which clears up what the host that was killed has left
	a.end()
	other.end()
}

func TestAStoreThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("notes.txt", "this is no database, and it is long enough for its header to be read as one by mistake ........")
	p.run("run", "--set", "sessions.store=sqlite:notes.txt").failed(t, 1, "notes.txt")
	p.run("run", "--set", "sessions.store=sqlite:/proc/none/sessions.db").failed(t, 1, "/proc/none")
}
