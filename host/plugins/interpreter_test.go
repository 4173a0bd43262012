package plugins

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A script whose interpreter lies where isolation lets nothing be read, as those of version managers do in home directories.
func TestAnInterpreterThatIsolationHides(t *testing.T) {
	isolates(t)
	tools := t.TempDir()
	shell := filepath.Join(tools, "bin", "sh")
	if err := os.Mkdir(filepath.Dir(shell), 0o755); err != nil {
		t.Fatal(err)
	}
	install(t, "/bin/sh", shell)
	dir := t.TempDir()
	write(t, dir, FilePrefix+"script", "#!"+shell+"\necho it runs; cat /etc/passwd\n", 0o755)
	for name, test := range map[string]struct {
		o    Options
		says string
	}{
		"hidden":             {Options{}, "isolation keeps " + shell + " from it, which it is run by (permission denied)"},
		"what to do":         {Options{}, "plugins.grants.script.read: [" + tools + "]"},
		"granted":            {Options{Grants: map[string]Grant{"script": {Read: []string{tools}}}}, `it printed ["it runs"]`},
		"granted to another": {Options{Grants: map[string]Grant{"other": {Read: []string{tools}}}}, "isolation keeps"},
		"a grant that leads nowhere": {Options{Grants: map[string]Grant{"script": {Read: []string{tools, tools + "/no"}}}},
			"what it was granted to read: " + tools + "/no: no such file or directory"},
		"not isolated": {Options{Isolation: IsolationOff}, `it printed ["it runs"`},
	} {
		t.Run(name, func(t *testing.T) {
			test.o.Dirs = []string{dir}
			if err := try(t, test.o, "script"); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}

func TestAnInterpreterByWayOfEnv(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, FilePrefix+"script", "#!/usr/bin/env no-such-program\n", 0o755)
	if err := try(t, Options{Dirs: []string{dir}}, "script"); err == nil || !strings.Contains(err.Error(), "PATH, which plugins do not get") {
		t.Errorf("got %v", err)
	}
}

func TestWhatAProgramIsRunBy(t *testing.T) {
	for text, want := range map[string]string{
		"#!/usr/bin/env -S node --x\ncode": "/usr/bin/env", "#! /bin/sh": "/bin/sh", "#!/bin/sh\t-e\n": "/bin/sh", "#!": "",
		"#!/" + strings.Repeat("x", 1000): "/" + strings.Repeat("x", 253),
	} {
		if got := firstWord(shebang(strings.NewReader(text))); got != want {
			t.Errorf("%.30q: %q", text, got)
		}
	}
	if got := loader(strings.NewReader("\x7fELF but not really")); got != "" {
		t.Errorf("of no program: %q", got)
	}
	if runtime.GOOS != "linux" {
		return
	}
	f, err := os.Open("/bin/sh")
	if err != nil {
		t.Skip("SKIPPED:", err)
	}
	defer f.Close()
	if got := loader(f); got != "" && !filepath.IsAbs(got) { // "": it is linked statically
		t.Errorf("of a program: %q", got)
	}
}

func TestWhatIsSuggestedToBeGranted(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for program, want := range map[string]string{
		home + "/.nvm/versions/node/v20/bin/node": home + "/.nvm/versions/node/v20",
		home + "/bin/node":                        home + "/bin/node",
		"/opt/bin/node":                           "/opt/bin/node",
		"/opt/node/node":                          "/opt/node/node",
	} {
		if got := surroundings(program); got != want {
			t.Errorf("%s: %s", program, got)
		}
	}
}
