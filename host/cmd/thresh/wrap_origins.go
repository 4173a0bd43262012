package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tidwall/jsonc"
)

// Where an agent would have sent its requests without thresh, by its own configuration. There they go with thresh, as
// they have the key for it, or nowhere.

// origin is an address that an agent's configuration names, as the agent takes it.
type origin struct {
	address, where string
	// err is why the address cannot be known.
	err error
}

// origins are those of an agent, by upstream.
type origins map[string]origin

func (o origins) set(upstream, address, where string) {
	if address != "" {
		o[upstream] = origin{address: address, where: where}
	}
}

func (o origins) fail(err error, upstreams ...string) {
	for _, u := range upstreams {
		o[u] = origin{err: err}
	}
}

// versions are what agents' base URLs end with and the upstream does not have.
var versions = map[string]string{"anthropic": "/v1", "gemini": "/v1beta"}

// setVersioned is set for an agent whose base URLs have the API's version.
func (o origins) setVersioned(upstream, address, where string) {
	base, ok := strings.CutSuffix(strings.TrimSuffix(address, "/"), versions[upstream])
	switch {
	case address == "":
	case !ok:
		o.fail(fmt.Errorf("%s: the address %s does not end with %s", where, address, versions[upstream]), upstream)
	default:
		o.set(upstream, base, where)
	}
}

// readJSON reads a file of an agent's, with comments and trailing commas; nothing if there is none.
func readJSON(path string, to any) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || path == "" {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(jsonc.ToJSON(text), to)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// above are the directories from the working directory up to the root.
func above(in place) (dirs []string) {
	dir := in.dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	for {
		dirs = append(dirs, dir)
		if dir == filepath.Dir(dir) {
			return dirs
		}
		dir = filepath.Dir(dir)
	}
}

func configHome(in place) string {
	return in.path(cmp.Or(in.getenv("XDG_CONFIG_HOME"), filepath.Join(in.home(), ".config")))
}

// opencodeFile is what counts of a configuration of opencode.
type opencodeFile struct {
	Provider map[string]struct {
		API     string
		Options struct{ BaseURL string }
	}
}

// opencodeNames are opencode's names of providers, and the upstreams that thresh has for them.
var opencodeNames = map[string]string{"anthropic": "anthropic", "openai": "openai", "google": "gemini"}

var reference = regexp.MustCompile(`\{env:([^}]*)\}`)

// opencodeOrigins reads the configurations of opencode in its order; later ones win.
func opencodeOrigins(in place) origins {
	found := origins{}
	var files []string
	add := func(dir string, names ...string) {
		for _, name := range names {
			files = append(files, filepath.Join(dir, name))
		}
	}
	both := []string{"opencode.json", "opencode.jsonc"}
	add(filepath.Join(configHome(in), "opencode"), append([]string{"config.json"}, both...)...)
	if path := in.getenv("OPENCODE_CONFIG"); path != "" {
		files = append(files, in.path(path))
	}
	dirs := above(in)
	for i := range dirs {
		add(dirs[len(dirs)-1-i], both...)
	}
	for i := range dirs {
		add(filepath.Join(dirs[len(dirs)-1-i], ".opencode"), both...)
	}
	add(filepath.Join(in.home(), ".opencode"), both...)
	if dir := in.getenv("OPENCODE_CONFIG_DIR"); dir != "" {
		add(in.path(dir), both...)
	}
	take := func(file opencodeFile, where string) {
		for name, upstream := range opencodeNames {
			p := file.Provider[name]
			address := reference.ReplaceAllStringFunc(cmp.Or(p.Options.BaseURL, p.API), func(r string) string {
				return in.getenv(reference.FindStringSubmatch(r)[1])
			})
			if strings.Contains(address, "{file:") {
				found.fail(fmt.Errorf("%s: the address of %s is in a file", where, name), upstream)
				continue
			}
			found.setVersioned(upstream, address, where)
		}
	}
	for _, path := range files {
		var file opencodeFile
		if err := readJSON(path, &file); err != nil {
			found.fail(err, "anthropic", "openai", "gemini")
			return found
		}
		take(file, path)
	}
	var file opencodeFile
	_ = json.Unmarshal(jsonc.ToJSON([]byte(in.getenv(opencodeContent))), &file) // check has returned the error
	take(file, opencodeContent)
	return found
}

// piOrigins reads the models of pi. Its providers may have models with addresses of their own, which the extension would
// replace.
func piOrigins(in place) origins {
	found := origins{}
	path := filepath.Join(in.path(cmp.Or(in.getenv("PI_CODING_AGENT_DIR"), filepath.Join(in.home(), ".pi", "agent"))),
		"models.json")
	var file struct {
		Providers map[string]struct {
			BaseURL string
			Models  []struct{ BaseURL string }
		}
	}
	if err := readJSON(path, &file); err != nil {
		found.fail(err, "anthropic", "openai", "gemini")
		return found
	}
	for name, upstream := range opencodeNames {
		p := file.Providers[name]
		if upstream == "gemini" {
			found.setVersioned(upstream, p.BaseURL, path)
		} else {
			found.set(upstream, p.BaseURL, path)
		}
		for _, m := range p.Models {
			if m.BaseURL != "" && m.BaseURL != p.BaseURL {
				found.fail(fmt.Errorf("%s: models of %s have different addresses", path, name), upstream)
			}
		}
	}
	return found
}

// codexFile is what counts of Codex's configuration.
type codexFile struct {
	Provider  string `toml:"model_provider"`
	OpenAI    string `toml:"openai_base_url"`
	Providers map[string]struct {
		BaseURL string `toml:"base_url"`
	} `toml:"model_providers"`
}

func codexConfig(in place) (file codexFile, path string, err error) {
	path = filepath.Join(codexHome(in), "config.toml")
	if _, err = toml.DecodeFile(path, &file); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if file.Provider == "" {
		file.Provider = "openai"
	}
	return file, path, err
}

// codexOrigins returns the base URL of the provider that Codex's configuration chooses, or of the server for its login.
func codexOrigins(in place) origins {
	found := origins{}
	file, path, err := codexConfig(in)
	own := file.Providers[file.Provider].BaseURL
	switch {
	case err != nil:
		found.fail(fmt.Errorf("%s: %w", path, err), "openai")
	case file.Provider != "openai" && own == "":
		found.fail(fmt.Errorf("%s: model_provider %q has no base_url", path, file.Provider), "openai")
	case file.Provider != "openai":
		found.set("openai", own, "the configuration of codex")
	case file.OpenAI != "":
		found.set("openai", file.OpenAI, "the configuration of codex")
	case chatGPT(in):
		found.set("openai", "https://chatgpt.com/backend-api/codex", "the login of codex")
	}
	return found
}

func clineOrigins(in place) origins {
	found := origins{}
	file, err := readCline(in)
	if err != nil {
		return found // clineSettings reports it before the agent is started
	}
	of := func(name string) string { s, _ := file.Providers[name].settings()["baseUrl"].(string); return s }
	where := "the configuration of cline"
	found.setVersioned("anthropic", of("anthropic"), where)
	found.setVersioned("gemini", of("gemini"), where)
	found.set("openai", cmp.Or(of(clineOwn), of("openai-native")), where)
	return found
}

func claudeOrigins(in place) origins {
	found := origins{}
	found.set("anthropic", claudeProvider(in), "the configuration of claude")
	return found
}

// gooseOrigins reads goose's configuration, which its variables override.
func gooseOrigins(in place) origins {
	found := origins{}
	for _, v := range gooseVariables {
		if address := gooseConfig(v.name, in); address != "" {
			u := map[string]string{"openai": "/v1"}[v.upstream]
			found.set(v.upstream, strings.TrimSuffix(address, "/")+u, "the configuration of goose")
		}
	}
	return found
}

// dotenv returns the value of a variable in the first of the files that an agent of Gemini's family reads: its own
// directory's before the project's, up to the root, and then the user's.
func dotenv(in place, own, name string) (value, where string) {
	line := regexp.MustCompile(`(?m)^\s*(?:export\s+)?` + name + `\s*[=:]\s*["']?([^"'\s#]+)`)
	for _, dir := range append(above(in), in.home()) {
		for _, path := range []string{filepath.Join(dir, own, ".env"), filepath.Join(dir, ".env")} {
			text, err := os.ReadFile(path)
			if err != nil {
				continue
			}
			if m := line.FindSubmatch(text); m != nil {
				return string(m[1]), path
			}
		}
	}
	return "", ""
}

func geminiOrigins(in place) origins {
	found := origins{}
	value, where := dotenv(in, ".gemini", geminiURL.name)
	found.set("gemini", value, where)
	return found
}

// qwenOrigins reads what counts for qwen-code where its variable is not set: its settings, before them files of
// variables.
func qwenOrigins(in place) origins {
	found := origins{}
	for _, dir := range []string{in.home(), in.path(".")} {
		path := filepath.Join(dir, ".qwen", "settings.json")
		var file struct {
			Security struct{ Auth struct{ BaseURL string } }
			Env      map[string]string
		}
		if err := readJSON(path, &file); err != nil {
			found.fail(err, "openai")
			return found
		}
		found.set("openai", cmp.Or(file.Env[openaiURL.name], file.Security.Auth.BaseURL), path)
	}
	value, where := dotenv(in, ".qwen", openaiURL.name)
	found.set("openai", value, where)
	return found
}

// anyOrigins refuses where it is not known whether a program reads ./.env, in which another address may be.
func anyOrigins(in place) origins {
	found := origins{}
	for _, v := range anyAgent.variables {
		if text, err := os.ReadFile(in.path(".env")); err == nil && in.getenv(v.name) == "" &&
			regexp.MustCompile(`(?m)^\s*(?:export\s+)?`+v.name+`\s*=`).Match(text) {
			found.fail(fmt.Errorf(".env sets %s, and it is not known whether this program reads it", v.name), v.upstream)
		}
	}
	return found
}
