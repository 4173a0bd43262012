package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/backends"
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
	a.refused(-32000, "session.delete", object{"session": "s"}, `"s"`)
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
	p := newPlaceHere(t)
	p.file("notes.txt", strings.Repeat("this is no database, although it is long enough for one\n", 20))
	p.run("run", "--set", "sessions.store=sqlite:notes.txt").failed(t, 1, "notes.txt")
	p.run("run", "--set", "sessions.store=sqlite:/proc/none/sessions.db").failed(t, 1, "/proc/none")
}

func TestSessionsAreManaged(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	set := "sessions.store=sqlite:" + p.path("work", "sessions.db")
	sessions := func(args ...string) result { return p.run(append([]string{"sessions", "--set", set}, args...)...) }
	sessions("list").failed(t, 1, "no sessions are stored")
	file := p.file("talk.jsonl", `{"system":[{"type":"text","text":"be brief"}]}`+"\n"+
		`{"threshId":"e1","speaker":"human","blocks":[{"type":"text","text":"hello"}]}`+"\n"+
		`{"threshId":"e2","speaker":"ai","blocks":[{"type":"text","text":"good day"}]}`+"\n")
	if r := sessions("import", file, "--id", "talk").done(t); r.stdout != "talk\n" {
		t.Errorf("imported as %q", r.stdout)
	}
	sessions("import", file, "--id", "talk").failed(t, 1, "there is a session")
	text, err := os.ReadFile(p.path("work", file))
	if r := sessions("export", "talk").done(t); err != nil || r.stdout != string(text) {
		t.Errorf("exported (%v):\n%s", err, r.stdout)
	}
	// What the list shows is found without its owner, but not deleted.
	sessions("import", file, "--id", "theirs", "--owner", "alice").done(t)
	if r := sessions("show", "theirs").done(t); !strings.Contains(r.stdout, "owner     alice\n") {
		t.Errorf("shown as %q", r.stdout)
	}
	sessions("rm", "theirs").failed(t, 1, "belongs to alice: add --owner alice")
	sessions("import", file, "--id", "theirs", "--owner", "bob").done(t)
	sessions("show", "theirs").failed(t, 1, "alice and bob have a session")
	sessions("show", "theirs", "--owner", "").failed(t, 1, "there is no session")
	for _, owner := range []string{"alice", "bob"} {
		sessions("rm", "theirs", "--owner", owner).done(t)
	}
	// Into a file that others could read, it becomes private; what cannot be exported changes no file.
	to := p.path("work", "out.jsonl")
	if err := os.WriteFile(to, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	sessions("export", "none", "--file", to).failed(t, 1, "there is no session")
	if got, err := os.ReadFile(to); err != nil || string(got) != "old" {
		t.Errorf("%q, %v", got, err)
	}
	sessions("export", "talk", "--file", to).done(t)
	info, err := os.Stat(to)
	if got, _ := os.ReadFile(to); err != nil || info.Mode() != 0o600 || string(got) != string(text) {
		t.Errorf("%v, %v:\n%s", info.Mode(), err, got)
	}
	a := p.serve("--set", set)
	var o opened
	a.call("session.open", object{"id": "talk"}, &o)
	if o.Entries != 2 {
		t.Errorf("an imported session is opened with %d entries", o.Entries)
	}
	a.end()
	var list struct {
		Bytes    int64
		Sessions []struct {
			ID      string
			Entries int
		}
	}
	if err := json.Unmarshal([]byte(sessions("list", "-o", "json").done(t).stdout), &list); err != nil ||
		len(list.Sessions) != 1 || list.Sessions[0].Entries != 2 || list.Bytes == 0 {
		t.Errorf("listed as %+v, %v", list, err)
	}
	for _, args := range [][]string{{"list"}, {"show", "talk"}, {"vacuum"}} {
		for line := range strings.Lines(sessions(args...).done(t).stdout) {
			if len([]rune(line)) > 81 {
				t.Errorf("%v prints a line of %d characters: %s", args, len([]rune(line)), line)
			}
		}
	}
	if r := p.run("doctor", "--set", set).done(t); !strings.Contains(r.stdout, "which is whole") {
		t.Errorf("doctor does not say that the store is whole:\n%s", r.stdout)
	}
	sessions("rm", "talk", "none").failed(t, 1, `no session "none"`)
	sessions("show", "talk").failed(t, 1, `no session "talk"`)
}

func TestTheTreeOfASession(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	setting := "sqlite:" + p.path("work", "sessions.db")
	kept, err := backends.Open(t.Context(), setting)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		id, parent string
		entries    int
	}{{"main", "", 0}, {"fork", "main", 7}, {"fork-of-it", "fork", 9}, {"sib\u202eling", "main", 4}, {"other", "", 0}} {
		origin := store.Origin{Parent: store.Key{ID: s.parent}, ForkedAt: uint64(s.entries), ForkedEntries: s.entries}
		if _, err := kept.Create(t.Context(), store.Key{ID: s.id}, origin); err != nil {
			t.Fatal(err)
		}
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	// An id that an agent chose does not change how the lines around it look.
	const tree = `
main (0 entries)
├─ fork (0 entries, from entry 7) *
│  └─ fork-of-it (0 entries, from entry 9)
└─ sib�ling (0 entries, from entry 4)
`
	shown := p.run("sessions", "show", "fork", "--set", "sessions.store="+setting)
	if !strings.HasSuffix(shown.stdout, tree) || !strings.Contains(shown.stdout, "parent    main, from entry 7\n") {
		t.Errorf("%s%s", shown.stdout, shown.stderr)
	}
	list := p.run("sessions", "list", "--set", "sessions.store="+setting)
	if !regexp.MustCompile(`(?m)^fork-of-it .* fork *$`).MatchString(list.stdout) {
		t.Errorf("%s%s", list.stdout, list.stderr)
	}
}
