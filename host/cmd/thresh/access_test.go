package main_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// TestATokenTakesNothingOfTheHost: not its key, a file or a profile; when a session is opened, and later. (Package
// config tests each setting.) The host's own model still writes its summaries, and a granted profile's. A token that is
// revoked is refused at once.
func TestATokenTakesNothingOfTheHost(t *testing.T) {
	t.Parallel()
	p := newLLMPlaceHere(t, "openai", modelapi.Options{})
	p.file("writer.key", key)
	var asked atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer elsewhere.Close()
	token := func(args ...string) string {
		return strings.TrimSpace(p.run(append([]string{"access", "set"}, args...)...).done(t).stdout)
	}
	mallory, alice := token("mallory"), token("alice", "--profile", "filed")
	s := p.listening(p.command("serve", "--set", "serve.listen=127.0.0.1:0"))
	summarise := func(c *client.Client, settings map[string]any) error {
		session, err := c.Open(t.Context(), api.OpenRequest{Settings: settings})
		if err == nil {
			_, err = session.Add(t.Context(), api.Entries(transcript(t, turns(20))...))
		}
		if err == nil {
			_, err = session.Compress(t.Context())
		}
		return err
	}
	c := s.connect(mallory)
	open, err := c.Open(t.Context(), api.OpenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	made := p.path("work", "made")
	for name, settings := range map[string]map[string]any{
		"where the key goes": {"profiles.writer.provider.baseURL": elsewhere.URL},
		"a file": {"profiles.mine.provider.kind": "openai", "profiles.mine.provider.model": "m",
			"profiles.mine.provider.baseURL": elsewhere.URL, "compression.profile": "mine",
			"profiles.mine.provider.keyFile": s.token},
		"a directory":       {"transcript.dir": made},
		"a profile by name": {"compression.profile": "filed"},
	} {
		var refused *api.Error
		if err := summarise(c, settings); !errors.As(err, &refused) || refused.Kind != "setting" ||
			strings.Contains(err.Error(), p.dir+"/home") {
			t.Errorf("%s: when it is opened: %v", name, err)
		}
		for key, value := range settings {
			if err := open.Set(t.Context(), api.SetRequest{Key: key, Value: value}); !errors.As(err, &refused) || refused.Kind != "setting" {
				t.Errorf("%s: %s later: %v", name, key, err)
			}
		}
	}
	if _, err := os.Stat(made); err == nil || asked.Load() > 0 || len(p.server.Requests()) > 0 {
		t.Errorf("a directory was made (%v), or a model called: %d, %d", err, asked.Load(), len(p.server.Requests()))
	}
	if err := summarise(c, nil); err != nil || len(p.server.Requests()) != 1 {
		t.Errorf("the host's own profile: %v, %d calls", err, len(p.server.Requests()))
	}
	if err := summarise(s.connect(alice), map[string]any{"compression.profile": "filed"}); err != nil ||
		len(p.server.Requests()) != 2 {
		t.Errorf("a granted profile: %v, %d calls", err, len(p.server.Requests()))
	}
	p.beside("access", "revoke", "alice")
	if !eventually(patience, func() bool {
		_, err := s.connect(alice).Open(t.Context(), api.OpenRequest{})
		var refused *api.Error
		return errors.As(err, &refused) && refused.Kind == "access"
	}) {
		t.Error("a token that was revoked is still accepted")
	}
	_, _ = s.connect("thresh_mallory_GUESSED").Open(t.Context(), api.OpenRequest{})
	log := s.end(syscall.SIGTERM)
	for _, want := range []string{"used for the first time since the start: token=mallory from=127.0.0.1:",
		"used for the first time since the start: token=alice from=127.0.0.1:",
		"access refused: token=mallory from=127.0.0.1:"} {
		if strings.Count(log, want) != 1 {
			t.Errorf("not one line %q in:\n%s", want, log)
		}
	}
	if strings.Contains(log, key) || strings.Contains(log, "GUESSED") {
		t.Errorf("a key in the log:\n%s", log)
	}
}

// TestTheLogOfPluginsThatWereLockedAndReset says which, by whom and from where.
func TestTheLogOfPluginsThatWereLockedAndReset(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "high-density")
	s := p.serveNetwork("--set", "serve.listen=127.0.0.1:0")
	for _, call := range [][2]string{{"plugins.lock", `{"names":["high-density","none"]}`}, {"plugins.list", `{}`},
		{"plugins.reset", `{"name":"high-density"}`}} { // which was started for the list
		fetch(t, s.address+"/v1/"+call[0], s.local(), call[1])
	}
	log := s.end(syscall.SIGTERM)
	if !strings.Contains(log, `plugin locked: plugin=high-density by="the local user" from=127.0.0.1:`) ||
		!strings.Contains(log, `plugin reset: plugin=high-density by="the local user" from=127.0.0.1:`) ||
		strings.Contains(log, "plugin=none") {
		t.Errorf("%s", log)
	}
	a := p.serve("--log-level", "info")
	a.call("plugins.list", nil, nil)
	a.call("plugins.reset", object{"name": "high-density"}, nil)
	a.end()
	if log := a.stderr.String(); !strings.Contains(log,
		`plugin reset: plugin=high-density by="the local user" from="standard input"`) {
		t.Error(log)
	}
}
