package binaries

import (
	"os"
	"path/filepath"
	"testing"
)

// Programs are built again when anything that they may be made of has changed, and not for what tests leave behind.
func TestWhatIsBuiltAgain(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"HOME=/h", "GOFLAGS=-trimpath"}
	state := func() string {
		s, err := stateOf(root, env)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	write("a/a.go", "package a")
	write("bin/thresh", "program")
	last := state()
	for name, tc := range map[string]struct {
		change func()
		again  bool
	}{
		"nothing":             {func() {}, false},
		"another directory":   {func() { env[0] = "HOME=/other" }, false},
		"a program":           {func() { write("bin/thresh", "another program"); write(".bin/x", "x") }, false},
		"a new file":          {func() { write("a/b.yaml", "x: 1") }, true},
		"a file that changed": {func() { write("a/a.go", "package a // more") }, true},
		"a file that is gone": {func() { _ = os.Remove(filepath.Join(root, "a", "b.yaml")); write("c.go", "x") }, true},
		"other flags":         {func() { env[1] += " -race" }, true},
	} {
		tc.change()
		now := state()
		if (now != last) != tc.again {
			t.Errorf("%s: built again: %v", name, now != last)
		}
		last = now
	}
}
