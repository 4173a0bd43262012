package config_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/host/config"
)

// Whatever is in a file, it is either taken or refused with errors that name the file.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"", "a", "[", "compression: {threshold: 0.5}", "? [a]\n: 1", "a: &a [*a]", "<<: {}",
		"profiles: {p: {strategies: {a: {b: 1}}}}\nprofile: p",
		"compression.density.tools: [{a: !!int x, b: 0o7, c: .inf, ~: 1}]", "plugins: {dirs: [a, ~], startTimeout: " +
			"1h}", "--- 1\n--- 2",
		"model.contextLimit: 0x7fffffffffffffff", "log.level: !!bool maybe", "workspace.root: \"\\0\"", "!!merge x: 1",
		"%YAML 9.9\n---\na: b",
	} {
		f.Add(seed)
	}
	m := newMachine(f)
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(m.projectFile(), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(m.options())
		if err != nil {
			if e := (*config.Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), m.projectFile()) {
				t.Fatalf("an error that does not name the file: %v", err)
			}
			return
		}
		if _, err := c.Explain(); err != nil {
			t.Fatal(err)
		}
		again, err := c.WithAll()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Settings(), again.Settings()); diff != "" {
			t.Fatal(diff)
		}
	})
}
