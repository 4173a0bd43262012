package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/config"
)

func TestRequired(t *testing.T) {
	m := newMachine(t)
	m.write(m.userFile(), `plugins.required:
  keep-last: {source: github.com/acme/keep-last, version: ^1.2, key: RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3}
  near-by: {source: /opt/near-by.tar}
`)
	want := map[string]config.Required{
		"keep-last": {Source: "github.com/acme/keep-last", Version: "^1.2",
			Key: "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"},
		"near-by": {Source: "/opt/near-by.tar"},
	}
	c := m.load(m.options())
	if diff := cmp.Diff(want, c.Settings().Plugins.Required); diff != "" {
		t.Error(diff)
	}
	c.Settings().Plugins.Required["near-by"] = config.Required{}
	if diff := cmp.Diff(want, c.Settings().Plugins.Required); diff != "" {
		t.Error("a copy was not one:", diff)
	}
}

func TestRequiredThatIsNone(t *testing.T) {
	for text, want := range map[string]string{
		"plugins.required.far.version: 1.2.3":                  "plugins.required.far.source: is missing",
		"plugins.required.far: {source: x, version: latest}":   "a version such as 1.2.3",
		"plugins.required.far: {source: x, version: '>1'}":     "a version such as 1.2.3",
		"plugins.required.far: {source: x, key: RWQ}":          "a public key of minisign",
		"plugins.required.far.sorce: x":                        "did you mean plugins.required.far.source?",
		"plugins.required: [far]":                              "a table of settings",
		"plugins.registry: http://example.com":                 "an https:// address",
		"plugins.index: http://example.com/x":                  "an https:// address, or an absolute path",
		"plugins.registryHeader: 'Authorization: Bearer tail'": "the name of an environment variable",
	} {
		m := newMachine(t)
		m.write(m.userFile(), text+"\n")
		if _, err := config.Load(m.options()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", text, err)
		} else if strings.Contains(err.Error(), "tail") {
			t.Errorf("a header is shown: %v", err)
		}
	}
}
