package buildinfo

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestDescribe(t *testing.T) {
	checkout := &debug.BuildInfo{Main: debug.Module{Path: module, Version: "(devel)"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"},
	}}
	dependency := &debug.BuildInfo{Main: debug.Module{Path: "example.com/agent", Version: "v9.0.0"},
		Deps:     []*debug.Module{{Path: "example.com/other", Version: "v8.0.0"}, {Path: module, Version: "v1.2.3"}},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "of the agent"}}}
	for name, c := range map[string]struct {
		version, commit string
		recorded        *debug.BuildInfo
		want            Info
	}{
		"stamps win":   {"v2.0.0", "def", checkout, Info{Version: "v2.0.0", Commit: "def"}},
		"a checkout":   {"", "", checkout, Info{Version: "(devel)", Commit: "abc+dirty"}},
		"a dependency": {"", "", dependency, Info{Version: "v1.2.3"}},
		"go install at version": {"", "", &debug.BuildInfo{Main: debug.Module{Path: module, Version: "v1.2.3"}},
			Info{Version: "v1.2.3"}},
		"nothing is known": {"", "", nil, Info{Version: "(devel)"}},
	} {
		c.want.Go = runtime.Version()
		if got := describe(c.version, c.commit, c.recorded); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
