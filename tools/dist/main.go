// Command dist makes what a release consists of from programs that were built already: an archive for each platform,
// packages for Debian and RPM systems, licences and an SBOM in each, and a file of checksums. 'make dist' runs it.
//
// Usage: dist -version V -time UNIX -stage DIR -out DIR
//
// The stage has a directory per platform, such as linux_amd64, with the programs. The same input gives the same bytes:
// files are in one order, and all times are the one given.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// release is what all files of a release have in common. All fields are required.
type release struct {
	version string    // as it was tagged, with its "v"
	at      time.Time // of the commit; the time of all files
	// stage has the built programs, a directory for each platform; out gets the release.
	stage string
	out   string
}

// main has no arguments but flags, which 'make dist' sets.
func main() {
	var r release
	var seconds int64
	flag.StringVar(&r.version, "version", "", "the version, such as v1.2.3")
	flag.Int64Var(&seconds, "time", 0, "the time of all files, in seconds since 1970: that of the commit")
	flag.StringVar(&r.stage, "stage", "", "a directory with one per platform, each with the programs")
	flag.StringVar(&r.out, "out", "", "where the release goes")
	flag.Parse()
	// UTC, because some formats write the zone.
	r.at = time.Unix(seconds, 0).UTC()
	if err := r.make(); err != nil {
		fmt.Fprintf(os.Stderr, "dist: %v\n", err)
		os.Exit(1)
	}
}

// make makes all files of the release. The out directory has nothing else afterwards. It ends at the first error, and
// may leave some files behind then.
func (r release) make() error {
	if r.version == "" || r.stage == "" || r.out == "" {
		return errors.New("-version, -stage and -out are needed")
	}
	// A file of an earlier version would otherwise get into the checksums.
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	platforms, err := os.ReadDir(r.stage)
	if err != nil {
		return err
	}
	// A directory's name is GOOS_GOARCH.
	for _, p := range platforms {
		system, arch, _ := strings.Cut(p.Name(), "_")
		if err := r.platform(system, arch); err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	return r.checksums()
}

// platform makes what a release has for one platform. Programs are described first, so the archive and the
// packages contain the description.
func (r release) platform(system, arch string) error {
	dir := filepath.Join(r.stage, system+"_"+arch)
	if err := r.describe(dir); err != nil {
		return err
	}
	name := fmt.Sprintf("thresh_%s_%s_%s", strings.TrimPrefix(r.version, "v"), system, arch)
	if err := r.archive(dir, name); err != nil {
		return err
	}
	// Packages are for Linux; other systems have the archive.
	if system != "linux" {
		return nil
	}
	for _, format := range []string{"deb", "rpm"} {
		if err := r.pack(dir, arch, format); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}

// checksums writes SHA256SUMS, in the form of sha256sum -c. Its own file is not listed: it is written after the
// directory was read.
func (r release) checksums() error {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var lines []string
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(data), f.Name()))
	}
	// By checksum, as that comes first in a line.
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}
