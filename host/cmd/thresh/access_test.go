package main_test

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/sdk/content"
)

// TestATokenTakesNothingOfTheHost: not its key, a file, a variable, a price or a limit; when a session is opened, and
// later. The host's own model still writes its summaries, and a granted profile's.
func TestATokenTakesNothingOfTheHost(t *testing.T) {
	t.Parallel()
	p := newLLMPlace(t, "openai", modelapi.Options{})
	p.file("writer.key", key)
	var asked atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer elsewhere.Close()
	token := func(args ...string) string {
		r := p.run(append([]string{"access", "create"}, args...)...)
		if r.code != 0 || !strings.Contains(r.stderr, "access token created: token="+args[0]) ||
			!strings.Contains(r.stderr, "store=sqlite:"+p.path("home", ".local", "state", "thresh", "sessions.db")) {
			t.Fatalf("%v: %+v", args, r)
		}
		return strings.TrimSpace(r.stdout)
	}
	if r := p.run("access", "create", "x", "--profile", "none"); r.code == 0 ||
		!strings.Contains(r.stderr, `there is no profile "none" in the configuration; it has: filed, writer`) {
		t.Errorf("%+v", r)
	}
	mallory, alice := token("mallory"), token("alice", "--profile", "filed")
	if r := p.run("access", "list"); !strings.Contains(r.stdout, "PROFILES") || !strings.Contains(r.stdout, "filed") {
		t.Errorf("%+v", r)
	}
	s := p.listening(p.command("serve", "--set", "serve.listen=127.0.0.1:0"))
	connect := func(token string) *client.Client {
		c, err := client.New(strings.TrimPrefix(s.address, "http://"), client.Options{Token: token})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	summarise := func(c *client.Client, settings map[string]string) error {
		session, err := c.Open(t.Context(), client.OpenOptions{Settings: settings})
		if err != nil {
			return err
		}
		for range 20 {
			for _, speaker := range []content.Speaker{content.Human, content.AI} {
				if _, err := session.Add(t.Context(), content.Content{Speaker: speaker,
					Blocks: []content.Block{content.Text{Text: strings.Repeat("some words ", 50)}}}); err != nil {
					return err
				}
			}
		}
		_, err = session.Compress(t.Context())
		return err
	}
	c := connect(mallory)
	open, err := c.Open(t.Context(), client.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made := p.path("work", "made")
	for name, settings := range map[string]map[string]string{
		"where the key goes": {"profiles.writer.provider.baseURL": elsewhere.URL},
		"a file": {"profiles.mine.provider.kind": "openai", "profiles.mine.provider.model": "m",
			"profiles.mine.provider.baseURL": elsewhere.URL, "compression.profile": "mine",
			"profiles.mine.provider.keyFile": s.token},
		"a variable": {"profiles.mine.provider.keyEnv": "WRITER_KEY", "profiles.mine.provider.kind": "anthropic",
			"profiles.mine.provider.model": "m", "profiles.mine.provider.baseURL": elsewhere.URL, "profile": "mine"},
		"a directory":        {"transcript.dir": made},
		"what it costs":      {"profiles.writer.provider.prices.input": "0"},
		"a file of prompts":  {"prompts.dir": "/etc"},
		"a plugin's time":    {"plugins.compressTimeout": "9999h"},
		"a plugin's rights":  {"plugins.grants.one-shot.network": "true"},
		"the limit":          {"compression.llm.maxTokens": "100000000"},
		"a profile by name":  {"compression.profile": "filed"},
		"a profile in force": {"profile": "filed"},
		"out of the profile": {"profile": ""},
		"a setting of none":  {"profiles.mine.compression.threshold": "0.5"},
	} {
		var refused *client.Error
		if err := summarise(c, settings); !errors.As(err, &refused) || refused.Kind != "setting" ||
			strings.Contains(err.Error(), p.dir+"/home") {
			t.Errorf("%s: when it is opened: %v", name, err)
		}
		for key, value := range settings {
			if err := open.Set(t.Context(), key, &value); !errors.As(err, &refused) || refused.Kind != "setting" {
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
	if err := summarise(connect(alice), map[string]string{"compression.profile": "filed"}); err != nil ||
		len(p.server.Requests()) != 2 {
		t.Errorf("a granted profile: %v, %d calls", err, len(p.server.Requests()))
	}
	_, _ = connect("thresh_mallory_GUESSED").Open(t.Context(), client.OpenOptions{})
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
	p := newPlace(t)
	p.install("high-density")
	s := p.serveNetwork("--set", "serve.listen=127.0.0.1:0")
	token, err := os.ReadFile(s.token)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range [][2]string{{"LockPlugins", `{"names":["high-density","none"]}`}, {"ListPlugins", `{}`},
		{"ResetPlugin", `{"name":"high-density"}`}} { // which was started for the list
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.address+"/thresh.v1.PluginService/"+call[0],
			strings.NewReader(call[1]))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	log := s.end(syscall.SIGTERM)
	if !strings.Contains(log, `plugin locked: plugin=high-density by="the local user" from=127.0.0.1:`) ||
		!strings.Contains(log, `plugin reset: plugin=high-density by="the local user" from=127.0.0.1:`) ||
		strings.Contains(log, "plugin=none") {
		t.Errorf("%s", log)
	}
	run := p.command("run", "--log-level", "info")
	in, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	run.Stderr = &stderr
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(out)
	answers.Buffer(nil, 1<<20)
	for _, call := range []string{`"plugins.list"`, `"plugins.reset","params":{"name":"high-density"}`} {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":%s}`+"\n", call)
		answers.Scan()
	}
	_ = in.Close()
	if err := run.Wait(); err != nil || !strings.Contains(stderr.String(),
		`plugin reset: plugin=high-density by="the local user" from="standard input"`) {
		t.Errorf("%v, %s\n%s", err, answers.Text(), stderr.String())
	}
	locked := p.run("plugins", "lock", "high-density", "--log-level", "info")
	if !strings.Contains(locked.stderr, "plugin locked: plugin=high-density sha256=") {
		t.Errorf("%+v", locked)
	}
}
