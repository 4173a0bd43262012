package window_test

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/sdk/content"
)

// give makes a session of the local user one of a token: with settings that the token may not set.
func give(t *testing.T, kept store.Store, id, owner string) {
	t.Helper()
	key := store.Key{Owner: owner, ID: id}
	head, err := kept.Create(t.Context(), key, store.Origin{})
	must(t, err, nil)
	c := store.Change{}
	for record, err := range kept.Records(t.Context(), store.Key{ID: id}, store.Choice{}) {
		must(t, err, nil)
		c.Records = append(c.Records, store.Record{Kind: record.Kind, Data: record.Bytes()})
	}
	_, err = kept.Append(t.Context(), key, head.Position(), c)
	must(t, err, nil)
}

// granting opens a host in which tokens may choose the profiles of a list that a test changes.
func granting(t *testing.T, kept store.Store, profiles *[]string) *window.Host {
	t.Helper()
	h, err := window.Open(window.Options{
		Config: settings.Load(t, pluginDir, map[string]any{"compression.strategy": "high-density",
			"profiles.cheap.model.contextLimit": 5000, "compression.hardLimit": "error"}),
		Logger: hclog.New(&hclog.LoggerOptions{Output: io.Discard}), Store: kept,
		Granted: func(_ context.Context, token string) ([]string, error) {
			if token != "alice" {
				t.Errorf("asked for %q", token)
			}
			return *profiles, nil
		},
	})
	must(t, err, nil)
	t.Cleanup(func() { must(t, h.Close(), nil) })
	return h
}

func TestWhatATokenMayNotSetIsNotInForceInAStoredSession(t *testing.T) {
	kept, made := store.NewMemory(), filepath.Join(t.TempDir(), "made")
	h := granting(t, kept, new([]string))
	s, err := h.Open(window.Opening{Key: store.Key{ID: "old"}, Settings: map[string]any{
		"prompts.dir": "/etc", "compression.threshold": 0.3, "profile": "cheap", "compression.profile": "own",
		"profiles.own.provider.kind": "openai", "profiles.own.provider.model": "m",
		"profiles.own.provider.keyFile": "/etc/passwd", "compression.llm.maxTokens": 9999, "transcript.dir": made}})
	must(t, err, nil)
	add(t, s, says(content.Human, "hello"))
	must(t, s.Close(), nil)
	give(t, kept, "old", "alice")
	refused := []string{"prompts.dir", "compression.profile", "profile", "profiles.own.provider.kind",
		"profiles.own.provider.model", "profiles.own.provider.keyFile", "compression.llm.maxTokens", "transcript.dir"}
	check := func(what string, s *window.Session, refused ...string) {
		t.Helper()
		set := s.Config().Settings()
		_, own := s.Config().Provider("own")
		if set.Prompts.Dir != "" || set.Transcript.Dir != "" || set.Compression.Profile != "" || own ||
			set.Compression.LLM.MaxTokens != 2_000_000 || s.TranscriptPath() != "" || *set.Compression.Threshold != 0.3 {
			t.Errorf("%s: %+v", what, set)
		}
		p, err := s.Prepare(t.Context(), window.Sending{})
		must(t, err, nil)
		for _, key := range refused {
			if !slices.ContainsFunc(p.Outcome.Warnings, func(w string) bool {
				return strings.HasPrefix(w, "a setting of this session is not in force: "+key+": ")
			}) {
				t.Errorf("%s: no warning for %s: %q", what, key, p.Outcome.Warnings)
			}
		}
		if len(p.Outcome.Warnings) != len(refused) || len(p.Contents()) != 1 {
			t.Errorf("%s: %q", what, p.Outcome.Warnings)
		}
	}
	s, err = h.Open(window.Opening{Key: store.Key{Owner: "alice", ID: "old"}, Existing: true})
	must(t, err, nil)
	check("opened", s, refused...)
	fork, err := h.Open(window.Opening{Key: store.Key{Owner: "alice", ID: "fork"},
		Fork: &journal.Fork{Parent: "old", At: s.Position(), Entries: 1, Whole: true}})
	must(t, err, nil)
	check("forked", fork, refused...)
	for _, key := range refused {
		must(t, s.Set(t.Context(), key, nil), nil)
	}
	check("taken back", s)
	if matches, err := filepath.Glob(made + "/alice*"); len(matches) > 0 || err != nil {
		t.Errorf("a transcript: %v, %v", matches, err)
	}
}

// A grant holds from one turn to the next, in sessions that are open too.
func TestAGrantedProfileIsInForceAsLongAsItIsGranted(t *testing.T) {
	kept, granted := store.NewMemory(), []string{"cheap"}
	h := granting(t, kept, &granted)
	s, err := h.Open(window.Opening{Key: store.Key{Owner: "alice", ID: "s"}, Settings: map[string]any{"profile": "cheap"}})
	must(t, err, nil)
	add(t, s, says(content.Human, "hello"))
	check := func(s *window.Session, limit, warnings int) {
		t.Helper()
		p, err := s.Prepare(t.Context(), window.Sending{})
		must(t, err, nil)
		if got := s.Config().Settings().Model.ContextLimit; got != limit || len(p.Outcome.Warnings) != warnings {
			t.Errorf("limit %d, want %d; %q", got, limit, p.Outcome.Warnings)
		}
	}
	check(s, 5000, 0)
	granted = nil
	check(s, 200_000, 1)
	if err := s.Set(t.Context(), "profile", "cheap"); err == nil || !strings.Contains(err.Error(),
		"thresh access set alice --profile cheap") {
		t.Errorf("set without a grant: %v", err)
	}
	must(t, s.Close(), nil)
	s, err = h.Open(window.Opening{Key: store.Key{Owner: "alice", ID: "s"}, Existing: true})
	must(t, err, nil)
	check(s, 200_000, 1)
	granted = []string{"other", "cheap"}
	check(s, 5000, 0)
}
