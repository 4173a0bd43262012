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

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/config"
)

const (
	begin = "<!-- settings: written by 'make docs' from the registry in host/config -->"
	end   = "<!-- end of settings -->"
)

// TestConfigurationIsCurrent holds the table of settings to the registry.
func TestConfigurationIsCurrent(t *testing.T) {
	path := filepath.Join(root, "docs", "configuration.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin+"\n")
	old, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("no %s … %s", begin, end)
	}
	current := settingsTables()
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+"\n"+current+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(current, "\n"), strings.Split(old, "\n")); diff != "" {
		t.Errorf("not the registry ('make docs' writes it):\n%s", diff)
	}
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
