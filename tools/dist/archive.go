package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// archive writes dir as name.tar.gz, with everything in a directory of that name. Owner and group are left at zero,
// and permissions are one of two: what the building machine has set does not show. The file's own Close is part of
// the result: a full disk may show only there.
func (r release) archive(dir, name string) (err error) {
	f, err := os.Create(filepath.Join(r.out, name+".tar.gz"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// An archive is made once and downloaded often. The header has no name and no time.
	zip, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(zip)
	// WalkDir goes in lexical order, which makes the archive the same each time.
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		// Directories are made by unpacking; without entries they have no times that could differ.
		// An error of one file fails the archive: a release must be complete.
		if err != nil || entry.IsDir() {
			return err
		}
		// As a whole: the size has to be in the header, before the bytes.
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		h := &tar.Header{Name: name + strings.TrimPrefix(path, dir), Size: int64(len(data)), ModTime: r.at, Mode: 0o644}
		// Executable for the owner means a program.
		if info.Mode()&0o100 != 0 {
			h.Mode = 0o755
		}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		_, err = out.Write(data)
		return err
	})
	// Inner first: each writes the rest of its data when it is closed.
	return errors.Join(err, out.Close(), zip.Close())
}

// pack writes dir as a package of a format, "deb" or "rpm"; packaging/nfpm.yaml says what it holds. The file gets the
// name that the format's tools expect.
func (r release) pack(dir, arch, format string) error {
	// The variables of nfpm.yaml. Nothing else is replaced: the environment of the build must not change the package.
	values := map[string]string{"STAGE": dir, "ARCH": arch, "VERSION": r.version}
	config, err := nfpm.ParseFileWithEnvMapping("packaging/nfpm.yaml", func(name string) string { return values[name] })
	if err != nil {
		return err
	}
	// The format's own settings over the common ones.
	info, err := config.Get(format)
	if err != nil {
		return err
	}
	info = nfpm.WithDefaults(info)
	// Otherwise these are the time of the build and the name of the machine.
	info.MTime = r.at
	info.RPM.BuildHost = "localhost" // otherwise the name of the machine
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	// Checks the settings, and reads which files belong to the package.
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(r.out, packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	return errors.Join(packager.Package(info, f), f.Close())
}
