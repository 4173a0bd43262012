package config

import (
	"path/filepath"
	"strings"
)

// Paths: the directories that defaults depend on. After loading, every path in [Settings] is absolute, so changing the
// working directory has no effect.

// places are this machine's and user's directories; all absolute, or "" if unknown.
type places struct {
	workDir, home, configHome, dataHome, stateHome string
}

// newPlaces determines the directories by the XDG base directory specification.
func newPlaces(o Options) (places, error) {
	var p places
	var err error
	// Abs of "" is the working directory; it fails if that was removed.
	if p.workDir, err = filepath.Abs(o.WorkDir); err != nil {
		return p, err
	}
	for _, entry := range o.Env {
		name, value, _ := strings.Cut(entry, "=")
		if !filepath.IsAbs(value) {
			continue // the XDG specification says to ignore relative ones
		}
		switch name {
		case homeVariable:
			p.home = value
		case "XDG_CONFIG_HOME":
			p.configHome = value
		case "XDG_DATA_HOME":
			p.dataHome = value
		case "XDG_STATE_HOME":
			p.stateHome = value
		}
	}
	for dir, usual := range map[*string]string{
		&p.configHome: ".config", &p.dataHome: ".local/share", &p.stateHome: ".local/state",
	} {
		if *dir == "" && p.home != "" {
			*dir = filepath.Join(p.home, usual)
		}
	}
	return p, nil
}

const fileName = "thresh.yaml"

func (p places) userFile() string { return inside(p.configHome, fileName) }

// inside returns a file of thresh in one of the directories; "" if that is unknown.
func inside(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "thresh", name)
}

// pluginDirs returns the default plugin directories; none if there is no place for one.
func (p places) pluginDirs() []string {
	if p.dataHome == "" {
		return []string{}
	}
	return []string{inside(p.dataHome, "plugins")}
}

// resolve makes the paths in a checked value absolute. An empty path is the working directory, or none if optional.
func (p places) resolve(s Spec, v any, dir string) any {
	switch s.Type {
	case Path:
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

// absolute resolves one path; "~/" is expanded, as no shell sees a path in a file. Without a home the tilde is kept.
func (p places) absolute(path, dir string) string {
	rest, inHome := strings.CutPrefix(path, "~/")
	switch {
	case path == "":
		return p.workDir
	case inHome && p.home != "":
		return filepath.Join(p.home, rest)
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func (s Spec) defaultOn(p places) any {
	if s.fallback != nil {
		return s.fallback(p)
	}
	return s.Default
}
