package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/config"
)

func TestGrants(t *testing.T) {
	m := newMachine(t)
	m.write(m.userFile(), "plugins:\n  grants:\n    far-away: {network: true}\n    near-by: {processes: true, read: "+
		"[~/.nvm, tools]}\n")
	want := map[string]config.Grant{
		"far-away": {Network: true},
		"near-by": {Processes: true, Read: []string{filepath.Join(m.home, ".nvm"),
			filepath.Join(filepath.Dir(m.userFile()), "tools")}},
	}
	c := m.load(m.options())
	if diff := cmp.Diff(want, c.Settings().Plugins.Grants); diff != "" {
		t.Error(diff)
	}
	c.Settings().Plugins.Grants["near-by"].Read[0] = "/"
	c.Settings().Plugins.Grants["far-away"] = config.Grant{}
	if diff := cmp.Diff(want, c.Settings().Plugins.Grants); diff != "" {
		t.Error("a copy was not one:", diff)
	}
}

func TestGrantsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"plugins.grants.far-away.netwrok: true": "did you mean plugins.grants.far-away.network?",
		"plugins.grants.far-away.files: []":     "there are network, processes, read",
		"plugins.grants.far-away.read: /opt":    "a list of paths",
		"plugins.grants.Far.network: true":      "lower-case letters",
		"plugins.grants.far.network: some":      "true or false",
		"plugins.grants.far: true":              "a table of settings",
	} {
		m := newMachine(t)
		m.write(m.userFile(), text+"\n")
		if _, err := config.Load(m.options()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
