// Package atomicfile replaces files as a whole: a reader sees the old content or the new content, never a part of it,
// and a failed write leaves the old content. The lock file, reports and transcripts are written with it.
package atomicfile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unicode/utf8"
)

// Read returns the content of a regular file of at most most bytes. It opens nothing else: a named pipe would wait for
// a writer, and a device has no end.
func Read(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is a directory")}
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
	}
	// O_NONBLOCK, because a named pipe may have taken its place since.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := io.ReadAll(io.LimitReader(f, most+1))
	if int64(len(all)) > most {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %d bytes", most)}
	}
	return all, err
}

// Text is [Read] for UTF-8 text. Its errors do not name the path.
func Text(path string, most int64) ([]byte, error) {
	text, err := Read(path, most)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, pe.Err
	}
	if err == nil && (!utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0) {
		err = errors.New("it is not UTF-8 text")
	}
	return text, err
}

// Check returns an error if no file can be written at path: its directory is missing, or path exists and is not a
// regular file. A command calls it before it works for an hour. It does not check permissions.
func Check(path string) error {
	_, err := target(path)
	return err
}

// target resolves symlinks, so that a rename replaces the target of a link, not the link.
func target(path string) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case info.IsDir():
		return "", fmt.Errorf("%s is a directory", path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", dir)
	}
	return path, nil
}

// Adopt gives a file that root has made to the owner of its directory: what an administrator writes into the directory
// of a service, the service must be able to read. For other users it does nothing.
func Adopt(f *os.File) error {
	info, err := os.Stat(filepath.Dir(f.Name()))
	if err != nil {
		return err
	}
	return giveTo(f, info)
}

// Private is the mode of a file with secrets in it.
const Private fs.FileMode = 0o600

// Write replaces path with what the function write writes. A new file gets mode without the bits of the umask. One that
// exists keeps its mode, and its owner if root writes it; but with [Private] others lose their access to it. On an
// error the file is as it was.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	if path, err = target(path); err != nil {
		return err
	}
	existing, err := os.Stat(path)
	if err == nil && mode&^Private != 0 {
		mode = existing.Mode().Perm()
	}
	// In the same directory: a rename is atomic only within one file system.
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text())
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Unwrap(err))
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp)
		}
	}()
	err = write(f)
	if existing != nil {
		err = errors.Join(err, giveTo(f, existing), f.Chmod(mode)) // a change of the owner may clear bits of the mode
	} else {
		err = errors.Join(err, Adopt(f))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
