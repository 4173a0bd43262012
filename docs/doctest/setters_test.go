package doctest

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
)

// refusal is what every error of a setting says that someone may not set.
var refusal = regexp.MustCompile(`cannot be set (in|with)|cannot be changed for one session|is not granted`)

// door is a way in for settings: set tries to set one.
type door struct {
	name string
	set  func(t *testing.T, key string, value any) error
	// may says what the page's column means for this door, and for a key in a profile.
	may func(column []string, inProfile bool) bool
}

// TestWhoMaySetEachSetting tries every setting at every door, in a profile too, and compares with the page.
func TestWhoMaySetEachSetting(t *testing.T) {
	columns := setByColumn(t)
	for _, d := range doors(t) {
		t.Run(d.name, func(t *testing.T) {
			for _, s := range allSpecs() {
				column, ok := columns[s.Key]
				if !ok {
					t.Errorf("%s is not in the page", s.Key)
				}
				for _, key := range keysOf(s) {
					err := d.set(t, key, sampleOf(s))
					if err != nil && strings.Contains(err.Error(), "unknown setting") {
						t.Errorf("%s: %v", key, err)
					}
					may := d.may(column, strings.HasPrefix(key, "profiles."))
					if refused := err != nil && refusal.MatchString(err.Error()); refused == may {
						t.Errorf("%s: the page says %t, it got: %v", key, may, err)
					}
				}
			}
		})
	}
}

// setByColumn reads who else may set each setting from the page.
func setByColumn(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if key, ok := strings.CutPrefix(cells[0], "| `"); ok && len(cells) >= 5 {
			last := strings.TrimSuffix(cells[len(cells)-1], "|")
			last = strings.ReplaceAll(last, "all", "project, session, token")
			columns[strings.TrimSuffix(key, "`")] = strings.Split(strings.TrimSpace(last), ", ")
		}
	}
	return columns
}

// keysOf are the keys by which a setting can be set.
func keysOf(s config.Spec) []string {
	key := strings.NewReplacer("<name>", "some-name", "<key>", "some").Replace(s.Key)
	if strings.HasPrefix(key, "provider.") {
		return []string{"profiles.p." + key}
	}
	if s.PersistToProfile {
		return []string{key, "profiles.p." + key}
	}
	return []string{key}
}

// sampleOf is a value of the right type.
func sampleOf(s config.Spec) any {
	if d, ok := s.Default.(time.Duration); ok {
		return d.String()
	}
	if s.Default != nil {
		return s.Default
	}
	if len(s.Allowed) > 0 {
		return s.Allowed[0]
	}
	switch s.Type {
	case config.Integer, config.Number:
		return 1
	case config.Paths, config.Objects:
		return []any{}
	case config.EnvName:
		return "SOME_NAME"
	case config.URL:
		return "https://example.com"
	}
	return "some"
}

func doors(t *testing.T) []door {
	always := func([]string, bool) bool { return true }
	named := func(name string) func([]string, bool) bool {
		return func(column []string, inProfile bool) bool {
			for _, who := range column {
				if who == name && (name != "token" || !inProfile) {
					return true
				}
			}
			return false
		}
	}
	load := func(t *testing.T, file string, key string, value any, o config.Options) error {
		home := t.TempDir()
		o.WorkDir = filepath.Join(home, "project")
		o.Env = append(o.Env, "HOME="+home)
		raw, err := json.Marshal(map[string]any{key: value})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(home, file)
		for _, dir := range []string{filepath.Dir(path), o.WorkDir} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = config.Load(o)
		return err
	}
	all := []door{
		{"the user's file", func(t *testing.T, key string, value any) error {
			return load(t, ".config/thresh/thresh.yaml", key, value, config.Options{})
		}, always},
		{"a project's file", func(t *testing.T, key string, value any) error {
			return load(t, "project/thresh.yaml", key, value, config.Options{})
		}, named("project")},
		{"a flag", func(t *testing.T, key string, value any) error {
			return load(t, "elsewhere", key, value, config.Options{
				Overrides: []config.Override{{Key: key, Value: value, Source: "--set"}}})
		}, always},
		{"the environment", func(t *testing.T, key string, value any) error {
			c, err := config.Load(config.Options{WorkDir: t.TempDir(), Env: []string{}})
			if err != nil {
				t.Fatal(err)
			}
			e, err := c.Explain(key)
			if err != nil || e[0].Env == "" { // in profiles and below names there are no variables
				return nil
			}
			text, isText := value.(string)
			if raw, err := json.Marshal(value); err == nil && !isText {
				text = string(raw)
			}
			return load(t, "elsewhere", key, value, config.Options{Env: []string{e[0].Env + "=" + text}})
		}, always},
	}
	c, err := config.Load(config.Options{WorkDir: t.TempDir(), Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.Open(host.Options{Config: c, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	for _, of := range []struct{ door, owner, column string }{
		{"a session", "", "session"}, {"a session of a token", "alice", "token"},
	} {
		all = append(all, door{of.door + ": when it is opened", func(t *testing.T, key string, value any) error {
			s, err := h.Open(t.Context(), api.OpenRequest{Owner: of.owner, Settings: map[string]any{key: value}})
			if err == nil {
				err = s.Close(t.Context())
			}
			return err
		}, named(of.column)}, door{of.door + ": later", func(t *testing.T, key string, value any) error {
			s, err := h.Open(t.Context(), api.OpenRequest{Owner: of.owner})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(t.Context())
			return s.Set(t.Context(), api.SetRequest{Key: key, Value: value})
		}, named(of.column)})
	}
	return all
}
