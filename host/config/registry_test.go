package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/host/config"
)

func TestEveryRowOfTheRegistry(t *testing.T) {
	m := newMachine(t)
	c := m.load(m.options())
	env := map[string]string{}
	for _, s := range config.Specs() {
		t.Run(s.Key, func(t *testing.T) {
			if s.Meaning == "" || s.Category == "" || !strings.HasSuffix(s.Meaning, ".") {
				t.Errorf("meaning %q, category %q", s.Meaning, s.Category)
			}
			if s.Default == nil && s.DefaultText == "" {
				t.Error("nothing says what the default is")
			}
			if s.Default != nil {
				got, err := s.Check(s.Default)
				if diff := cmp.Diff(s.Default, got); err != nil || diff != "" {
					t.Errorf("its own default: %v %s", err, diff)
				}
			}
			e := m.explain(c, s.Key)
			if e.Origin.Layer != config.LayerDefault || !cmp.Equal(e.Value, e.Default) {
				t.Errorf("%v from %v on an empty machine, default %v", e.Value, e.Origin, e.Default)
			}
			if other, taken := env[e.Env]; taken {
				t.Errorf("%s stands for %s too", e.Env, other)
			}
			env[e.Env] = s.Key
		})
	}
	if got := env["THRESH_COMPRESSION_DENSITY_READ_WRITE_PRUNING"]; got != "compression.density.readWritePruning" {
		t.Errorf("the variable stands for %q", got)
	}
}

func TestDensitySettingsAreAsRequired(t *testing.T) {
	type row struct {
		Type     config.Type
		Default  any
		Category string
		Persist  bool
	}
	got := map[string]row{}
	for _, s := range config.Specs() {
		got[s.Key] = row{s.Type, s.Default, s.Category, s.PersistToProfile}
	}
	for key, want := range map[string]row{
		"compression.density.readWritePruning": {config.Boolean, true, "cli-behavior", true},
		"compression.density.fileDedupe":       {config.Boolean, true, "cli-behavior", true},
		"compression.density.recencyPruning":   {config.Boolean, false, "cli-behavior", true},
		"compression.density.recencyRetention": {config.Number, 3.0, "cli-behavior", true},
	} {
		if diff := cmp.Diff(want, got[key]); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
}

func TestTheRegistryIsNobodysToChange(t *testing.T) {
	want := config.Keys()
	config.Keys()[0] = "x"
	specs := config.Specs()
	for i := range specs {
		if len(specs[i].Allowed) > 0 {
			specs[i].Allowed[0] = "x"
		}
	}
	if diff := cmp.Diff(want, config.Keys()); diff != "" {
		t.Error(diff)
	}
	for _, s := range config.Specs() {
		if slices.Contains(s.Allowed, "x") {
			t.Errorf("%s allows x", s.Key)
		}
	}
}

func TestExplain(t *testing.T) {
	m := newMachine(t)
	m.write(m.projectFile(), "compression.threshold: 0.5\nstrategies: {b: {k: 1}, a: {k: x}}\n")
	c := m.load(m.options())
	want := config.Explanation{Key: "compression.threshold", Type: config.Number, Value: 0.5,
		Origin:      config.Origin{Layer: config.LayerProjectFile, File: m.projectFile(), Line: 1},
		DefaultText: "the strategy's own", Unit: "share of the context limit",
		Allowed: "a number above 0 and at most 1",
		Meaning: "Compress when the history fills this share of the context limit.",
		Env:     "THRESH_COMPRESSION_THRESHOLD"}
	if diff := cmp.Diff(want, m.explain(c, "compression.threshold")); diff != "" {
		t.Error(diff)
	}

	keysOf := func(keys ...string) []string {
		t.Helper()
		found, err := c.Explain(keys...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range found {
			got = append(got, e.Key)
		}
		return got
	}
	if diff := cmp.Diff(append(config.Keys(), "strategies.a.k", "strategies.b.k"), keysOf()); diff != "" {
		t.Errorf("everything: %s", diff)
	}
	if diff := cmp.Diff([]string{"serve.tls.cert", "serve.tls.key", "strategies.b.k"},
		keysOf("serve.tls", "strategies.b")); diff != "" {
		t.Errorf("groups: %s", diff)
	}

	_, err := c.Explain("log.levle", "profiles.p")
	wantErr := []string{"log.levle: unknown setting; did you mean log.level?", "profiles.p: there is no such profile"}
	if diff := cmp.Diff(wantErr, m.messages(err)); diff != "" {
		t.Error(diff)
	}
}

func TestAStrategysOwnSettings(t *testing.T) {
	declared := []config.Spec{
		{Key: "entries", Type: config.Integer, Default: 50, Min: new(1.0)},
		{Key: "mode", Type: config.String, Allowed: []string{"soft", "hard"}},
		{Key: "label", Type: config.String},
	}
	cases := map[string]struct {
		file    string
		flag    string
		want    map[string]any
		wantErr []string
	}{
		"nothing set":            {want: map[string]any{"entries": 50}},
		"set in a file":          {file: "entries: 7, mode: hard", want: map[string]any{"entries": 7, "mode": "hard"}},
		"text in a flag":         {flag: "entries=7", want: map[string]any{"entries": 7}},
		"text that looks like 7": {flag: "label=007", want: map[string]any{"entries": 50, "label": "007"}},
		"wrong": {file: "entries: 0, moed: hard, mode: harder", wantErr: []string{
			"$WORK/thresh.yaml:1: strategies.keep-last.entries: 0 is not allowed; want an integer of at least 1",
			`$WORK/thresh.yaml:1: strategies.keep-last.mode: "harder" is not allowed; want one of: soft, hard; did ` +
				`you mean hard?`,
			"$WORK/thresh.yaml:1: strategies.keep-last.moed: is not a setting of keep-last; want one of: entries, " +
				"label, mode; did you mean mode?",
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.write(m.projectFile(), "strategies: {keep-last: {"+c.file+"}, other: {x: 1}}")
			o := m.options()
			if c.flag != "" {
				ov, err := config.ParseOverride("strategies.keep-last."+c.flag, "--set")
				if err != nil {
					t.Fatal(err)
				}
				o.Overrides = []config.Override{ov}
			}
			got, err := m.load(o).Strategy("keep-last", declared)
			if c.wantErr != nil {
				if diff := cmp.Diff(c.wantErr, m.messages(err)); diff != "" {
					t.Error(diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
