package main_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// A store in which something was changed: doctor fails and says where, every command that reads what is damaged fails,
// and what is not damaged can be opened and exported. Which damage is noticed, packages sqlite, postgres, sessionlog and
// window test.
func TestADamagedStore(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	path := p.path("work", "sessions.db")
	set := []string{"--set", "sessions.store=sqlite:" + path}
	p.twoSessions(set...)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	execute := func(statement string) func() []byte {
		return func() []byte {
			db, err := sql.Open("sqlite", path)
			if err == nil {
				_, err = db.Exec(statement)
			}
			if err == nil {
				err = db.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
	changed := func(at int) func() []byte {
		return func() []byte {
			data := bytes.Clone(whole)
			data[at] ^= 0x40
			return data
		}
	}
	// headerOf is where the page of a table or index says where its cells begin.
	headerOf := func(name string) int {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var page, size int
		row := db.QueryRow("SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = ?", name)
		if err := row.Scan(&page, &size); err != nil {
			t.Fatal(err)
		}
		return (page-1)*size + 5
	}
	noise := make([]byte, len(whole))
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	const all = entriesEach
	for _, c := range []struct {
		damage func() []byte
		damaged
	}{
		{changed(bytes.Index(whole, []byte("s1 says 2"))),
			damaged{"an entry", `session "s1": record 4: `, 2, `"s1": record 4: `, `session "s1": record 4: `, true}},
		{execute("UPDATE session SET snapshot = 3 WHERE id = 1"), damaged{"which record is the snapshot",
			`session "s1": record 3: `, all, "", `session "s1": record 3: `, true}},
		{changed(headerOf("record_place")), damaged{"an index", "2 sessions can be read whole", all, "", "", true}},
		{func() []byte { return noise },
			damaged{"everything", "restore a backup", 0, "restore a backup", "-", false}},
		{func() []byte { return nil }, damaged{"emptied", "the file is empty", 0, `no session "s1"`, "", false}},
	} {
		for _, suffix := range []string{"-wal", "-shm"} {
			_ = os.Remove(path + suffix)
		}
		for _, data := range []func() []byte{func() []byte { return whole }, c.damage} { // which may change the file
			if err := os.WriteFile(path, data(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(c.what, func(t *testing.T) { p.damaged(t, set, c.damaged) })
	}
}

// entriesEach is how many entries the sessions have that twoSessions makes.
const entriesEach = 4

// twoSessions makes the sessions s1 and s2.
func (p *place) twoSessions(set ...string) {
	a := p.serve(set...)
	for _, id := range []string{"s1", "s2"} {
		a.open(id, nil)
		for i := range entriesEach { // records 2 to 5: the first is the session's state
			a.call("history.add", object{"session": id, "entries": []object{says("human", fmt.Sprint(id, " says ", i))}}, nil)
		}
	}
	a.end()
	p.program = "thresh"
}

// damaged says what is damaged in a store with the sessions s1 and s2, and what users see of it.
type damaged struct {
	what, doctor string
	// exported is how many entries of s1 can be exported, and failure what that and opening s1 say; "" if they work.
	exported       int
	failure, opens string
	s2             bool // whether the other session is whole
}

// damaged checks what users see.
func (p *place) damaged(t *testing.T, set []string, c damaged) {
	t.Helper()
	const all = entriesEach
	if r := p.run(append([]string{"doctor"}, set...)...); r.code != 1 || !strings.Contains(r.stdout, c.doctor) ||
		!strings.Contains(r.stdout, "is not whole") || strings.Count(r.stdout, `session "s1"`) > 1 {
		t.Errorf("doctor: exit status %d:\n%.800s%s", r.code, r.stdout, r.stderr)
	}
	if r := p.run(append([]string{"sessions", "export", "s1"}, set...)...); (r.code == 0) != (c.failure == "") ||
		!strings.Contains(r.stderr, c.failure) || strings.Count(r.stdout, "s1 says") != c.exported ||
		strings.Count(r.stderr, `session "s1"`) > 1 {
		t.Errorf("export: exit status %d:\n%s%s", r.code, r.stdout, r.stderr)
	}
	if c.s2 {
		if r := p.run(append([]string{"sessions", "export", "s2"}, set...)...); r.code != 0 ||
			strings.Count(r.stdout, "s2 says") != all {
			t.Errorf("the other session: exit status %d:\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
	if c.opens == "-" {
		p.run(append([]string{"run"}, set...)...).failed(t, 1, "restore a backup")
		return
	}
	a := p.serve(set...)
	if c.opens != "" {
		e := a.refused(-32000, "session.open", object{"id": "s1"}, c.opens)
		if e.Data.Kind != "store" || e.Data.Retryable || strings.Count(e.Message, `session "s1"`) > 1 {
			t.Errorf("%+v", e)
		}
	}
	if c.s2 {
		var o opened
		a.call("session.open", object{"id": "s2"}, &o)
		if o.Entries != all {
			t.Errorf("the other session is opened with %d entries", o.Entries)
		}
	}
	a.end()
	p.program = "thresh"
}
