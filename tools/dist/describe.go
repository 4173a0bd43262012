package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// describe writes what the programs of a platform are made of: THIRD-PARTY-LICENSES.txt and sbom.cdx.json. The programs
// themselves say which modules they contain. What they say is what was linked, not what go.mod asks for.
func (r release) describe(p platform) error {
	dir := p.dir
	programs, err := filepath.Glob(filepath.Join(dir, "plugins", "*"))
	if err != nil {
		return err
	}
	// By path: most modules are in several programs.
	modules := map[string]*debug.Module{}
	goVersion := ""
	for _, program := range append(programs, filepath.Join(dir, p.program())) {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return err
		}
		// The same for all programs: one toolchain builds them.
		goVersion = info.GoVersion
		for _, m := range info.Deps {
			// A module that was replaced is shipped as its replacement, under that one's licence.
			for m.Replace != nil {
				m = m.Replace
			}
			// All programs are built from one go.mod, so a module has one version.
			modules[m.Path] = m
		}
	}
	var sorted []*debug.Module
	for _, m := range modules {
		sorted = append(sorted, m)
	}
	slices.SortFunc(sorted, func(a, b *debug.Module) int { return cmp.Compare(a.Path, b.Path) })
	// Sorted, because maps have no order and the files must be the same each time.
	return errors.Join(r.licences(dir, sorted), r.sbom(dir, goVersion, sorted))
}

// licenceFile matches the names of files with licences and notices. It covers the spellings that modules of ours use,
// with extensions or suffixes such as LICENSE-MIT.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|copyright)(\..*|-.*)?$`)

// licences writes the licences of all modules into one file. A module without any is an error: what ships must be known
// to be allowed.
func (r release) licences(dir string, modules []*debug.Module) error {
	var out bytes.Buffer
	out.WriteString("Programs of thresh contain the following software, with these licences.\n")
	root, err := goDirectory()
	if err != nil {
		return err
	}
	// It is linked into every program, but is no module.
	if err := appendLicences(&out, "the Go standard library and runtime", root); err != nil {
		return err
	}
	for _, m := range modules {
		from, err := moduleDirectory(m.Path)
		if err != nil {
			return err
		}
		if err := appendLicences(&out, m.Path+" "+m.Version, from); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "THIRD-PARTY-LICENSES.txt"), out.Bytes(), 0o644)
}

// appendLicences appends the files with licences in a directory. Only the top directory counts: licences below it are
// of code that is vendored or of test data.
func appendLicences(out *bytes.Buffer, what, dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f fs.DirEntry) bool {
		return f.IsDir() || !licenceFile.MatchString(f.Name())
	})
	// Found when a release is made, not by its users.
	if len(files) == 0 {
		return fmt.Errorf("%s: no licence in %s", what, dir)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 78), what, f.Name(), bytes.TrimSpace(text))
	}
	return nil
}

// moduleDirectory returns where the source of a module is. It must be in the module cache or vendored, as it is after a
// build; nothing is downloaded for it.
func moduleDirectory(path string) (string, error) {
	// The go command knows where modules are, whatever GOFLAGS and GOMODCACHE say.
	text, err := exec.Command("go", "list", "-m", "-json", path).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", path, err)
	}
	// Empty if the source was never downloaded.
	var m struct{ Dir string }
	if err := json.Unmarshal(text, &m); err != nil || m.Dir == "" {
		return "", fmt.Errorf("go list -m %s: its source is not here (%v)", path, err)
	}
	return m.Dir, nil
}

// goDirectory returns where the Go toolchain is, which is under the licence of the standard library.
func goDirectory() (string, error) {
	text, err := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(text)), err
}

// sbom writes a bill of materials in the form of CycloneDX. The standard library is a component too: scanners look for
// its vulnerabilities by this name. No serial number is set, which would be random.
func (r release) sbom(dir, goVersion string, modules []*debug.Module) error {
	bom := cyclonedx.NewBOM()
	// The release as a whole is one application, with all its plugins.
	bom.Metadata = &cyclonedx.Metadata{
		// The commit's time, not the present: the same release gives the same bytes.
		Timestamp: r.at.Format(time.RFC3339),
		Component: &cyclonedx.Component{Type: cyclonedx.ComponentTypeApplication, Name: "thresh", Version: r.version},
	}
	// Package URLs (purl) are how scanners find a component in their databases.
	components := []cyclonedx.Component{{Type: cyclonedx.ComponentTypeLibrary, Name: "std",
		Version: goVersion, PackageURL: "pkg:golang/std@" + strings.TrimPrefix(goVersion, "go")}}
	for _, m := range modules {
		components = append(components, cyclonedx.Component{
			Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
			PackageURL: "pkg:golang/" + m.Path + "@" + m.Version,
		})
	}
	bom.Components = &components
	var out bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "sbom.cdx.json"), out.Bytes(), 0o644)
}
