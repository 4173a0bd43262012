package config_test

import (
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/config"
)

func TestDefaultsAreThoseOfTheRegistry(t *testing.T) {
	s := config.Defaults()
	if s.Plugins.StartTimeout != 10*time.Second || s.Plugins.MaxCrashes != 5 || s.Plugins.Integrity != "tofu" ||
		s.Plugins.Isolation != "best-effort" {
		t.Errorf("got %+v", s.Plugins)
	}
	if len(s.Plugins.Dirs) > 0 || s.Plugins.LockFile != "" || s.Workspace.Root != "" {
		t.Errorf("paths of this machine: %v %q %q", s.Plugins.Dirs, s.Plugins.LockFile, s.Workspace.Root)
	}
}
