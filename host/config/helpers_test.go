package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
)

// machine is a user's machine with nothing on it but what a test puts there.
type machine struct {
	t          testing.TB
	home, work string
}

func newMachine(t testing.TB) machine {
	t.Helper()
	root := t.TempDir()
	m := machine{t: t, home: filepath.Join(root, "home"), work: filepath.Join(root, "work")}
	for _, dir := range []string{m.home, m.work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m machine) userFile() string    { return filepath.Join(m.home, ".config", "thresh", "thresh.yaml") }
func (m machine) projectFile() string { return filepath.Join(m.work, "thresh.yaml") }

func (m machine) write(path, text string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// options are those of a program started in the working directory.
func (m machine) options(env ...string) config.Options {
	return config.Options{WorkDir: m.work, Env: append([]string{"HOME=" + m.home}, env...)}
}

func (m machine) load(o config.Options) *config.Config {
	m.t.Helper()
	c, err := config.Load(o)
	if err != nil {
		m.t.Fatal(err)
	}
	return c
}

// messages returns the lines of an error with the machine's directories made short.
func (m machine) messages(err error) []string {
	m.t.Helper()
	if err == nil {
		m.t.Fatal("no error")
	}
	if e := (*config.Error)(nil); !errors.As(err, &e) {
		m.t.Errorf("no *config.Error in %v", err)
	}
	return strings.Split(strings.NewReplacer(m.home, "~", m.work, "$WORK").Replace(err.Error()), "\n")
}

func (m machine) explain(c *config.Config, key string) config.Explanation {
	m.t.Helper()
	found, err := c.Explain(key)
	if err != nil {
		m.t.Fatal(err)
	}
	if len(found) != 1 {
		m.t.Fatalf("%s: %d explanations", key, len(found))
	}
	return found[0]
}

// flag is an override as the command line makes it.
func flag(key string, value any) config.Override {
	return config.Override{Key: key, Value: value, Source: "--set"}
}
