// Package buildinfo says which build of thresh this is. 'thresh version' prints it, plugins are told the version when
// they are started, and reports and metrics carry it.
//
// A release build stamps the version and the commit:
//
//	go build -ldflags "-X github.com/thresh-dev/thresh/internal/buildinfo.version=v1.2.3
//		-X github.com/thresh-dev/thresh/internal/buildinfo.commit=0123abc" ./host/cmd/thresh
//
// Without stamps the package falls back on what the Go toolchain recorded. That covers 'go install …@v1.2.3', builds
// from a git checkout, and programs that embed the host as a module dependency.
package buildinfo

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// version and commit are stamped by the build (-ldflags -X); "" if they were not.
var version, commit string

const module = "github.com/thresh-dev/thresh"

// development is the version of a build that nothing is known about.
const development = "(devel)"

// Info describes a build.
type Info struct {
	// Version is a version such as "v1.2.3"; "(devel)" if it is not known.
	Version string `json:"version"`
	// Commit is the git commit; "" if it is not known. It ends in "+dirty" if the toolchain saw uncommitted changes.
	Commit string `json:"commit,omitempty"`
	// Go is the version of the Go toolchain, such as "go1.26.0".
	Go string `json:"go"`
}

// Get returns the description of this build.
var Get = sync.OnceValue(func() Info {
	info, _ := debug.ReadBuildInfo()
	return describe(version, commit, info)
})

// Version returns the version of this build: [Info.Version].
func Version() string { return Get().Version }

// describe combines the stamps with what the toolchain recorded, which may be nil. Stamps take precedence.
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

// recordedVersion is the version of this module, whether it is the program or a dependency of one.
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

// recordedCommit is the commit of the checkout that the program was built in; "" if it was not built in one.
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
