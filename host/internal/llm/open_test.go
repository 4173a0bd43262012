package llm_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		// By itself, as the umask takes from the mode of a new file.
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := map[string]string{"EMPTY": " \n", "BROKEN": "hidden\nhidden"}
	cases := map[string]struct {
		provider config.Provider
		want     string
	}{
		"no kind": {config.Provider{Model: "m"},
			`profiles.p.provider.kind is ""; want openai or anthropic`},
		"no model":          {config.Provider{Kind: "openai"}, "profiles.p.provider.model is missing"},
		"no key for OpenAI": {config.Provider{Kind: "openai", Model: "m"}, "no key: set profiles.p.provider.keyEnv"},
		"no key for Anthropic": {config.Provider{Kind: "anthropic", Model: "m", BaseURL: "https://api.anthropic.com/"},
			"no key: set profiles.p.provider.keyEnv"},
		"two keys": {config.Provider{Kind: "openai", Model: "m", KeyEnv: "A", KeyFile: "b"},
			"keyEnv and keyFile are both set"},
		"no URL": {config.Provider{Kind: "openai", Model: "m", BaseURL: "localhost:1"},
			"profiles.p.provider.baseURL is not usable"},
		"a password in a URL": {config.Provider{Kind: "openai", Model: "m", BaseURL: "http://u:hidden@h"},
			"profiles.p.provider.baseURL is not usable"},
		"no variable": {config.Provider{Kind: "openai", Model: "m", KeyEnv: "NOT_SET"},
			"the environment variable NOT_SET is not set; profiles.p.provider.keyEnv names it"},
		"an empty variable": {config.Provider{Kind: "openai", Model: "m", KeyEnv: "EMPTY"},
			"the environment variable EMPTY is empty"},
		"a broken variable": {config.Provider{Kind: "openai", Model: "m", KeyEnv: "BROKEN"},
			"the environment variable BROKEN holds a space, a line break"},
		"no file": {config.Provider{Kind: "openai", Model: "m", KeyFile: filepath.Join(dir, "none")},
			"none (profiles.p.provider.keyFile) cannot be used for a key: no such file or directory"},
		"a directory": {config.Provider{Kind: "openai", Model: "m", KeyFile: dir}, "it is not a regular file"},
		"an empty file": {config.Provider{Kind: "openai", Model: "m", KeyFile: file("empty", "\n", 0o600)},
			"empty is empty"},
		"a file for all": {config.Provider{Kind: "openai", Model: "m", KeyFile: file("open", "hidden", 0o666)},
			"others may write to it (mode 0666); run chmod 600 on it"},
		"a large file": {config.Provider{Kind: "openai", Model: "m",
			KeyFile: file("large", strings.Repeat("hidden", 10_000), 0o600)}, "it is larger than 16384 bytes"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := llm.Open(llm.Profile{Name: "p", Provider: c.provider},
				llm.Options{LookupEnv: func(name string) (string, bool) {
					v, ok := env[name]
					return v, ok
				}})
			if e := failed(t, err); !errors.Is(err, llm.ErrProfile) || e.Retryable ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
			if strings.Contains(err.Error(), "hidden") {
				t.Errorf("a key is shown: %v", err)
			}
		})
	}
}

func TestAFileThatMayNotBeRead(t *testing.T) {
	if os.Geteuid() == 0 { // who may read everything
		if got := plugintest.AsNobody(t, t.Name(), nil); !strings.Contains(got, "--- PASS") {
			t.Errorf("as user nobody: %s", got)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("hidden"), 0o000); err != nil {
		t.Fatal(err)
	}
	_, err := llm.Open(llm.Profile{Provider: config.Provider{Kind: "openai", Model: "m", KeyFile: path}}, llm.Options{})
	if !errors.Is(err, fs.ErrPermission) || !errors.Is(err, llm.ErrProfile) {
		t.Error(err)
	}
}

func TestWhereTheKeyComesFrom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o444); err != nil {
		t.Fatal(err)
	}
	t.Setenv("THRESH_TEST_LLM", secret)
	// What the libraries would read by themselves has no effect.
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} {
		t.Setenv(name, "wrong")
	}
	t.Setenv("OPENAI_BASE_URL", "http://wrong.invalid")
	t.Setenv("ANTHROPIC_BASE_URL", "http://wrong.invalid")
	for name, c := range map[string]struct {
		env, file, want string
	}{
		"a variable": {env: "THRESH_TEST_LLM", want: secret},
		"a file":     {file: path, want: secret},
		"none":       {},
	} {
		for _, kind := range kinds {
			t.Run(name+"/"+kind, func(t *testing.T) {
				server := modelapi.Start(t, modelapi.Options{})
				client, err := llm.Open(llm.Profile{Name: "p",
					Provider: config.Provider{Kind: kind, Model: "m", BaseURL: server.URL,
						KeyEnv: c.env, KeyFile: c.file}}, llm.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				if _, err := client.Generate(t.Context(), question(), nil); err != nil {
					t.Fatal(err)
				}
				r := server.Requests()[0]
				if r.Asked().Key != c.want || r.Header.Get("Authorization") == "Bearer wrong" {
					t.Errorf("sent %q", r.Header)
				}
			})
		}
	}
}

// A provider may repeat the key in its error, and formatting a client must not show it either.
func TestAKeyIsNeverShown(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			b := setUp(t, kind, modelapi.Options{Key: "another"}, nil)
			_, refused := b.ask(t)
			long := strings.Repeat("x", 390) + secret // Where it is cut, half a key would be left.
			escaped := strings.ReplaceAll(secret, "/", `\/`)
			b.server.Queue(modelapi.Reply{Fault: modelapi.FaultGarbage, Text: "<p>" + secret + " " + escaped},
				modelapi.Reply{Fault: modelapi.FaultInStream, Status: 400, Message: long},
				modelapi.Reply{Status: 400, Message: long, Code: secret},
				modelapi.Reply{Fault: modelapi.FaultGarbled, Text: secret})
			errs := []error{refused}
			for range 4 {
				_, err := b.ask(t)
				errs = append(errs, err)
			}
			shown := []string{fmt.Sprintf("%+v %#v %v", b.Client, b.Client, *b.Client)}
			for _, err := range errs {
				e := failed(t, err)
				shown = append(shown, fmt.Sprintf("%v %+v %#v", err, *e, *e))
				for cause := e.Err; cause != nil; cause = errors.Unwrap(cause) {
					shown = append(shown, fmt.Sprintf("%+v", cause))
				}
			}
			for _, text := range shown {
				if strings.Contains(text, "SECRET") || strings.Contains(text, "sk-") {
					t.Error(text)
				}
			}
			if !strings.Contains(refused.Error(), "[key]") {
				t.Errorf("nothing was taken out of: %v", refused)
			}
		})
	}
}
