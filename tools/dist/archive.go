package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// member is a file of an archive, or a directory if its name ends with a slash. Archives of programs have no
// directories: unpacking makes them, and they have no times that could differ.
type member struct {
	name  string
	mode  int64
	owner int // user and group
	data  []byte
}

// membersOf reads dir, in lexical order, with a prefix before each name. Permissions are one of two: what the building
// machine has set does not show.
func membersOf(dir, prefix string) ([]member, error) {
	var all []member
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		m, err := memberOf(path, prefix+filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator))))
		all = append(all, m)
		return err
	})
	return all, err
}

// memberOf reads one file. Executable for the owner means a program.
func memberOf(path, name string) (member, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return member{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return member{}, err
	}
	m := member{name: name, mode: 0o644, data: data}
	if info.Mode()&0o100 != 0 {
		m.mode = 0o755
	}
	return m, nil
}

// writeTar writes members with one time, and nothing of the machine.
func writeTar(w io.Writer, members []member, at time.Time) error {
	out := tar.NewWriter(w)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Size: int64(len(m.data)), ModTime: at, Mode: m.mode, Uid: m.owner, Gid: m.owner}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := out.Write(m.data); err != nil {
			return err
		}
	}
	return out.Close()
}

// archive writes a compressed tar file of the release. The file's own Close is part of the result: a full disk may show
// only there.
func (r release) archive(file string, members []member) (err error) {
	f, err := os.Create(filepath.Join(r.out, file))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// An archive is made once and downloaded often. The header has no name and no time.
	packed, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(writeTar(packed, members, r.at), packed.Close())
}

// zip writes members as a zip file of the release.
func (r release) zip(file string, members []member) error {
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, m := range members {
		w, err := out.CreateHeader(&zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: r.at})
		if err == nil {
			_, err = w.Write(m.data)
		}
		if err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, file), b.Bytes(), 0o644)
}

// tarOf returns members as an uncompressed tar file.
func tarOf(members []member, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	err := writeTar(&b, members, at)
	return b.Bytes(), err
}
