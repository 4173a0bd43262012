package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// What bypasses the proxy: agents that are set to use another service, or are started by something that does not tell
// them of the proxy. Users would believe that it works.

func (w wrapping) goesPast(command []string, in place) string {
	if w.past != nil {
		return w.past(in)
	}
	name := ""
	if len(command) > 0 {
		name = filepath.Base(command[0])
	}
	if !slices.Contains([]string{"sh", "bash", "dash", "zsh", "fish", "ksh"}, name) {
		return ""
	}
	if agent := inShell().FindString(strings.Join(command[1:], " ")); agent != "" {
		return fmt.Sprintf("%[1]s reads no variable with an address: start it as 'thresh wrap %[1]s', not in a shell", agent)
	}
	return ""
}

var inShell = lazyregexp.New(`\b(codex|opencode|pi|cline)\b`)

// asksNothing reports whether a command of a known agent makes no request to a model, such as one for its version.
func (w wrapping) asksNothing(command []string) bool {
	if w.command == "" || len(command) < 2 {
		return false
	}
	if slices.Contains([]string{"mcp", "config", "doctor", "update", "upgrade", "login", "logout", "auth", "help",
		"completion", "install", "plugin", "extensions", "models", "stats"}, command[1]) {
		return true
	}
	return slices.ContainsFunc(command[1:], func(arg string) bool {
		return slices.Contains([]string{"--version", "-v", "-V", "--help", "-h"}, arg)
	})
}

// claudeElsewhere are the variables that make Claude Code use another service, which has addresses of its own.
var claudeElsewhere = map[string]string{
	"CLAUDE_CODE_USE_BEDROCK": "Amazon Bedrock", "CLAUDE_CODE_USE_VERTEX": "Google Vertex AI",
	"CLAUDE_CODE_USE_FOUNDRY": "Microsoft Foundry", "CLAUDE_CODE_USE_ANTHROPIC_AWS": "Anthropic on AWS",
	"CLAUDE_CODE_USE_MANTLE": "Amazon Bedrock",
}

func claudePast(in place) string {
	set := claudeSettings(in)
	for _, name := range slices.Sorted(maps.Keys(claudeElsewhere)) {
		from := ""
		if value := cmp.Or(set[name], in.getenv(name)); value == "" || value == "0" || value == "false" {
			continue
		} else if set[name] != "" {
			from = " in its settings"
		}
		return fmt.Sprintf("%s is set%s: Claude Code's requests go to %s, past the proxy", name, from, claudeElsewhere[name])
	}
	return ""
}

// claudeSettings are the variables in Claude Code's settings, which take precedence over the environment: the user's,
// the project's, and the user's for the project.
func claudeSettings(in place) map[string]string {
	out := map[string]string{}
	for _, path := range []string{
		filepath.Join(cmp.Or(in.getenv("CLAUDE_CONFIG_DIR"), filepath.Join(in.home(), ".claude")), "settings.json"),
		filepath.Join(".claude", "settings.json"), filepath.Join(".claude", "settings.local.json"),
	} {
		var file struct{ Env map[string]string }
		if text, err := os.ReadFile(in.path(path)); err == nil && json.Unmarshal(text, &file) == nil {
			maps.Copy(out, file.Env)
		}
	}
	return out
}

func claudeProvider(in place) string {
	return claudeSettings(in)[anthropicURL.name]
}

// claudeArguments set the base URL for one run if the settings have one, which takes precedence over the variable.
func claudeArguments(base string, in place) []string {
	if claudeProvider(in) == "" {
		return nil
	}
	return []string{fmt.Sprintf(`--settings={"env":{%q:%q}}`, anthropicURL.name, base)}
}

// geminiPast says that gemini-cli uses a login or a service with addresses of its own, or that it will not start: with
// a base URL and no choice of a login in its settings it takes the proxy for a gateway. It has no variable for that
// choice, and reads defaults only from files of root's.
func geminiPast(in place) string {
	auth := ""
	for _, dir := range []string{in.home(), "."} {
		var file struct {
			Security struct{ Auth struct{ SelectedType string } }
		}
		text, err := os.ReadFile(in.path(filepath.Join(dir, ".gemini", "settings.json")))
		if err == nil && json.Unmarshal(text, &file) == nil { // with comments it is not read here
			auth = cmp.Or(file.Security.Auth.SelectedType, auth)
		}
	}
	switch {
	case auth == "vertex-ai", auth == "" && in.getenv("GOOGLE_GENAI_USE_VERTEXAI") == "true":
		return "gemini-cli is set to use Vertex AI: its requests go past the proxy"
	case auth == "oauth-personal", auth == "" && in.getenv("GOOGLE_GENAI_USE_GCA") == "true":
		return "gemini-cli is logged in with Google: its requests go past the proxy, which takes those with an API key"
	case auth == "":
		return `gemini-cli needs its login in ~/.gemini/settings.json to use a proxy: {"security":{"auth":{"selectedType":` +
			`"gemini-api-key"}}}`
	}
	return ""
}
