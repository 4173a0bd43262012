package plugins

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
)

// A script whose interpreter lies where isolation lets nothing be read, as those of version managers do in home
// directories.
func TestAnInterpreterThatIsolationHides(t *testing.T) {
	t.Parallel()
	isolates(t)
	tools := t.TempDir()
	shell := filepath.Join(tools, "bin", "sh")
	if err := os.Mkdir(filepath.Dir(shell), 0o755); err != nil {
		t.Fatal(err)
	}
	plugintest.Install(t, "/bin/sh", shell)
	dir := t.TempDir()
	plugintest.Write(t, dir, FilePrefix+"script", "#!"+shell+"\necho it runs; cat /etc/passwd\n", 0o755)
	for name, test := range map[string]struct {
		o    Options
		says string
	}{
		"hidden":             {Options{}, "isolation keeps " + shell + " from it, which it is run by ("},
		"what to do":         {Options{}, "plugins.grants.script.read: [" + tools + "]"},
		"granted":            {Options{Plugins: config.Plugins{Grants: map[string]config.Grant{"script": {Read: []string{tools}}}}}, `it printed ["it runs"]`},
		"granted to another": {Options{Plugins: config.Plugins{Grants: map[string]config.Grant{"other": {Read: []string{tools}}}}}, "isolation keeps"},
		"a grant that " +
			"leads nowhere": {Options{Plugins: config.Plugins{Grants: map[string]config.Grant{"script": {Read: []string{tools, tools + "/no"}}}}},
			"what it was granted to read: " + tools + "/no: no such file or directory"},
		"not isolated": {Options{Plugins: config.Plugins{Isolation: process.IsolationOff}}, `it printed ["it runs"`},
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
	t.Parallel()
	dir := t.TempDir()
	plugintest.Write(t, dir, FilePrefix+"script", "#!/usr/bin/env no-such-program\n", 0o755)
	if err := try(t, Options{Plugins: config.Plugins{Dirs: []string{dir}}}, "script"); err == nil ||
		!strings.Contains(err.Error(), "PATH, which plugins do not get") {
		t.Errorf("got %v", err)
	}
}
