// Package buildinfo says which build of thresh this is. 'thresh --version' prints it, plugins are told the version when
// they are started, and reports and metrics carry it.
//
// A release build stamps it:
//
//	go build -ldflags "-X github.com/thresh-dev/thresh/internal/buildinfo.version=v1.2.3
//		-X github.com/thresh-dev/thresh/internal/buildinfo.commit=0123abc" ./host/cmd/thresh
//
// Without stamps it uses what the Go toolchain recorded. That covers 'go install …@v1.2.3', builds from a git checkout,
// and programs that embed the host as a module dependency.
package buildinfo

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// version and commit are stamped by the build (-ldflags -X).
var version, commit string

const module = "github.com/thresh-dev/thresh"

const development = "(devel)"

type Info struct {
	// Version is such as "v1.2.3"; "(devel)" if it is not known.
	Version string `json:"version"`
	// Commit is "" if it is not known. It ends in "+dirty" if the toolchain saw uncommitted changes.
	Commit string `json:"commit,omitempty"`
	// Go is the version of the toolchain, such as "go1.26.0".
	Go string `json:"go"`
}

var Get = sync.OnceValue(func() Info {
	info, _ := debug.ReadBuildInfo()
	return describe(version, commit, info)
})

func Version() string { return Get().Version }

// describe combines the stamps with what the toolchain recorded. Stamps take precedence.
func describe(version, commit string, recorded *debug.BuildInfo) Info {
	out := Info{Version: version, Commit: commit, Go: runtime.Version()}
	if recorded == nil {
		recorded = &debug.BuildInfo{}
	}
	if out.Version == "" {
		out.Version = recordedVersion(recorded)
	}
	if out.Commit == "" && recorded.Main.Path == module {
		out.Commit = recordedCommit(recorded)
	}
	return out
}

func recordedVersion(info *debug.BuildInfo) string {
	if info.Main.Path == module && info.Main.Version != "" {
		return info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return development
}

func recordedCommit(info *debug.BuildInfo) string {
	var revision, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}
