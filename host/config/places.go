package config

import (
	"os"
	"path/filepath"
	"strings"
)

// Paths: the directories that defaults depend on, and how relative paths become absolute. After loading, every path
// in [Settings] is absolute, so that a later change of the working directory has no effect.

// places are the directories of this machine and user that settings depend on. All are absolute, or "" if unknown.
type places struct {
	workDir, execDir, home, configHome, dataHome, stateHome string
}

// newPlaces determines the directories from options and environment, by the XDG base directory specification.
func newPlaces(o Options) (places, error) {
	var p places
	var err error
	// Abs of "" is the working directory; it fails if that was removed.
	if p.workDir, err = filepath.Abs(o.WorkDir); err != nil {
		return p, err
	}
	executable := o.Executable
	if executable == "" {
		// A system that cannot tell has no plugins next to the executable; nothing else changes.
		executable, _ = os.Executable()
	}
	if executable != "" {
		if p.execDir, err = filepath.Abs(filepath.Dir(executable)); err != nil {
			return p, err
		}
	}
	for _, entry := range o.Env {
		name, value, _ := strings.Cut(entry, "=")
		if !filepath.IsAbs(value) {
			continue // The XDG specification wants relative ones ignored.
		}
		switch name {
		case "HOME":
			p.home = value
		case "XDG_CONFIG_HOME":
			p.configHome = value
		case "XDG_DATA_HOME":
			p.dataHome = value
		case "XDG_STATE_HOME":
			p.stateHome = value
		}
	}
	// The defaults of the XDG specification. Without a home there is no such directory, and no user file.
	if p.home != "" && p.configHome == "" {
		p.configHome = filepath.Join(p.home, ".config")
	}
	if p.home != "" && p.dataHome == "" {
		p.dataHome = filepath.Join(p.home, ".local", "share")
	}
	if p.home != "" && p.stateHome == "" {
		p.stateHome = filepath.Join(p.home, ".local", "state")
	}
	return p, nil
}

// fileName is the name of the user file and of the project file.
const fileName = "thresh.yaml"

// userFile returns the path of the user file, "" if there is no place for it.
func (p places) userFile() string {
	if p.configHome == "" {
		return ""
	}
	return filepath.Join(p.configHome, "thresh", fileName)
}

// pluginDirs returns the default plugin directories: the host's own first, so that a user's copy never hides a bundled
// plugin.
func (p places) pluginDirs() []string {
	// The user's own come second.
	dirs := []string{}
	if p.execDir != "" {
		dirs = append(dirs, filepath.Join(p.execDir, "plugins"))
	}
	if p.dataHome != "" {
		dirs = append(dirs, filepath.Join(p.dataHome, "thresh", "plugins"))
	}
	return dirs
}

// lockFile returns the path of the plugins' lock file; "" if there is no place for it.
func (p places) lockFile() string {
	if p.stateHome == "" {
		return ""
	}
	return filepath.Join(p.stateHome, "thresh", "plugins.lock")
}

// tokenFile returns the path of the local user's access token; "" if there is no place for it.
func (p places) tokenFile() string {
	if p.stateHome == "" {
		return ""
	}
	return filepath.Join(p.stateHome, "thresh", "token")
}

// dirOf returns the directory against which relative paths in a file are resolved; for "", the working directory.
func (p places) dirOf(file string) string {
	if file == "" {
		return p.workDir
	}
	return filepath.Dir(file)
}

// resolve makes the paths in a checked value absolute. An empty path is the working directory, unless it means none.
func (p places) resolve(s Spec, v any, dir string) any {
	switch s.Type {
	case Path:
		// "" means "none" for these settings, and the working directory for others.
		if s.optional && v == "" {
			return v
		}
		return p.absolute(v.(string), dir)
	case Paths:
		list := make([]string, len(v.([]string)))
		for i, path := range v.([]string) {
			list[i] = p.absolute(path, dir)
		}
		return list
	}
	return v
}

// absolute resolves one path; "~/" is expanded here, because no shell sees a path in a file.
func (p places) absolute(path, dir string) string {
	rest, inHome := strings.CutPrefix(path, "~/")
	switch {
	case path == "":
		return p.workDir
	case inHome && p.home != "":
		// No shell sees a path in a file. A user without a home keeps the tilde, in a path that does not exist.
		return filepath.Join(p.home, rest)
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// defaultOn returns the default on this machine; nil if there is none.
func (s Spec) defaultOn(p places) any {
	if s.fallback != nil {
		return s.fallback(p)
	}
	return s.Default
}
