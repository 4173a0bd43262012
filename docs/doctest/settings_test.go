package doctest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/thresh-dev/thresh/host/config"
)

// TestConfigurationIsCurrent holds the table of settings to the registry.
func TestConfigurationIsCurrent(t *testing.T) {
	written(t, "docs/configuration.md", "settings", "the registry in host/config", settingsTables())
}

// settingsTables is one table for each group of keys, in the order of the registry, and one of those for tuning.
func settingsTables() string {
	usual, tuning := allSpecs(), []config.Spec(nil)
	for _, s := range usual {
		if s.Tuning {
			tuning = append(tuning, s)
		}
	}
	usual = slices.DeleteFunc(usual, func(s config.Spec) bool { return s.Tuning })
	return tables(usual, groupOf) + tables(tuning, func(string) string { return "For tuning" })
}

func tables(specs []config.Spec, groupOf func(key string) string) string {
	var b strings.Builder
	group := ""
	for _, s := range specs {
		if g := groupOf(s.Key); g != group {
			group = g
			fmt.Fprintf(&b, "\n### %s\n\n| setting | meaning | values | default | also set by |\n|---|---|---|---|---|\n", group)
		}
		cells := []any{s.Key, cell(s.Meaning), cell(values(s)), cell(defaultOf(s)), setters(s)}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", cells...)
	}
	return b.String() + "\n"
}

func groupOf(key string) string {
	parts := strings.Split(key, ".")
	switch {
	case strings.Contains(key, ".<name>."):
		before, _, _ := strings.Cut(key, ".<name>.")
		return "`" + before + ".<name>`"
	case len(parts) > 2:
		return "`" + parts[0] + "." + parts[1] + "`"
	case parts[0] == "provider":
		return "`profiles.<name>.provider`"
	default:
		return "`" + parts[0] + "`"
	}
}

// allSpecs are all settings, in the order of the page. Those of a provider have the key that they have in a profile.
func allSpecs() []config.Spec {
	return slices.Concat(config.Specs(), config.ProviderSpecs(), config.NamedSpecs())
}

// setters names who may set a setting besides the operator of the host.
func setters(s config.Spec) string {
	if all := config.ByProject | config.BySession | config.ByToken; s.By&all == all {
		return "all"
	}
	var who []string
	for _, one := range []struct {
		by   config.Setters
		name string
	}{{config.ByProject, "project"}, {config.BySession, "session"}, {config.ByToken, "token"},
		{config.ByGrant, "token with a grant"}} {
		if s.By&one.by != 0 {
			who = append(who, one.name)
		}
	}
	return strings.Join(who, ", ")
}

// values says what a setting takes, in fewer words than an error does.
func values(s config.Spec) string {
	text := strings.NewReplacer("one of: ", "", ", such as 10s or 2m", "", " and at most ", " to ").Replace(s.Want())
	text = strings.TrimPrefix(strings.TrimPrefix(text, "a "), "an ")
	if s.Unit != "" {
		text += " (" + s.Unit + ")"
	}
	return text
}

func defaultOf(s config.Spec) string {
	switch d := s.Default.(type) {
	case nil:
		return s.DefaultText
	case time.Duration:
		text := d.String() // 10m0s, 1m0s
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		return "`" + text + "`"
	default:
		if s.DefaultText != "" {
			return s.DefaultText
		}
		raw, err := json.Marshal(d)
		if err != nil {
			return fmt.Sprint(d)
		}
		if text, err := json.Number(raw).Int64(); err == nil {
			return fmt.Sprintf("`%d`", text)
		}
		if string(raw) == `""` {
			return "empty"
		}
		return "`" + strings.Trim(string(raw), `"`) + "`"
	}
}

func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "*", `\*`).Replace(text)
}

// Variables that the compose file sets for thresh are those of settings.
func TestComposeSetsWhatThereIs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "packaging/compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct{ Environment map[string]string }
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var env []string
	for name, value := range file.Services["thresh"].Environment {
		env = append(env, name+"="+strings.ReplaceAll(value, "/cert/", "/etc/ssl/"))
	}
	if _, err := config.Load(config.Options{Env: env}); err != nil || len(env) < 3 {
		t.Errorf("%q: %v", env, err)
	}
}
