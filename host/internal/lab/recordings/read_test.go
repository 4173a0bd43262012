package recordings

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
)

const openCodeData = `create table session (id text primary key, parent_id text, directory text, revert text, time_updated integer);
create table message (id text primary key, session_id text, time_created integer, data text);
create table part (id text primary key, message_id text, session_id text, data text);
insert into session values ('ses_1', null, '/src/app', null, 1700000002000), ('ses_2', 'ses_1', '/src/app', null, 1700000003000),
 ('ses_3', null, '/src/app2', null, 1700000001000);
insert into message values ('msg_2', 'ses_1', 2, '{"role":"assistant","modelID":"m"}'), ('msg_1', 'ses_1', 1, '{"role":"user"}');
insert into part values ('prt_1', 'msg_1', 'ses_1', '{"type":"text","text":"go"}'),
 ('prt_2', 'msg_2', 'ses_1', '{"type":"tool","callID":"c1","tool":"read","state":{"status":"completed","input":{},"output":"one"}}'),
 ('prt_3', 'msg_2', 'ses_1', '{"type":"text","te');`

// execute runs statements on a database, which stays open.
func execute(t *testing.T, path, statements string) *sql.DB {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", dataSource(path, ""))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("pragma journal_mode = wal; pragma wal_autocheckpoint = 0; pragma synchronous = off; " +
		statements); err != nil {
		t.Fatal(err)
	}
	return db
}

// state returns what is in a directory. The index of a log (-shm) may be rebuilt by any reader.
func state(t *testing.T, dir string) (out []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Name(), "-shm") {
			raw = nil
		}
		out = append(out, fmt.Sprintf("%s %x", f.Name(), sha256.Sum256(raw)))
	}
	return out
}

// words returns what was said in a session, and what tools gave.
func words(t *testing.T, path string) string {
	t.Helper()
	tr, err := Read(path, transcript.Options{AllowCut: true})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range tr.Entries {
		for _, b := range c.Blocks {
			out = append(out, messages.Readable(b))
		}
	}
	for _, n := range tr.Notes {
		out = append(out, n.Message)
	}
	return fmt.Sprintf("%s in %s: %s", tr.Format, tr.Dir, strings.Join(out, " | "))
}

func TestADatabaseIsReadAndLeftAsItWas(t *testing.T) {
	const want = "opencode in /src/app: go | (calls read, c1) {} | (read answers c1)\none | " +
		"1 records are no whole JSON, as the agent was writing them, and were left out"
	// The states in which a database is found.
	for name, leave := range map[string]func(t *testing.T, db *sql.DB, path string){
		"closed":   func(_ *testing.T, db *sql.DB, _ string) { _ = db.Close() },
		"open":     func(t *testing.T, db *sql.DB, _ string) { t.Cleanup(func() { _ = db.Close() }) },
		"no index": left,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a b#?", "opencode.db")
			leave(t, execute(t, path, openCodeData), path)
			before := state(t, filepath.Dir(path))
			if got := words(t, path+"#ses_1"); got != want {
				t.Errorf("got %s", got)
			}
			for given, want := range map[string]string{path: "name one", path + "#x": `no session "x"`} {
				if _, err := Read(given, transcript.Options{}); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", given, err)
				}
			}
			if diff := cmp.Diff(before, state(t, filepath.Dir(path))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// left leaves a database with a log but without its index, as a copy of both is.
func left(t *testing.T, db *sql.DB, path string) {
	for _, end := range []string{"", "-wal"} {
		if err := copyFile(path+".copy"+end, path+end); err != nil {
			t.Fatal(err)
		}
	}
	_ = db.Close()
	for _, end := range []string{"", "-wal"} {
		if err := os.Rename(path+".copy"+end, path+end); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSessionsInDatabasesAreFound(t *testing.T) {
	home := t.TempDir()
	data := filepath.Join(home, ".local", "share")
	_ = execute(t, filepath.Join(data, "opencode", "opencode.db"), openCodeData).Close()
	// What was moved into the database stays in files.
	put(t, data, [][2]string{{"opencode/storage/session/p/ses_1.json", `{"directory":"/src/app"}`}})
	found, err := Find(System{OS: "linux", Home: home, Getenv: func(string) string { return "" }},
		Options{Project: "/src/app"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.Agent+" "+filepath.Base(f.Path))
	}
	if diff := cmp.Diff([]string{"opencode opencode.db#ses_1"}, got); diff != "" {
		t.Error(diff)
	}
	other := filepath.Join(home, "other.db")
	_ = execute(t, other, "create table x (y)").Close()
	if _, _, err := Walk(other); err == nil || !strings.HasPrefix(err.Error(), other+": an SQLite database with no") {
		t.Errorf("got %v", err)
	}
	all, many, err := Walk(filepath.Join(data, "opencode", "opencode.db"))
	if err != nil || !many || len(all) != 2 {
		t.Errorf("%d sessions in the database, %v", len(all), err)
	}
}

func TestASessionOfGooseIsReadWithItsLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	_ = execute(t, path, `create table sessions (id text primary key, working_dir text, session_type text, updated_at text, model_config_json text);
create table messages (id integer primary key, message_id text, session_id text, role text, content_json text, created_timestamp integer, metadata_json text);
create table usage_ledger (id integer primary key, session_id text, model text, input_tokens integer, output_tokens integer,
 cache_read_tokens integer, cache_write_tokens integer, cost real, cost_source text, is_compaction integer);
insert into sessions values ('1', '/src/app', 'user', '2026-01-02 03:04:05', '{"model_name":"m"}'), ('2', '/src/app', 'sub_agent', '2026-01-02 03:04:06', null),
 ('3', '/src/app', 'user', '2026-01-02 03:04:07', null);
insert into messages values (2, 'b', '1', 'assistant', '[{"type":"text","text":"done"}]', 9, null), (1, 'a', '1', 'user', '[{"type":"text","text":"go"}]', 9, '{}'),
 (3, 'c', '2', 'user', '[]', 9, null), (4, 'd', '1', 'user', '[{"type":"te', 9, null);
insert into usage_ledger values (1, '1', 'm', 100, 5, 80, null, 0.25, 'estimated', 0)`).Close()
	all, _, err := Walk(path)
	if err != nil || len(all) != 1 || all[0].Changed.Unix() != 1767323045 || !all[0].about("/src") {
		t.Fatalf("%+v %v", all, err)
	}
	if got := words(t, all[0].Path); got != "goose in /src/app: go | done | 1 records are no whole JSON, as the agent was "+
		"writing them, and were left out" {
		t.Error(got)
	}
	tr, err := Read(all[0].Path, transcript.Options{})
	want := []transcript.Usage{{Entry: 1, Model: "m", PromptTokens: 100, CacheRead: 80, Output: 5, USD: 0.25}}
	if diff := cmp.Diff(want, tr.Usage); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestSessionsInManyFilesArePutTogether(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, [][2]string{
		{"c[1]/base_state.json", `{"workspace":{"working_dir":"/src/app"}}`},
		{"c[1]/events/event-00000-a.json", `{"kind":"MessageEvent","source":"user",
 "llm_message":{"role":"user","content":[{"type":"text","text":"go"}]}}`},
		{"c[1]/events/event-00001-b.json", `{"kind":"ActionEvent","source":"agent","tool_name":"terminal","tool_call_id":"c1",` +
			`"tool_call":{"arguments":"{}"},"llm_response_id":"r1"}`},
		{"c[1]/events/event-00002-c.json", `{"kind":"ObservationEvent","source":"environment","tool_name":"terminal",` +
			`"tool_call_id":"c1","observation":"one"}`},
		{"c[1]/events/event-00003-d.json", `{"kind":"Mess`},
		{"storage/session/p/ses_1.json", `{"id":"ses_1","directory":"/src/app"}`},
		{"storage/message/ses_1/msg_1.json", `{"id":"msg_1","role":"user"}`},
		{"storage/part/msg_1/prt_1.json", `{"id":"prt_1","type":"text","text":"go"}`},
		{"storage/message/ses_1/msg_2.json", `{"id":"msg_2","role":"assistant"}`},
		{"storage/part/msg_2/prt_2.json", `{"type":"text","text":"done"}`},
	})
	const conversation = "openhands in /src/app: go | (calls terminal, c1) {} | (terminal answers c1)\none | " +
		"1 records are no whole JSON, as the agent was writing them, and were left out"
	for path, want := range map[string]string{
		"c[1]":                         conversation,
		"c[1]/base_state.json":         conversation,
		"storage/session/p/ses_1.json": "opencode in /src/app: go | done",
	} {
		if got := words(t, filepath.Join(dir, path)); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
