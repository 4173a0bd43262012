package config_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/host/config"
)

func TestProviders(t *testing.T) {
	cases := map[string]struct {
		user, project string
		want          config.Provider
	}{
		"the least": {user: "profiles.p.provider: {kind: openai, model: m}",
			want: config.Provider{Kind: "openai", Model: "m",
				ContextLimit: 128_000, MaxOutput: 8192, Timeout: 5 * time.Minute, IdleTimeout: 2 * time.Minute,
				Retries: 3}},
		"the other kind has the larger window": {user: "profiles.p.provider: {kind: anthropic, model: m}",
			want: config.Provider{
				Kind: "anthropic", Model: "m", ContextLimit: 200_000, MaxOutput: 8192, Timeout: 5 * time.Minute,
				IdleTimeout: 2 * time.Minute, Retries: 3}},
		"everything": {
			user: "profiles:\n  p:\n    model.name: agent\n    provider:\n" +
				"      {kind: openai, model: m, baseURL: 'http://127.0.0.1:8089/v1', keyFile: k.txt, " +
				"contextLimit: 9000,\n" +
				"       maxOutput: 100, timeout: 3s, idleTimeout: 2s, retries: 0, prices: {input: 3, output: 15, " +
				"cacheRead: 0.3, cacheWrite: 0}}",
			want: config.Provider{Kind: "openai", Model: "m", BaseURL: "http://127.0.0.1:8089/v1",
				KeyFile: "~/.config/thresh/k.txt", ContextLimit: 9000,
				MaxOutput: 100, Timeout: 3 * time.Second, IdleTimeout: 2 * time.Second,
				Prices: config.Prices{Input: new(3.0), Output: new(15.0), CacheRead: new(0.3), CacheWrite: new(0.0)}}},
		"from several files": {
			user:    "profiles.p.provider: {kind: openai, model: m, keyEnv: USER_KEY}",
			project: "profiles.p.provider.maxOutput: 100",
			want: config.Provider{Kind: "openai", Model: "m", KeyEnv: "USER_KEY", ContextLimit: 128_000, MaxOutput: 100,
				Timeout: 5 * time.Minute, IdleTimeout: 2 * time.Minute, Retries: 3}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.write(m.userFile(), c.user)
			m.write(m.projectFile(), c.project)
			// The profile in force or not, its provider does not mix with the settings.
			for _, env := range []string{"THRESH_PROFILE=", "THRESH_PROFILE=p"} {
				got, ok := m.load(m.options(env)).Provider("p")
				got.KeyFile = strings.Replace(got.KeyFile, m.home, "~", 1)
				if diff := cmp.Diff(c.want, got); !ok || diff != "" {
					t.Errorf("%s: %v %s", env, ok, diff)
				}
			}
		})
	}
}

func TestAProfileWithoutAProvider(t *testing.T) {
	m := newMachine(t)
	m.write(m.projectFile(), "profiles: {p: {model.name: m}, q: {provider: {}}}\ncompression.profile: p")
	c := m.load(m.options())
	for _, name := range []string{"p", "q", "nobody"} {
		if got, ok := c.Provider(name); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
	changed, err := c.WithAll(flag("profiles.p.provider.kind", "openai"), flag("profiles.p.provider.model", "m"))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := changed.Provider("p"); !ok || got.Model != "m" {
		t.Errorf("by a session: %v %v", got, ok)
	}
}

func TestWrongProviders(t *testing.T) {
	const at = "~/.config/thresh/thresh.yaml"
	const noKey = "a key is not written into settings: name an environment variable in provider.keyEnv or a file in " +
		"provider.keyFile"
	const notShown = "is not allowed (the value is not shown, as it might be a key); want "
	const aName = "the name of an environment variable in upper case, such as OPENAI_API_KEY"
	const anAddress = "an address such as https://api.example.com/v1, without credentials and query"
	cases := map[string]struct{ provider, want string }{
		"no kind": {"model: m",
			"1: profiles.p.provider.kind: is missing; want one of: openai, anthropic"},
		"no model": {"kind: openai",
			"1: profiles.p.provider.model: is missing; want the model's name, as the provider calls it"},
		"an unknown kind": {"kind: openia, model: m",
			`1: profiles.p.provider.kind: "openia" is not allowed; want one of: openai, anthropic; did you ` +
				`mean openai?`},
		"an unknown setting": {"kind: openai, model: m, timout: 1s",
			"1: profiles.p.provider.timout: unknown setting; did you mean profiles.p.provider.timeout?"},
		"a literal key": {"kind: openai, model: m, key: sk-hidden", "1: profiles.p.provider.key: " + noKey},
		"a literal apiKey": {"kind: openai, model: m, apiKey: sk-hidden", "1: profiles.p.provider.apiKey: " +
			noKey},
		"a literal api_key": {"kind: openai, model: m, api_key: sk-hidden", "1: profiles.p.provider.api_key: " +
			noKey},
		"a literal auth token": {"kind: openai, model: m, authToken: sk-hidden", "1: profiles.p.provider.authToken: " +
			noKey},
		"a key for a name": {"kind: openai, model: m, keyEnv: sk-hidden", "1: profiles.p.provider.keyEnv: " +
			notShown + aName},
		"a tagged key": {"kind: openai, model: m, keyEnv: !!binary hidden", "1: profiles.p.provider.keyEnv: " +
			notShown + aName},
		"a key for a file": {"kind: openai, model: m, keyFile: sk-hidden", "1: profiles.p.provider.keyFile: " +
			notShown + "a path"},
		"a password in the URL": {"kind: openai, model: m, baseURL: 'https://u:hidden@h/v1'",
			"1: profiles.p.provider.baseURL: " + notShown + anAddress},
		"a key in the URL": {"kind: openai, model: m, baseURL: 'https://h/v1?key=hidden'",
			"1: profiles.p.provider.baseURL: " + notShown + anAddress},
		"no URL": {"kind: openai, model: m, baseURL: 'localhost:8089'", "1: profiles.p.provider.baseURL: " +
			notShown + anAddress},
		"two keys": {"kind: openai, model: m, keyEnv: A, keyFile: b",
			"1: profiles.p.provider.keyFile: is set together with provider.keyEnv (user file " +
				"~/.config/thresh/thresh.yaml:1); want one of them"},
		"no room for input": {"kind: openai, model: m, contextLimit: 8192",
			"1: profiles.p.provider.maxOutput: 8192 leaves nothing of the context window; want less than " +
				"provider.contextLimit, which is 8192"},
		"a negative price": {"kind: openai, model: m, prices.input: -1",
			"1: profiles.p.provider.prices.input: -1 is not allowed; want a number of at least 0"},
		"no patience": {"kind: openai, model: m, timeout: 0s",
			"1: profiles.p.provider.timeout: \"0s\" is not allowed; want a duration above 0, such as 10s or 2m"},
		"too much patience": {"kind: openai, model: m, retries: 11",
			"1: profiles.p.provider.retries: 11 is not allowed; want an integer of at least 0 and at most 10"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.write(m.userFile(), "profiles: {p: {provider: {"+c.provider+"}}}")
			_, err := config.Load(m.options())
			got := m.messages(err)
			if diff := cmp.Diff([]string{at + ":" + c.want}, got); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(err.Error(), "hidden") {
				t.Errorf("a key is shown: %v", err)
			}
		})
	}
}

func TestAProviderOutsideOfAProfile(t *testing.T) {
	m := newMachine(t)
	m.write(m.projectFile(), "provider: {kind: openai, key: sk-hidden}")
	_, err := config.Load(m.options())
	want := []string{
		"$WORK/thresh.yaml:1: provider: a provider belongs in a profile; did you mean profiles.<name>.provider?",
	}
	if diff := cmp.Diff(want, m.messages(err)); diff != "" {
		t.Error(diff)
	}
}

func TestNoExplanationShowsAKey(t *testing.T) {
	m := newMachine(t)
	m.write(m.userFile(), "profiles: {p: {provider: {kind: openai, model: m, keyEnv: MY_KEY},"+
		" strategies: {own: {apiKey: hidden}}}}\n"+
		"strategies: {own: {apiKey: hidden, auth_token: hidden, maxTokens: 5}}")
	c := m.load(m.options("MY_KEY=hidden"))
	found, err := c.Explain(append(config.Keys(), "strategies", "profiles.p", "profiles.p.provider.timeout")...)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	for _, e := range found {
		values[e.Key] = e.Value
	}
	for key, want := range map[string]any{
		"profiles.p.provider.keyEnv": "MY_KEY", "profiles.p.provider.timeout": nil,
		"strategies.own.apiKey": "(not shown)", "strategies.own.maxTokens": 5,
	} {
		if diff := cmp.Diff(want, values[key]); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	if text, err := json.Marshal(found); err != nil || strings.Contains(string(text), "hidden") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestEveryRowOfAProvider(t *testing.T) {
	for _, s := range config.ProviderSpecs() {
		if s.Meaning == "" || s.Category == "" || s.Default == nil && s.DefaultText == "" || !s.PersistToProfile {
			t.Errorf("%+v", s)
		}
		if s.Default == nil {
			continue
		}
		if got, err := s.Check(s.Default); err != nil || !cmp.Equal(s.Default, got) {
			t.Errorf("%s: its own default: %v %v", s.Key, got, err)
		}
	}
}

func TestAnEmptyDirectoryIsNone(t *testing.T) {
	m := newMachine(t)
	m.write(m.userFile(), "transcript.dir: t\nprompts.dir: p\n")
	if s := m.load(m.options()).Settings(); !strings.HasPrefix(s.Transcript.Dir, m.home) ||
		!strings.HasPrefix(s.Prompts.Dir, m.home) {
		t.Errorf("relative to its file: %+v %+v", s.Transcript, s.Prompts)
	}
	m.write(m.userFile(), "transcript.dir: ''\nprompts.dir: ''\n")
	if s := m.load(m.options()).Settings(); s.Transcript.Dir != "" || s.Prompts.Dir != "" {
		t.Errorf("%+v %+v", s.Transcript, s.Prompts)
	}
}
