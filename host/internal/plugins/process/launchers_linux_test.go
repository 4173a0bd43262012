package process

import (
	"os"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
)

func TestMain(m *testing.M) {
	isolate.Main() // this program is its own launcher, as a host is
	os.Exit(m.Run())
}

func TestALauncherIsReady(t *testing.T) {
	spawner, err := NewSpawner(plugintest.ShortTemp(t))
	if err != nil {
		t.Fatal(err)
	}
	// start runs a program to its end, and returns its process id.
	start := func(s Sandbox) int {
		t.Helper()
		b, err := discover.Open(discover.Candidate{Name: "echo", Path: "/bin/echo"}, &discover.Hashes{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		c := newChild(b, s, hclog.NewNullLogger(), spawner)
		c.prepare(nil, t.TempDir())
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-c.exit.done
		if c.exit.state != "exit status 0" {
			t.Errorf("it ended with %s%s", c.exit.state, c.handshake.printed())
		}
		return c.cmd.Process.Pid
	}
	// ready waits for the next launcher.
	ready := func() (l *launcher) {
		t.Helper()
		spawner.launchers.prepare()
		plugintest.Eventually(t, "a launcher is ready", func() bool {
			spawner.launchers.mu.Lock()
			defer spawner.launchers.mu.Unlock()
			l = spawner.launchers.spare
			return l != nil
		})
		return l
	}
	plain := Sandbox{Apply: []isolate.Measure{isolate.Privileges}}

	spawner.launchers.prepare() // nothing was isolated yet, and may never be
	start(plain)
	if l := ready(); start(plain) != l.cmd.Process.Pid {
		t.Error("another launcher was started, though one was ready")
	}
	if l := ready(); l.cmd.Process.Kill() != nil || start(plain) == l.cmd.Process.Pid {
		t.Error("a launcher became a program after it was killed")
	}
	l := ready()
	if hidden := (Sandbox{Apply: []isolate.Measure{isolate.Privileges, isolate.Paths}}); works(isolate.Paths) &&
		start(hidden) == l.cmd.Process.Pid {
		t.Error("a launcher became a program that needs other namespaces")
	}
	if err := spawner.Close(); err != nil {
		t.Fatal(err)
	}
	if l.cmd.ProcessState == nil {
		t.Error("a launcher is left")
	}
}

// works reports whether this machine can take a measure.
func works(m isolate.Measure) bool {
	for _, c := range isolate.Probe() {
		if c.Measure == m {
			return c.Works
		}
	}
	return false
}
