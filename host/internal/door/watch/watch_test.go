package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// hostile is what a tool said that would do harm as markup.
const hostile = "<script>document.title = 'taken'</script><img src=\"http://example.com/x.png\"> & so on"

// claude is a session that has been pruned.
const claude = "claude-1f0a5c3e-9d1b-4a7e-8a53-70f0c9a1d2b4"

// worked is a recorder of a host with sessions of two owners: the local user's have been pruned and have failed.
func worked(t *testing.T) *Recorder {
	t.Helper()
	c, err := config.Load(config.Options{WorkDir: t.TempDir(), Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := window.Open(window.Options{Config: c, Logger: hclog.NewNullLogger(), Store: store.NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	r := New(h, "claude", nil)
	first, began := store.Key{ID: claude}, time.Now()
	session, err := h.Open(window.Opening{Key: store.Key{ID: first.ID}})
	for range 5 { // up to the entry e5
		if err == nil {
			_, err = session.Add(t.Context(), window.Entries(content.Content{Speaker: content.AI,
				Blocks: []content.Block{content.Text{Text: hostile}}}))
		}
	}
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, "line%d of what a person said\n", i+1)
	}
	if err == nil {
		_, err = session.Add(t.Context(), window.Entries(content.Content{Speaker: content.Human,
			Blocks: []content.Block{content.Text{Text: lines.String()}}}))
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		turn := Turn{At: began, Whole: 4000 + 2500*i, Sent: 4000 + 2500*(i%11), Saved: 0.01}
		turn.Rewrote = i > 0 && i%11 == 0
		o := outcome.Outcome{Strategy: "high-density"}
		if turn.Rewrote {
			o.Optimize.Kind, o.Optimize.Decision.Reason = outcome.KindApplied, outcome.DecidedPays
			o.Changes = []outcome.Change{{EntryID: "e5", Kind: outcome.Removed, Speaker: content.Tool, Before: 2400,
				Step: outcome.StepOptimize, Rule: "superseded-read", By: "e9"}}
		}
		if i == 2 || i == 3 { // e2 gives way to e4
			kind := map[int]outcome.ChangeKind{2: outcome.Kept, 3: outcome.Released}[i]
			o.Changes = append(o.Changes, outcome.Change{EntryID: "e2", Kind: kind, Rule: "CLAUDE.md", Step: outcome.StepKeep,
				Speaker: content.Tool, Before: 900, After: 900})
		}
		if i == 3 {
			o.Changes = append(o.Changes, outcome.Change{EntryID: "e4", Kind: outcome.Kept, Rule: "CLAUDE.md",
				Step: outcome.StepKeep, Speaker: content.Tool, Before: 950, After: 950})
		}
		r.Turn(first, turn, About{Model: "claude-sonnet-4-5"}, o, nil)
		r.Usage(first, Usage{Prompt: turn.Sent, Cached: turn.Sent / 2}, turn.At, 0)
	}
	// A service's sessions have no sizes but those of their outcomes.
	for _, e := range []window.Turn{
		{Key: store.Key{ID: "fork"}, Method: "prepare", Tokens: 900, Pending: 100,
			Outcome: outcome.Outcome{Strategy: "s", TokensBefore: 900}},
		{Key: store.Key{ID: "fork"}, Method: "prepare", Tokens: 400, Pending: 100,
			Outcome: outcome.Outcome{Strategy: "s", TokensBefore: 1000, Stable: outcome.Stable{Tokens: 50}}},
		{Key: store.Key{ID: "fork"}, Method: "compress", Tokens: 300, Outcome: outcome.Outcome{Strategy: "s", TokensBefore: 400,
			Compress: outcome.Compress{Kind: outcome.KindApplied, Reason: "manual"}}},
		{Key: store.Key{ID: "failing"}, Method: "prepare", Tokens: 10, Err: errors.New("the plugin exited"),
			Outcome: outcome.Outcome{Strategy: "s", TokensBefore: 10}},
	} {
		r.Observe(e)
	}
	r.byKey[store.Key{ID: "fork"}].Parent = first.ID
	r.Observe(window.Turn{Key: store.Key{Owner: "someone", ID: "theirs"}, Method: "prepare"})
	return r
}

// ask asks for a path below the page, with a token.
func ask(h http.Handler, path, token string) (status int, text string) {
	q, w := httptest.NewRequest(http.MethodGet, Page+path, nil), httptest.NewRecorder()
	q.Host = "127.0.0.1:7440"
	q.Header.Set("Authorization", "Bearer "+token)
	h.ServeHTTP(w, q)
	return w.Code, w.Body.String()
}

// An operator sees the sessions of all owners, and a name those of its own, whatever it asks for.
func TestWhoSeesWhoseSessions(t *testing.T) {
	r := worked(t)
	for _, tt := range []struct {
		by    Viewer
		owner string
		want  string // ids
		found int
	}{
		{Viewer{All: true}, "someone", "failing fork theirs claude", http.StatusOK},
		{Viewer{Owner: "someone"}, "", "theirs", http.StatusOK},
		{Viewer{Owner: "another"}, "someone", "", http.StatusNotFound},
		{Viewer{}, "someone", "failing fork claude", http.StatusNotFound},
	} {
		h := r.Handler(func(*http.Request) Viewer { return tt.by })
		var l List
		if _, text := ask(h, "/sessions", ""); json.Unmarshal([]byte(text), &l) != nil {
			t.Fatal(text)
		}
		var ids []string
		for _, s := range l.Sessions {
			ids = append(ids, strings.Split(s.ID, "-")[0])
			if (s.ID == "theirs") != (s.Owner == "someone") {
				t.Errorf("%s is of %q", s.ID, s.Owner)
			}
		}
		slices.Sort(ids)
		want := strings.Fields(tt.want)
		if slices.Sort(want); !slices.Equal(ids, want) {
			t.Errorf("%+v sees %q, want %q", tt.by, ids, want)
		}
		if status, text := ask(h, "/session?session=theirs&owner="+tt.owner, ""); status != tt.found {
			t.Errorf("%+v: %d %s", tt.by, status, text)
		}
	}
}

// The sums of a session are those of its turns, and an owner sees no other's.
func TestSessionsAreAddedUp(t *testing.T) {
	h := worked(t).Before(http.NotFoundHandler(), "the-token", true)
	var l List
	_, text := ask(h, "/sessions", "the-token")
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		t.Fatal(err)
	}
	byID := map[string]Session{}
	for _, one := range l.Sessions {
		byID[one.ID] = one
	}
	fork := byID["fork"]
	// 900 were added, then 100; a turn of a compress sends nothing.
	if len(l.Sessions) != 3 || fork.Turns != 2 || fork.Whole != 1000+1100 || fork.Sent != 1000+500 ||
		fork.Rewrites != 1 || fork.Reason != "compressed on request" {
		t.Errorf("%+v", l.Sessions)
	}
	if got := byID["failing"]; got.Error != "the plugin exited" {
		t.Errorf("%+v", got)
	}
	pruned := l.Sessions[2]
	if pruned.Rewrites != 2 || pruned.Usage.Cached*2 != pruned.Usage.Prompt || pruned.Reason != "pruned: saves more than it costs" ||
		pruned.Model != "claude-sonnet-4-5" {
		t.Errorf("%+v", pruned)
	}
	var d Detail
	_, text = ask(h, "/session?session="+claude, "the-token")
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.History) != 30 || !d.History[11].Rewrote || len(d.Changes) != 2 || d.Changes[0].Turn != 12 {
		t.Errorf("%d turns, %+v", len(d.History), d.Changes)
	}
	if want := []Kept{{Turn: 4, Entry: "e4", Speaker: "tool", Rule: "CLAUDE.md", Tokens: 950}}; !slices.Equal(d.Kept, want) {
		t.Errorf("kept: %+v", d.Kept)
	}
	if _, text := ask(h, "/original?entry=e5&session="+claude, "the-token"); text != hostile {
		t.Errorf("the original is %q", text)
	}
}

// Everything but the page needs the token, and all of it is for reading, by no page of another origin.
func TestWhoMaySee(t *testing.T) {
	h := worked(t).Before(http.NotFoundHandler(), "the-token", true)
	for path, want := range map[string]int{"": 200, "/sessions": 401, "/session?session=fork": 401,
		"/search?session=fork&query=taken": 401,
		"/original?session=fork&entry=e1":  401} {
		if status, text := ask(h, path, "wrong"); status != want || strings.Contains(text, "1f0a5c3e") {
			t.Errorf("%s: %d", path, status)
		}
	}
	for path, want := range map[string]int{"/session?session=theirs": 404, "/original?session=fork&entry=e1": 404,
		"/search?session=theirs&query=taken": 404, "/search?query=taken": 404, "/search?entry=e99&session=" + claude: 404,
		"/search?session=" + claude: 400, "/search?query=taken&session=" + claude: 200, "/x": 404} {
		if status, text := ask(h, path, "the-token"); status != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	for name, change := range map[string]func(*http.Request){
		"a POST":       func(q *http.Request) { q.Method = http.MethodPost },
		"another page": func(q *http.Request) { q.Header.Set("Origin", "http://elsewhere.example") },
		"its name":     func(q *http.Request) { q.Host = "elsewhere.example:7440" },
		"its image":    func(q *http.Request) { q.Header.Set("Sec-Fetch-Site", "cross-site") },
	} {
		q := httptest.NewRequest(http.MethodGet, Page, nil) // what needs no token, too
		q.Host = "127.0.0.1:7440"
		change(q)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, q); w.Code < 400 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}

// What is kept is bounded: the oldest goes.
func TestWhatIsKeptIsBounded(t *testing.T) {
	r := worked(t)
	for range maxTurns + 5 {
		r.Observe(window.Turn{Key: store.Key{ID: "long"}, Method: "prepare",
			Outcome: outcome.Outcome{Changes: []outcome.Change{{EntryID: "e1"}, {EntryID: "e2"}}}})
	}
	long, _ := r.detail(t.Context(), store.Key{ID: "long"})
	if len(long.History) != maxTurns || long.History[0].Turn != 6 || len(long.Changes) != maxChanges ||
		long.Turns != maxTurns+5 {
		t.Errorf("%d turns from %d, %d changes", len(long.History), long.History[0].Turn, len(long.Changes))
	}
	for i := range maxSessions + 5 {
		r.Usage(store.Key{ID: string(rune('a' + i))}, Usage{}, time.Time{}, 0)
	}
	if n := len(r.byKey); n != maxSessions {
		t.Errorf("%d sessions", n)
	}
}

// What turns saved is in the store, for the next host and for other names' eyes only if they may see all.
func TestWhatWasSavedOutlivesTheHost(t *testing.T) {
	r := worked(t)
	kept := r.host.Store()
	guard := access.NewGuard(kept, "", hclog.NewNullLogger())
	for _, owner := range []string{"", "someone"} {
		one := New(r.host, "serve", guard.Note)
		key := store.Key{Owner: owner, ID: "s"}
		began := time.Now()
		one.Turn(key, Turn{At: began, Whole: 1000, Sent: 400, Saved: 0.25}, About{}, outcome.Outcome{}, nil)
		one.Usage(key, Usage{Prompt: 400}, began, -0.05) // the provider had less in its cache
	}
	_, err := guard.Book(t.Context(), "someone", 0.125)
	if err := errors.Join(err, guard.Close()); err != nil {
		t.Fatal(err)
	}
	next := New(r.host, "serve", nil)
	of := Total{Requests: 1, Whole: 1000, Sent: 400, Saved: 0.2}
	theirs, both := of, Total{Requests: 2, Whole: 2000, Sent: 800, Saved: 0.4, Spent: 0.125}
	theirs.Spent = 0.125
	for _, tt := range []struct {
		by   Viewer
		want Total
	}{{Viewer{}, of}, {Viewer{Owner: "someone"}, theirs}, {Viewer{Owner: "another"}, Total{}}, {Viewer{All: true}, both}} {
		if got := next.list(t.Context(), tt.by).Month; got != tt.want {
			t.Errorf("%+v sees %+v, want %+v", tt.by, got, tt.want)
		}
	}
}
