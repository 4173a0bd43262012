package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/postgres"
	"github.com/thresh-dev/thresh/host/internal/store/sqlite"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	cluster "github.com/thresh-dev/thresh/internal/testkit/postgres"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk/content"
)

// told is what was added to one session, by a word that no other text has.
type told struct {
	texts map[string]string
	// last is the last prepared history as JSON, and had the words that were added before it; had is nil before the first.
	last string
	had  map[string]bool
}

func (x *told) clone() *told { return &told{maps.Clone(x.texts), x.last, maps.Clone(x.had)} }

// removed are the words that the model has no longer.
func (x *told) removed() (words []string) {
	for word := range x.had {
		if !strings.Contains(x.last, word) {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return words
}

// world is two hosts of one store, with the sessions of two owners, and what there is to find.
type world struct {
	*testing.T
	rng      *rand.Rand
	kept     store.Store
	machines []*window.Host
	clients  map[string][]*client.Client // by owner
	sessions map[store.Key]*told
	words    []string // of all times
}

func newWorld(t *testing.T, kept store.Store, seed uint64) *world {
	w := &world{T: t, rng: rand.New(rand.NewPCG(seed, 1)), kept: kept, clients: map[string][]*client.Client{},
		sessions: map[store.Key]*told{}}
	tokens := map[string]string{}
	for _, owner := range []string{"ann", "bob"} {
		token, err := access.Create(t.Context(), kept, owner, access.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		tokens[owner] = token
	}
	for range 2 {
		url, machine := servedFrom(t, kept)
		w.machines = append(w.machines, machine)
		for owner, token := range tokens {
			c, err := client.New(url, client.Options{Token: token})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			w.clients[owner] = append(w.clients[owner], c)
		}
	}
	return w
}

// open opens a session on one of the hosts.
func (w *world) open(key store.Key) *client.Session {
	w.Helper()
	s, err := w.clients[key.Owner][w.rng.IntN(2)].Open(w.Context(), api.OpenRequest{ID: key.ID,
		Settings: map[string]any{"model.contextLimit": "1500"}})
	if err != nil {
		w.Fatalf("open %v: %v", key, err)
	}
	if w.sessions[key] == nil {
		w.sessions[key] = &told{texts: map[string]string{}}
	}
	return s
}

// text is one with a word of its own, and with words that all texts have.
func (w *world) text(of *told) string {
	letters := make([]byte, 12)
	for i := range letters {
		letters[i] = 'a' + byte(w.rng.IntN(26))
	}
	word := string(letters)
	text := fmt.Sprintf("the build of %s\nfailed in src/common/main.go", word) + strings.Repeat("\nwith words that say nothing about where it was", 8)
	of.texts[word] = text
	w.words = append(w.words, word)
	return text
}

// add adds what a person says, or a call with its result.
func (w *world) add(s *client.Session, of *told) {
	w.Helper()
	text := w.text(of)
	entries := []content.Content{{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: text}}}}
	if w.rng.IntN(2) == 0 {
		id := fmt.Sprint("c", len(w.words))
		result, _ := json.Marshal(text)
		entries = []content.Content{
			{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: id, Name: "read_file",
				Parameters: json.RawMessage(`{"file_path":"src/common/main.go"}`)}}},
			{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: id, ToolName: "read_file",
				Result: result}}},
		}
	}
	if _, err := s.Add(w.Context(), api.Entries(entries...)); err != nil {
		w.Fatalf("add: %v", err)
	}
}

func (w *world) prepare(s *client.Session, of *told) {
	w.Helper()
	ready, err := s.Prepare(w.Context(), api.PrepareRequest{})
	if err != nil {
		w.Fatalf("prepare: %v", err)
	}
	text, err := json.Marshal(ready.History)
	if err != nil {
		w.Fatal(err)
	}
	of.last, of.had = string(text), map[string]bool{}
	for word := range of.texts {
		of.had[word] = true
	}
}

// fork begins a session with what another one has now, as the proxy does where a conversation branches.
func (w *world) fork(from store.Key) {
	w.Helper()
	key := store.Key{Owner: from.Owner, ID: fmt.Sprint("fork-", len(w.words))}
	head, err := w.kept.Head(w.Context(), from)
	if errors.Is(err, store.ErrNotFound) { // nothing was added yet
		return
	}
	if err != nil {
		w.Fatal(err)
	}
	s, err := w.machines[w.rng.IntN(2)].Open(window.Opening{Key: key, Fork: &journal.Fork{Parent: from.ID,
		At: head.Revision, Entries: head.Entries, Whole: true}})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		w.Fatalf("fork %v: %v", from, err)
	}
	w.sessions[key] = w.sessions[from].clone()
}

// remove deletes a session, and begins another one of the same name.
func (w *world) remove(key store.Key) {
	w.Helper()
	if err := w.clients[key.Owner][w.rng.IntN(2)].Delete(w.Context(), api.Of{Session: key.ID}); err != nil {
		w.Fatalf("delete %v: %v", key, err)
	}
	delete(w.sessions, key)
	s := w.open(key)
	w.add(s, w.sessions[key])
}

// searches searches a session: for what all texts have, and for a word that any text of any session has or had.
func (w *world) searches(key store.Key, s *client.Session) {
	w.Helper()
	of := w.sessions[key]
	want := of.removed()
	found := func(words string) (got []string) {
		answer, err := s.Search(w.Context(), api.SearchRequest{Query: words, Limit: 100, Tokens: 100_000})
		if err != nil {
			w.Fatalf("search %v: %v", key, err)
		}
		places := []outcome.Place{}
		for _, p := range answer.Passages {
			for _, also := range p.Also {
				places = append(places, also.Place)
			}
			p.Also = nil
			_, rest, _ := strings.Cut(p.Text, "the build of ")
			word, _, _ := strings.Cut(rest, "\n")
			got = append(got, word)
			if p.Text != of.texts[word] {
				w.Errorf("%v: found %q, which was not added to it", key, p.Text)
			}
			around, err := s.Search(w.Context(), api.SearchRequest{Place: &p.Place})
			if err != nil || len(around.Passages) != 1 || !reflect.DeepEqual(around.Passages[0], p) {
				w.Errorf("%v: found %+v, which is read as %+v, %v", key, p, around, err)
			}
		}
		for _, at := range places { // much the same, and no passage of its own
			around, err := s.Search(w.Context(), api.SearchRequest{Place: &at})
			if err != nil || len(around.Passages) != 1 {
				w.Fatalf("%v: also at %+v: %v", key, at, err)
			}
			text := around.Passages[0].Text
			_, rest, _ := strings.Cut(text, "the build of ")
			word, _, _ := strings.Cut(rest, "\n")
			if got = append(got, word); text != of.texts[word] {
				w.Errorf("%v: also at %+v: %q", key, at, text)
			}
		}
		slices.Sort(got)
		return got
	}
	if got := found("build failed"); !slices.Equal(got, want) {
		w.Errorf("%v: found %q, removed were %q", key, got, want)
	}
	if len(w.words) == 0 {
		return
	}
	word := w.words[w.rng.IntN(len(w.words))]
	var one []string
	if slices.Contains(want, word) {
		one = []string{word}
	}
	for _, query := range []string{word, `"build of ` + word + `"`} {
		if got := found(query); !slices.Equal(got, one) {
			w.Errorf("%v: %s: found %q, want %q", key, query, got, one)
		}
	}
}

// Whatever two owners do with their sessions on two hosts of a store, forks and deletions included, a search finds what
// was removed from that very session, all of it and nothing else.
func TestASearchFindsWhatWasRemovedFromThisSessionAlone(t *testing.T) {
	race.Skip(t)
	for name, open := range map[string]func(context.Context) (store.Store, error){
		"memory": func(context.Context) (store.Store, error) { return store.NewMemory(), nil },
		"sqlite": func(ctx context.Context) (store.Store, error) {
			return sqlite.Open(ctx, filepath.Join(t.TempDir(), "s.db"))
		},
		"postgres": func(ctx context.Context) (store.Store, error) {
			return postgres.Open(ctx, cluster.Shared(t).Database())
		},
	} {
		t.Run(name, func(t *testing.T) {
			kept, err := open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = kept.Close() })
			w := newWorld(t, kept, 1)
			for _, owner := range []string{"ann", "bob"} {
				for _, id := range []string{"chat", "other"} {
					w.open(store.Key{Owner: owner, ID: id})
				}
			}
			steps := 150
			if testing.Short() {
				steps = 60
			}
			for range steps {
				keys := slices.SortedFunc(maps.Keys(w.sessions), func(a, b store.Key) int {
					return strings.Compare(a.Owner+a.ID, b.Owner+b.ID)
				})
				key := keys[w.rng.IntN(len(keys))]
				s := w.open(key)
				switch n := w.rng.IntN(20); {
				case n < 12:
					for range 1 + w.rng.IntN(4) {
						w.add(s, w.sessions[key])
					}
					if n < 8 {
						w.prepare(s, w.sessions[key])
					}
				case n < 13 && len(keys) < 8:
					w.fork(key)
				case n < 14:
					w.remove(key)
				default:
					w.searches(key, s)
				}
				if t.Failed() {
					break
				}
			}
		})
	}
}

// A search that cannot be made says which member is wrong; of a session that is not there, or of another's, that it is
// not.
func TestASearchThatCannotBeMade(t *testing.T) {
	w := newWorld(t, store.NewMemory(), 1)
	w.open(store.Key{Owner: "ann", ID: "chat"})
	type place = outcome.Place
	for name, tt := range map[string]struct {
		owner, session string
		query          api.SearchRequest
		at             *place
		kind, field    string
	}{
		"nothing added yet":  {"ann", "chat", api.SearchRequest{Query: "build"}, nil, "", ""},
		"no words":           {"ann", "chat", api.SearchRequest{}, nil, "request", "query"},
		"no terms":           {"ann", "chat", api.SearchRequest{Query: "… — !"}, nil, "request", "query"},
		"too long":           {"ann", "chat", api.SearchRequest{Query: strings.Repeat("a ", 1<<20)}, nil, "request", "query"},
		"a limit below 0":    {"ann", "chat", api.SearchRequest{Query: "a", Limit: -1}, nil, "request", "limit"},
		"a limit too large":  {"ann", "chat", api.SearchRequest{Query: "a", Limit: 101}, nil, "request", "limit"},
		"tokens below 0":     {"ann", "chat", api.SearchRequest{Query: "a", Tokens: -1}, nil, "request", "tokens"},
		"too many tokens":    {"ann", "chat", api.SearchRequest{Query: "a", Tokens: 100_001}, nil, "request", "tokens"},
		"a place of nothing": {"ann", "chat", api.SearchRequest{}, &place{Lines: 1}, "request", "place.entry"},
		"no lines":           {"ann", "chat", api.SearchRequest{}, &place{Entry: "e1", Line: 1}, "request", "place.lines"},
		"an unknown entry":   {"ann", "chat", api.SearchRequest{}, &place{Entry: "e1", Lines: 1}, "entry", ""},
		"no such session":    {"ann", "nosuch", api.SearchRequest{Query: "a"}, nil, "session", ""},
		"another's session":  {"bob", "chat", api.SearchRequest{Query: "a"}, nil, "session", ""},
	} {
		s, err := w.clients["ann"][0].Open(t.Context(), api.OpenRequest{ID: tt.session})
		if err == nil && tt.session == "nosuch" {
			err = w.clients["ann"][0].Delete(t.Context(), api.Of{Session: tt.session})
		}
		if tt.owner == "bob" {
			s, err = w.clients["bob"][0].Open(t.Context(), api.OpenRequest{ID: tt.session})
			if err == nil {
				err = w.clients["bob"][0].Delete(t.Context(), api.Of{Session: tt.session})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		tt.query.Place = tt.at
		_, err = s.Search(t.Context(), tt.query)
		failed := &api.Error{}
		if errors.As(err, &failed) != (tt.kind != "") || string(failed.Kind) != tt.kind || failed.Field != tt.field {
			t.Errorf("%s: %+v", name, err)
		}
	}
}
