// Command dist makes what a release consists of from programs that were built already: an archive for each platform
// with licences and an SBOM, packages for Debian, RPM systems and npm, a container image, a formula for Homebrew, a manifest
// for Scoop, and a file of checksums with a signature. 'make dist' runs it.
//
// Usage: dist -version V -time UNIX -stage DIR -out DIR [-key FILE]
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

const (
	homepage = "https://github.com/thresh-dev/thresh"
	sumsFile = "SHA256SUMS"
)

// release is what all files of a release have in common.
type release struct {
	version string    // as it was tagged, with its "v"
	at      time.Time // of the commit; the time of all files
	// stage has the built programs, a directory for each platform; out gets the release.
	stage string
	out   string
	// key is a file with a private key of minisign, "" for no signature. password opens it if it is encrypted.
	key      string
	password string
}

// platform is what a program was built for, in Go's words, and the directory with it.
type platform struct{ system, arch, dir string }

// program is the name of the program's file.
func (p platform) program() string {
	if p.system == "windows" {
		return "thresh.exe"
	}
	return "thresh"
}

// archived is the name of the platform's archive: what its users can unpack without another program.
func (r release) archived(p platform) string {
	if p.system == "windows" {
		return r.archiveName(p) + ".zip"
	}
	return r.archiveName(p) + ".tar.gz"
}

// number is the version as packages write it.
func (r release) number() string { return strings.TrimPrefix(r.version, "v") }

// archiveName is the name of a platform's archive, without an ending.
func (r release) archiveName(p platform) string {
	return fmt.Sprintf("thresh_%s_%s_%s", r.number(), p.system, p.arch)
}

func main() {
	r := release{password: os.Getenv("SIGNING_PASSWORD")}
	var seconds int64
	flag.StringVar(&r.version, "version", "", "the version, such as v1.2.3")
	flag.Int64Var(&seconds, "time", 0, "the time of all files, in seconds since 1970: that of the commit")
	flag.StringVar(&r.stage, "stage", "", "a directory with one per platform, each with the programs")
	flag.StringVar(&r.out, "out", "", "where the release goes")
	flag.StringVar(&r.key, "key", "", "sign the checksums with this private key of minisign; SIGNING_PASSWORD opens it")
	flag.Parse()
	// UTC, because some formats write the zone.
	r.at = time.Unix(seconds, 0).UTC()
	if err := r.make(); err != nil {
		fmt.Fprintf(os.Stderr, "dist: %v\n", err)
		os.Exit(1)
	}
	if r.key == "" {
		fmt.Fprintln(os.Stderr, "dist: the release is not signed: there is no -key")
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
	entries, err := os.ReadDir(r.stage)
	if err != nil {
		return err
	}
	var platforms []platform
	for _, e := range entries {
		// A directory's name is GOOS_GOARCH.
		system, arch, _ := strings.Cut(e.Name(), "_")
		p := platform{system: system, arch: arch, dir: filepath.Join(r.stage, e.Name())}
		if err := r.platform(p); err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
		platforms = append(platforms, p)
	}
	// These name or contain what was made for each platform.
	for _, made := range []struct {
		what string
		by   func([]platform) error
	}{{"npm", r.npm}, {"Homebrew", r.formula}, {"Scoop", r.scoop}, {"container image", r.image}} {
		if err := made.by(platforms); err != nil {
			return fmt.Errorf("%s: %w", made.what, err)
		}
	}
	if err := r.checksums(); err != nil || r.key == "" {
		return err
	}
	return r.sign()
}

// platform makes an archive for one platform, and packages if it is Linux. Programs are described first, so both
// contain the description.
func (r release) platform(p platform) error {
	if err := r.describe(p); err != nil {
		return err
	}
	members, err := membersOf(p.dir, r.archiveName(p)+"/")
	if err != nil {
		return err
	}
	write := r.archive
	if p.system == "windows" {
		write = r.zip
	}
	if err := write(r.archived(p), members); err != nil {
		return err
	}
	if p.system != "linux" {
		return nil
	}
	for _, format := range []string{"deb", "rpm"} {
		if err := r.pack(p.dir, p.arch, format); err != nil {
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
	return os.WriteFile(filepath.Join(r.out, sumsFile), []byte(strings.Join(lines, "")), 0o644)
}
