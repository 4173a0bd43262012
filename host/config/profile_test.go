package config_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/host/config"
)

const twoProfiles = `
profile: small
profiles:
  small:
    model: {name: tiny, contextLimit: 8000}
    strategies: {keep-last: {entries: 5}}
  large:
    model.contextLimit: 1000000
  empty:
model.name: plain
`

func TestProfiles(t *testing.T) {
	m := newMachine(t)
	m.write(m.projectFile(), twoProfiles)
	small := m.load(m.options())
	if diff := cmp.Diff([]string{"empty", "large", "small"}, small.Profiles()); diff != "" {
		t.Error(diff)
	}
	type picked struct {
		Profile, Name string
		Limit         int
	}
	pick := func(c *config.Config) picked {
		s := c.Settings()
		return picked{s.Profile, s.Model.Name, s.Model.ContextLimit}
	}
	if diff := cmp.Diff(picked{"small", "tiny", 8000}, pick(small)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]map[string]any{"keep-last": {"entries": 5}},
		small.Settings().Strategies); diff != "" {
		t.Error(diff)
	}

	large, err := small.With("profile", "large", "session.set")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(picked{"large", "plain", 1000000}, pick(large)); diff != "" {
		t.Errorf("another profile by session: %s", diff)
	}
	o := m.options("THRESH_PROFILE=large")
	o.Profile = "empty"
	if diff := cmp.Diff(picked{"empty", "plain", 200000}, pick(m.load(o))); diff != "" {
		t.Errorf("another profile by option: %s", diff)
	}
}

func TestAProfileIsGatheredFromAllLayers(t *testing.T) {
	m := newMachine(t)
	m.write(m.userFile(), "profiles: {p: {model.name: from-user, log.level: info}}\n")
	m.write(m.projectFile(), "profile: p\nlog.level: error\nprofiles: {p: {model.name: from-project}}\n")
	c := m.load(m.options())
	if s := c.Settings(); s.Model.Name != "from-project" || s.Log.Level != "info" {
		t.Errorf("got %q and %q", s.Model.Name, s.Log.Level)
	}
	found, err := c.Explain("profiles.p")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, e := range found {
		keys = append(keys, e.Key)
	}
	if want := []string{"profiles.p.log.level", "profiles.p.model.name"}; !slices.Equal(keys, want) {
		t.Errorf("explained %v", keys)
	}
}
