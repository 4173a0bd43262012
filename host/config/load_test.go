package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/host/config"
)

// The registry has the defaults. Those that depend on the machine, and what "not set" is in Go, are here.
func TestDefaultsOfAnEmptyMachine(t *testing.T) {
	m := newMachine(t)
	set := m.load(m.options()).Settings()
	if set.Compression.Threshold != nil || set.Strategies != nil || set.Plugins.Grants != nil {
		t.Errorf("set without a setting: %+v", set)
	}
	got := []string{set.Workspace.Root, set.Plugins.Dirs[0], set.Plugins.LockFile, set.Serve.TokenFile}
	want := []string{m.work, filepath.Join(m.home, ".local/share/thresh/plugins"),
		filepath.Join(m.home, ".local/state/thresh/plugins.lock"), filepath.Join(m.home, ".local/state/thresh/token")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestALaterLayerWins(t *testing.T) {
	m := newMachine(t)
	const key = "model.name"
	m.write(m.userFile(), "profiles:\n  p: {model: {contextLimit: 5}}\n")
	m.write(m.projectFile(), "profile: p\n")
	o := m.options()

	// Each step adds a layer above those of the steps before it.
	steps := []struct {
		layer string
		add   func()
	}{
		{"default", func() {}},
		{"user file ~/.config/thresh/thresh.yaml:4", func() {
			m.write(m.userFile(), "profiles:\n  p: {model: {contextLimit: 5}}\nmodel:\n  name: user file\n")
		}},
		{"project file $WORK/thresh.yaml:2",
			func() { m.write(m.projectFile(), "profile: p\nmodel.name: project file\n") }},
		{"profile p ~/.config/thresh/thresh.yaml:2", func() {
			m.write(m.userFile(), "profiles:\n  p: {model.name: profile}\nmodel:\n  name: user file\n")
		}},
		{"environment THRESH_MODEL_NAME", func() { o.Env = append(o.Env, "THRESH_MODEL_NAME=environment") }},
		{"flag --set", func() { o.Overrides = append(o.Overrides, flag(key, "flag")) }},
	}
	for _, step := range steps {
		step.add()
		c := m.load(o)
		e := m.explain(c, key)
		if got := m.messages(&config.Error{Problem: e.Origin.String()})[0]; got != step.layer {
			t.Errorf("origin %q, want %q", got, step.layer)
		}
		want := string(e.Origin.Layer)
		if want == "default" {
			want = ""
		}
		if got := c.Settings().Model.Name; got != want || e.Value != want {
			t.Errorf("%s: name %q, explained as %q", step.layer, got, e.Value)
		}
	}

	c, err := m.load(o).With(key, "session", "session.set")
	if err != nil {
		t.Fatal(err)
	}
	if e := m.explain(c, key); e.Value != "session" || e.Origin.String() != "session session.set" {
		t.Errorf("session override: %v from %v", e.Value, e.Origin)
	}
}

func TestAConfigFileStandsInForTheFilesThatAreLookedUp(t *testing.T) {
	m := newMachine(t)
	m.write(m.userFile(), "model.name: user\nlog.level: error\n")
	m.write(m.projectFile(), "model.name: project\n")
	m.write(filepath.Join(m.work, "sub", "other.yaml"), "model.encoding: cl100k_base\n")
	o := m.options()
	o.ConfigFile = "sub/other.yaml"
	c := m.load(o)
	got := c.Settings()
	if got.Model.Name != "" || got.Log.Level != "warn" || got.Model.Encoding != "cl100k_base" {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff([]string{filepath.Join(m.work, "sub", "other.yaml")}, c.Files()); diff != "" {
		t.Error(diff)
	}
	if layer := m.explain(c, "model.encoding").Origin.Layer; layer != config.LayerConfigFile {
		t.Errorf("layer %q", layer)
	}
}

func TestTheUserFileFollowsXDG(t *testing.T) {
	m := newMachine(t)
	dir := filepath.Join(m.home, "elsewhere")
	m.write(filepath.Join(dir, "thresh", "thresh.yaml"), "model.name: xdg\n")
	m.write(m.userFile(), "model.name: home\n")
	if got := m.load(m.options("XDG_CONFIG_HOME=" + dir)).Settings().Model.Name; got != "xdg" {
		t.Errorf("with XDG_CONFIG_HOME: %q", got)
	}
	if got := m.load(m.options("XDG_CONFIG_HOME=not/absolute")).Settings().Model.Name; got != "home" {
		t.Errorf("with a relative XDG_CONFIG_HOME: %q", got)
	}
}

func TestValuesAsTheyMayBeWritten(t *testing.T) {
	cases := map[string]struct {
		file      string
		env       []string
		overrides []config.Override
		key       string
		want      any
	}{
		"an integer with underscores": {file: "model.contextLimit: 128_000", key: "model.contextLimit",
			want: 128000},
		"an integer written as a float": {file: "model.contextLimit: 1e5", key: "model.contextLimit",
			want: 100000},
		"a whole number for a number": {file: "compression.threshold: 1", key: "compression.threshold",
			want: 1.0},
		"a JSON number for an integer": {overrides: []config.Override{flag("model.contextLimit", 5000.0)},
			key: "model.contextLimit", want: 5000},
		"a number as text in a flag": {overrides: []config.Override{flag("compression.threshold", "0.5")},
			key: "compression.threshold", want: 0.5},
		"a truth value as text": {env: []string{"THRESH_COMPRESSION_DENSITY_READ_WRITE_PRUNING=false"},
			key: "compression.density.readWritePruning", want: false},
		"a negative retention": {file: "compression.density.recencyRetention: -2",
			key: "compression.density.recencyRetention", want: -2.0},
		"a duration": {env: []string{"THRESH_SERVE_DRAIN=1m30s"}, key: "serve.drain", want: "1m30s"},
		"a typed duration": {overrides: []config.Override{flag("plugins.startTimeout", time.Minute)},
			key: "plugins.startTimeout", want: "1m0s"},
		"text that looks like a date": {file: "model.name: 2025-01-01", key: "model.name", want: "2025-01-01"},
		"a list in a file": {file: "compression.density.toolPresets:\n- codex\n- llxprt",
			key: "compression.density.toolPresets", want: []string{"codex", "llxprt"}},
		"a list with commas": {overrides: []config.Override{flag("compression.density.toolPresets",
			"codex, llxprt")}, key: "compression.density.toolPresets", want: []string{"codex", "llxprt"}},
		"a list as JSON text": {overrides: []config.Override{flag("compression.density.toolPresets",
			`["codex"]`)}, key: "compression.density.toolPresets", want: []string{"codex"}},
		"a list as JSON decodes it": {overrides: []config.Override{flag("compression.density.toolPresets",
			[]any{"codex"})}, key: "compression.density.toolPresets", want: []string{"codex"}},
		"no presets at all": {overrides: []config.Override{flag("compression.density.toolPresets",
			"")}, key: "compression.density.toolPresets", want: []string{}},
		"an empty variable sets nothing": {env: []string{"THRESH_COMPRESSION_THRESHOLD="},
			key: "compression.threshold", want: nil},
		"null in a file sets nothing": {file: "compression:\n  threshold: null\nmodel:\n",
			key: "compression.threshold", want: nil},
		"nil takes back an earlier flag": {overrides: []config.Override{flag("log.level", "info"),
			flag("log.level", nil)}, key: "log.level", want: "warn"},
		"the later of two flags": {overrides: []config.Override{flag("log.level", "info"),
			flag("log.level", "debug")}, key: "log.level", want: "debug"},
		"a strategy's setting in a file": {file: "strategies: {keep-last: {entries: 50}}",
			key: "strategies.keep-last.entries", want: 50},
		"a strategy's setting in a flag": {overrides: []config.Override{flag("strategies.keep-last.entries",
			"50")}, key: "strategies.keep-last.entries", want: "50"},
		"a strategy's fraction": {file: "strategies.a.share: 0.5", key: "strategies.a.share", want: 0.5},
		"a number that JSON left as it was": {overrides: []config.Override{flag("model.contextLimit",
			json.Number("9000"))}, key: "model.contextLimit", want: 9000},
		"rules as JSON decodes them": {overrides: []config.Override{flag("compression.density.tools",
			[]any{map[string]any{"name": "a"}})}, key: "compression.density.tools",
			want: json.RawMessage(`[{"name":"a"}]`)},
		"a flag for a profile": {overrides: []config.Override{flag("profiles.p.log.level", "info"),
			flag("profile", "p")}, key: "log.level", want: "info"},
		"what passes between host and plugin": {env: []string{"THRESH_STRATEGY_PLUGIN=x", "THRESH_LIFELINE_FD=3",
			"THRESHOLD=1"}, key: "log.level", want: "warn"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.write(m.projectFile(), c.file)
			o := m.options(c.env...)
			o.Overrides = c.overrides
			if diff := cmp.Diff(c.want, m.explain(m.load(o), c.key).Value); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNullLeavesTheLayerBelow(t *testing.T) {
	m := newMachine(t)
	m.write(m.userFile(), "log.level: info\n")
	m.write(m.projectFile(), "log:\n  level: ~\n")
	if got := m.load(m.options()).Settings().Log.Level; got != "info" {
		t.Errorf("level %q", got)
	}
}

func TestRelativePathsStandAgainstWhatHoldsThem(t *testing.T) {
	m := newMachine(t)
	m.write(m.userFile(), "workspace.root: mine\nplugins.dirs: [strategies, ~/more, /abs/../abs]\n")
	userDir := filepath.Dir(m.userFile())
	abs := m.load(m.options()).Settings()
	if want := filepath.Join(userDir, "mine"); abs.Workspace.Root != want {
		t.Errorf("root %q, want %q", abs.Workspace.Root, want)
	}
	want := []string{filepath.Join(userDir, "strategies"), filepath.Join(m.home, "more"), "/abs"}
	if diff := cmp.Diff(want, abs.Plugins.Dirs); diff != "" {
		t.Error(diff)
	}

	list := "a" + string(os.PathListSeparator) + "/b"
	o := m.options("THRESH_PLUGINS_DIRS=" + list)
	o.Overrides = []config.Override{flag("workspace.root", "here")}
	got := m.load(o).Settings()
	if diff := cmp.Diff([]string{filepath.Join(m.work, "a"), "/b"}, got.Plugins.Dirs); diff != "" {
		t.Error(diff)
	}
	if want := filepath.Join(m.work, "here"); got.Workspace.Root != want {
		t.Errorf("root %q, want %q", got.Workspace.Root, want)
	}
	o.Overrides[0].Value = ""
	if got := m.load(o).Settings().Workspace.Root; got != m.work {
		t.Errorf("an empty root is %q, want the working directory", got)
	}
}

func TestTaxonomyRulesAreKeptAsJSON(t *testing.T) {
	m := newMachine(t)
	m.write(m.projectFile(), "compression.density.tools:\n- {name: edit, z: 1, a: [null, true, 12345678901234567890, "+
		"0x10]}\n- {}\n")
	got := string(m.load(m.options()).Settings().Compression.Density.Tools)
	if want := `[{"a":[null,true,12345678901234567890,16],"name":"edit","z":1},{}]`; got != want {
		t.Errorf("got %s", got)
	}
	o := m.options()
	o.Overrides = []config.Override{flag("compression.density.tools", `[{"name":"b"}]`)}
	if got := string(m.load(o).Settings().Compression.Density.Tools); got != `[{"name":"b"}]` {
		t.Errorf("as text: %s", got)
	}
}

func TestTheStoreOfSessions(t *testing.T) {
	m := newMachine(t)
	for value, want := range map[string]string{
		"sqlite":                        "sqlite:" + filepath.Join(m.home, ".local/state/thresh/sessions.db"),
		"sqlite:sessions.db":            "sqlite:" + filepath.Join(m.work, "sessions.db"),
		"sqlite:/var/s.db":              "sqlite:/var/s.db",
		"postgres://a:secret@db/thresh": "postgres://a:secret@db/thresh",
	} {
		o := m.options()
		o.Overrides = []config.Override{{Key: "sessions.store", Value: value, Source: "--set"}}
		c := m.load(o)
		if got := c.Settings().Sessions.Store; got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
		if shown := m.explain(c, "sessions.store").Value.(string); strings.Contains(shown, "secret") {
			t.Errorf("the password is shown: %s", shown)
		}
	}
	for _, value := range []string{"mysql://a@b/c", "sqlite:", "sqlight", "postgres://"} {
		o := m.options()
		o.Overrides = []config.Override{{Key: "sessions.store", Value: value, Source: "--set"}}
		if _, err := config.Load(o); err == nil || !strings.Contains(err.Error(), "sqlite:PATH") {
			t.Errorf("%s: %v", value, err)
		}
	}
}
