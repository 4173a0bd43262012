package config_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/host/config"
	"pgregory.net/rapid"
)

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	m := newMachine(t)
	m.write(m.projectFile(), "strategies: {a: {k: 1}}\ncompression.threshold: 0.7\n")
	base := m.load(m.options())
	before := base.Settings()
	derived, err := base.WithAll(
		config.Override{Key: "compression.threshold", Value: 0.5},
		config.Override{Key: "strategies.a.k", Value: 2},
		config.Override{Key: "profiles.new.log.level", Value: "info"},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got := derived.Settings(); *got.Compression.Threshold != 0.5 || got.Strategies["a"]["k"] != 2 {
		t.Errorf("derived: %+v", got)
	}
	if diff := cmp.Diff(before, base.Settings()); diff != "" {
		t.Error(diff)
	}
	if len(base.Profiles()) != 0 {
		t.Errorf("the original has profiles %v", base.Profiles())
	}
	back, err := derived.With("compression.threshold", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := *back.Settings().Compression.Threshold; got != 0.7 {
		t.Errorf("after taking it back: %v", got)
	}
}

func TestSettingsAreTheCallersToChange(t *testing.T) {
	m := newMachine(t)
	m.write(m.projectFile(), "strategies: {a: {k: 1}}\ncompression: {threshold: 0.7, density: {tools: [{}]}}\n")
	c := m.load(m.options())
	want, mine := c.Settings(), c.Settings()
	*mine.Compression.Threshold = 0.1
	mine.Compression.Density.ToolPresets[0] = "x"
	mine.Compression.Density.Tools[0] = 'x'
	mine.Plugins.Dirs[0] = "x"
	mine.Strategies["a"]["k"] = "x"
	mine.Strategies["b"] = nil
	if diff := cmp.Diff(want, c.Settings()); diff != "" {
		t.Error(diff)
	}
}

func TestWithReportsEverythingWrong(t *testing.T) {
	m := newMachine(t)
	_, err := m.load(m.options()).WithAll(
		config.Override{Key: "model.contextLimit", Value: 0, Source: "session.open"},
		config.Override{Key: "treshold", Value: 1, Source: "session.open"},
	)
	want := []string{
		"session.open: model.contextLimit: 0 is not allowed; want an integer above 0",
		"session.open: treshold: unknown setting; did you mean compression.threshold?",
	}
	if diff := cmp.Diff(want, m.messages(err)); diff != "" {
		t.Error(diff)
	}
}

// What overrides come to depends on the last value of each key, not on how they were handed over.
func TestOverridesOneByOneOrAtOnce(t *testing.T) {
	m := newMachine(t)
	base := m.load(m.options())
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"log.level", "model.name", "strategies.a.b"})
		value := rapid.SampledFrom([]any{"debug", "info", nil})
		var overrides []config.Override
		last := map[string]any{}
		oneByOne := base
		for range rapid.IntRange(0, 6).Draw(t, "count") {
			ov := config.Override{Key: key.Draw(t, "key"), Value: value.Draw(t, "value")}
			overrides = append(overrides, ov)
			last[ov.Key] = ov.Value
			var err error
			if oneByOne, err = oneByOne.With(ov.Key, ov.Value, ""); err != nil {
				t.Fatal(err)
			}
		}
		atOnce, err := base.WithAll(overrides...)
		if err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(last, func(_ string, v any) bool { return v == nil })
		want := base.Settings()
		for key, v := range last {
			switch key {
			case "log.level":
				want.Log.Level = v.(string)
			case "model.name":
				want.Model.Name = v.(string)
			default:
				want.Strategies = map[string]map[string]any{"a": {"b": v}}
			}
		}
		for name, got := range map[string]*config.Config{"at once": atOnce, "one by one": oneByOne} {
			if diff := cmp.Diff(want, got.Settings()); diff != "" {
				t.Fatalf("%s: %s", name, diff)
			}
		}
	})
}
