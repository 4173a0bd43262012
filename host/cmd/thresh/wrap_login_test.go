package main

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
)

// Requests of Codex go to the server that its login is for.
func TestCodexLogin(t *testing.T) {
	t.Parallel()
	const chatgpt = "https://chatgpt.com/backend-api/codex"
	for name, tt := range map[string]struct{ auth, config, key, want string }{
		"none":                     {"", "", "", ""},
		"ChatGPT":                  {`{"OPENAI_API_KEY":null,"auth_mode":"chatgpt","tokens":{"access_token":"t"}}`, "", "", chatgpt},
		"ChatGPT, no mode":         {`{"OPENAI_API_KEY":null,"tokens":{"access_token":"t"}}`, "", "", chatgpt},
		"a key":                    {`{"OPENAI_API_KEY":"k","auth_mode":"apikey"}`, "", "", ""},
		"a key in the environment": {`{"auth_mode":"chatgpt","tokens":{}}`, "", "k", ""},
		"an own provider": {`{"auth_mode":"chatgpt","tokens":{}}`,
			"model_provider = \"own\"\n[model_providers.own]\nbase_url = \"https://own.example/v1\"\n", "",
			"https://own.example/v1"},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"auth.json": tt.auth, "config.toml": tt.config} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		in := place{env: []string{"CODEX_HOME=" + dir, "CODEX_API_KEY=" + tt.key}}
		if got := codexOrigins(in)["openai"].address; got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// goose reads addresses without the version, and from its configuration where no variable is set.
func TestWhereGooseSendsItsRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "goose"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "GOOSE_PROVIDER: openai\nOPENAI_HOST: http://gpu-box:8000/\nANTHROPIC_HOST: 'https://one.example'\n"
	if err := os.WriteFile(filepath.Join(dir, "goose", "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Options{WorkDir: dir, Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	up, _, err := upstreamsFor(c, wrappingOf("goose"),
		place{env: []string{"XDG_CONFIG_HOME=" + dir, "ANTHROPIC_HOST=https://two.example"}})
	if err != nil || up.OpenAI.String() != "http://gpu-box:8000/v1" || up.Anthropic.String() != "https://two.example" {
		t.Errorf("%v %v", up, err)
	}
}

// Where an agent's own configuration sends requests, there they go, as it has the key for that: or nowhere. A variable
// counts for the agents that read it.
func TestRequestsGoWhereTheyWouldHaveGone(t *testing.T) {
	t.Parallel()
	const gw = "https://gw.example"
	none := [3]string{"https://api.anthropic.com", "https://api.openai.com/v1", "https://generativelanguage.googleapis.com"}
	for name, tt := range map[string]struct {
		agent, file, text string
		env               []string
		want              [3]string // of Anthropic, OpenAI and Gemini; "" for the default
		fails             string
	}{
		"opencode": {agent: "opencode", file: "home/.config/opencode/opencode.json",
			text: `{"provider":{"anthropic":{"options":{"baseURL":"https://gw.example/v1","apiKey":"k"}}}}`, want: [3]string{gw}},
		"opencode, the project's with comments": {agent: "opencode", file: "work/opencode.jsonc",
			text: "{ // mine\n\"provider\":{\"openai\":{\"options\":{\"baseURL\":\"{env:GW}/v1\"},},},}",
			env:  []string{"GW=" + gw}, want: [3]string{1: gw + "/v1"}},
		"opencode, its variable": {agent: "opencode",
			env:  []string{`OPENCODE_CONFIG_CONTENT={"provider":{"google":{"options":{"baseURL":"https://gw.example/v1beta"}}}}`},
			want: [3]string{2: gw}},
		"opencode, another path": {agent: "opencode", file: "work/opencode.json",
			text: `{"provider":{"anthropic":{"options":{"baseURL":"https://gw.example/api"}}}}`, fails: "does not end with /v1"},
		"opencode, unreadable": {agent: "opencode", file: "work/opencode.json", text: `{"provider":`, fails: "opencode.json"},
		"pi": {agent: "pi", file: "home/.pi/agent/models.json",
			text: `{"providers":{"anthropic":{"baseUrl":"https://gw.example"},"openai":{"baseUrl":"https://gw.example/x"}}}`,
			want: [3]string{gw, gw + "/x"}},
		"pi, models": {agent: "pi", file: "home/.pi/agent/models.json",
			text: `{"providers":{"openai":{"models":[{"id":"m","baseUrl":"https://gw.example"}]}}}`, fails: "different addresses"},
		"pi, a variable of others":    {agent: "pi", env: []string{"ANTHROPIC_BASE_URL=" + gw}},
		"goose, a variable of others": {agent: "goose", env: []string{"ANTHROPIC_BASE_URL=" + gw}},
		"codex": {agent: "codex", file: "home/.codex/config.toml", text: "openai_base_url = 'https://gw.example/v1'\n",
			want: [3]string{1: gw + "/v1"}},
		"codex, in one line": {agent: "codex", file: "home/.codex/config.toml",
			text: "model_provider = \"mine\"\nmodel_providers.mine = { base_url = \"https://gw.example/v1\" }\n",
			want: [3]string{1: gw + "/v1"}},
		"codex, built in": {agent: "codex", file: "home/.codex/config.toml", text: "model_provider = \"ollama\"\n",
			fails: "has no base_url"},
		"gemini": {agent: "gemini", file: "work/.gemini/.env", text: "GOOGLE_GEMINI_BASE_URL=\"https://gw.example\"\n",
			want: [3]string{2: gw}},
		"gemini, the variable first": {agent: "gemini", file: "work/.env", text: "GOOGLE_GEMINI_BASE_URL=https://x.example\n",
			env: []string{"GOOGLE_GEMINI_BASE_URL=" + gw}, want: [3]string{2: gw}},
		"qwen": {agent: "qwen", file: "home/.qwen/settings.json",
			text: `{"security":{"auth":{"baseUrl":"https://gw.example/v1","apiKey":"k"}}}`, want: [3]string{1: gw + "/v1"}},
		"qwen, a file of variables": {agent: "qwen", file: "home/.qwen/.env", text: "export OPENAI_BASE_URL=https://gw.example/v1",
			want: [3]string{1: gw + "/v1"}},
		"cline": {agent: "cline", file: "home/.cline/data/settings/providers.json",
			text: `{"version":1,"providers":{"anthropic":{"settings":{"apiKey":"k","baseUrl":"https://gw.example/v1"}}}}`,
			want: [3]string{gw}},
		"any": {agent: "any", file: "work/.env", text: "OPENAI_BASE_URL=https://gw.example/v1", fails: "this program reads it"},
		"any, said": {agent: "any", file: "work/.env", text: "OPENAI_BASE_URL=https://gw.example/v1",
			env: []string{"OPENAI_BASE_URL=" + gw + "/v1"}, want: [3]string{1: gw + "/v1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, path := range []string{filepath.Join("work", ".keep"), cmp.Or(tt.file, ".keep")} {
				path = filepath.Join(dir, path)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(tt.text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			in := place{dir: filepath.Join(dir, "work"), env: append(tt.env, "HOME="+filepath.Join(dir, "home"))}
			upstreams := func(set ...config.Override) (up proxy.Upstreams, passed []string, err error) {
				c, err := config.Load(config.Options{WorkDir: dir, Env: []string{}, Overrides: set})
				if err != nil {
					t.Fatal(err)
				}
				return upstreamsFor(c, wrappingOf(tt.agent), in)
			}
			up, passed, err := upstreams()
			// Where it goes without settings it goes in spite of them, which is said. They decide what is not known.
			const set = "https://set.example"
			var all []config.Override
			for _, key := range []string{"anthropic", "openai", "gemini"} {
				all = append(all, config.Override{Key: "proxy.upstreams." + key, Value: set, Source: "--set"})
			}
			given, unused, failed := upstreams(all...)
			if failed != nil {
				t.Fatal(failed)
			}
			named := 0
			for i, got := range []string{given.Anthropic.String(), given.OpenAI.String(), given.Gemini.String()} {
				if want := cmp.Or(tt.want[i], set); got != want {
					t.Errorf("with settings: %s, want %s", got, want)
				} else if want != set {
					named++
				}
			}
			if len(passed) != 0 || len(unused) != named {
				t.Errorf("settings are not used: %q without, %q with, want %d", passed, unused, named)
			}
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) || !strings.Contains(err.Error(), "proxy.upstreams.") {
					t.Errorf("%v, want %s", err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range []string{up.Anthropic.String(), up.OpenAI.String(), up.Gemini.String()} {
				if want := cmp.Or(tt.want[i], none[i]); got != want {
					t.Errorf("%s, want %s", got, want)
				}
			}
		})
	}
}
