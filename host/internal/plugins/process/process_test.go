package process

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
)

// What is run is what was opened and hashed, though another file has its name by now.
func TestTheOpenedFileIsRun(t *testing.T) {
	for kind, text := range map[string]string{"script": "#!/bin/sh\necho original\n", "program": ""} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, discover.FilePrefix+"swapped")
			if kind == "script" {
				plugintest.Write(t, dir, discover.FilePrefix+"swapped", text, 0o755)
			} else {
				plugintest.Install(t, "/bin/echo", path)
			}
			spawner, err := NewSpawner(plugintest.ShortTemp(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = spawner.Close() })
			b, err := discover.Open(discover.Candidate{Name: "swapped", Path: path}, &discover.Hashes{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.Close)
			impostor := plugintest.Write(t, t.TempDir(), "impostor", "#!/bin/sh\necho impostor; exit 9\n", 0o755)
			if err := os.Rename(impostor, path); err != nil {
				t.Fatal(err)
			}
			c := newChild(b, Sandbox{}, hclog.NewNullLogger(), spawner)
			c.prepare(nil, dir)
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-c.exit.done
			if c.exit.state != "exit status 0" {
				t.Errorf("it ended with %s%s", c.exit.state, c.handshake.printed())
			}
		})
	}
}
