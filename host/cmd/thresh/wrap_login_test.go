package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
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
		if got := codexProvider(in); got != tt.want {
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
	up, err := upstreamsFor(c, wrappingOf("goose"),
		place{env: []string{"XDG_CONFIG_HOME=" + dir, "ANTHROPIC_HOST=https://two.example"}})
	if err != nil || up.OpenAI.String() != "http://gpu-box:8000/v1" || up.Anthropic.String() != "https://two.example" {
		t.Errorf("%v %v", up, err)
	}
}
