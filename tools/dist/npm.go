package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// The packages for npm: one for each platform with the program, and a small one that depends on all of them. npm
// installs the one whose "os" and "cpu" are the machine's, and packaging/npm/thresh.js starts its program.
const npmName = "@thresh-dev/thresh"

// manifest is what package.json says of a package.
type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  map[string]string `json:"repository"`
	OS          []string          `json:"os"`
	CPU         []string          `json:"cpu"`
	Engines     map[string]string `json:"engines,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	// Optional, because all but one of them are for other machines.
	Optional map[string]string `json:"optionalDependencies,omitempty"`
}

func (r release) manifest(name, description string) manifest {
	return manifest{
		Name: name, Version: r.number(), Description: description, License: "Apache-2.0", Homepage: homepage,
		Repository: map[string]string{"type": "git", "url": "git+" + homepage + ".git"},
	}
}

// npmSystem is what Node calls a system of Go, and npmCPU an architecture.
func npmSystem(system string) string {
	if system == "windows" {
		return "win32"
	}
	return system
}

func npmCPU(arch string) string {
	if arch == "amd64" {
		return "x64"
	}
	return arch
}

// npm writes the packages.
func (r release) npm(platforms []platform) error {
	chosen := r.manifest(npmName, "Keeps an LLM agent's conversation under its model's context limit.")
	chosen.Engines = map[string]string{"node": ">=18"}
	chosen.Bin = map[string]string{"thresh": "bin/thresh.js"}
	chosen.Optional = map[string]string{}
	for _, p := range platforms {
		system, cpu := npmSystem(p.system), npmCPU(p.arch)
		one := r.manifest(fmt.Sprintf("%s-%s-%s", npmName, system, cpu),
			fmt.Sprintf("The program of %s for %s on %s.", npmName, system, cpu))
		one.OS, one.CPU = []string{system}, []string{cpu}
		files := map[string]string{"bin/" + p.program(): p.program()}
		for _, name := range []string{"LICENSE", "THIRD-PARTY-LICENSES.txt", "sbom.cdx.json"} {
			files[name] = name
		}
		if err := r.npmPackage(one, p.dir, files); err != nil {
			return err
		}
		chosen.Optional[one.Name] = one.Version
		chosen.OS, chosen.CPU = with(chosen.OS, system), with(chosen.CPU, cpu)
	}
	return r.npmPackage(chosen, ".",
		map[string]string{"bin/thresh.js": "packaging/npm/thresh.js", "LICENSE": "LICENSE", "README.md": "README.md"})
}

// npmPackage writes a package as 'npm pack' names it. files are those of dir, by their names in the package.
func (r release) npmPackage(m manifest, dir string, files map[string]string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	members := []member{{name: "package/package.json", mode: 0o644, data: append(text, '\n')}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		one, err := memberOf(filepath.Join(dir, files[name]), "package/"+name)
		if err != nil {
			return err
		}
		members = append(members, one)
	}
	name := strings.ReplaceAll(strings.TrimPrefix(m.Name, "@"), "/", "-")
	return r.archive(name+"-"+m.Version+".tgz", members)
}

// with returns a list with value in it once.
func with(list []string, value string) []string {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}
