package recordings

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// unread are the agents that have no reader, by a part of the paths of their sessions.
var unread = []struct{ name, part string }{
	{"codebuff", ".config/manicode/projects"},
	{"hermes", ".hermes"},
}

// unreadAgent returns the agent without a reader that keeps its sessions where path is; "" for none.
func unreadAgent(path string) string {
	for _, a := range unread {
		if strings.Contains(filepath.ToSlash(path), "/"+a.part+"/") {
			return a.name
		}
	}
	return ""
}

// Beside returns the files that lie among the sessions of agents and are none by their names, such as those of
// sub-agents and copies.
func Beside(s System, o Options) (out []string) {
	for _, a := range agents {
		if o.Agent != "" && o.Agent != a.name {
			continue
		}
		for _, root := range a.roots(s) {
			known := map[string]bool{}
			for _, pattern := range a.patterns {
				for _, path := range below(root, pattern) {
					skip, _ := filepath.Match(a.not, filepath.Base(path))
					known[path] = !skip
				}
			}
			for _, pattern := range a.patterns {
				if dir, name := path.Split(pattern); strings.Contains(name, "*") {
					for _, path := range below(root, dir+"*.jsonl*") {
						if !known[path] && !slices.Contains(out, path) {
							out = append(out, path)
						}
					}
				}
			}
		}
	}
	return out
}

// Unread returns the agents without a reader that have sessions on this machine.
func Unread(s System) (names []string) {
	for _, a := range unread {
		if _, err := os.Stat(s.home(filepath.FromSlash(a.part))); err == nil {
			names = append(names, a.name)
		}
	}
	return names
}
