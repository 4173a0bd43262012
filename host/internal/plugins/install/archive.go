package install

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/internal/text"
)

// maxUnpacked bounds an archive and what is in it, in bytes: programs that contain their interpreter have some hundred
// megabytes. maxEntries bounds the files.
const (
	maxUnpacked = 512 << 20
	maxEntries  = 10_000
)

// unpack writes the program of a plugin from an archive to a new file. Other files in it are not written anywhere; one
// that leads out of its directory, and anything but files and directories, is refused, because no honest archive has
// such a thing.
func unpack(archive, strategy, target string, most int64) error {
	u := &unpacker{file: discover.FileName(strategy), target: target, most: most}
	each := tarEntries
	if strings.HasSuffix(archive, ".zip") {
		each = zipEntries
	}
	if err := each(archive, u); err != nil {
		return err
	}
	switch {
	case u.found:
		return nil
	case u.other != "":
		return fmt.Errorf("it has %s in it, not %s", u.other, u.file)
	}
	return fmt.Errorf("it has no %s in it", u.file)
}

type unpacker struct {
	file, target string
	most         int64
	entries      int
	found        bool
	other        string // a program of another plugin
}

// entry takes one entry. open is called for the program alone.
func (u *unpacker) entry(name string, mode fs.FileMode, open func() (io.ReadCloser, error)) error {
	shown := text.Clip(name, 200)
	if u.entries++; u.entries > maxEntries {
		return fmt.Errorf("it has more than %d files in it", maxEntries)
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\:\x00") {
		return fmt.Errorf("it has a file in it that leads elsewhere: %q", shown)
	}
	switch base := path.Base(name); {
	case mode.IsDir():
		return nil
	case !mode.IsRegular():
		return fmt.Errorf("it has something in it that is neither a file nor a directory: %q", shown)
	case base != u.file:
		if strings.HasPrefix(base, discover.FilePrefix) {
			u.other = text.Printable(base, 200)
		}
		return nil
	case u.found:
		return fmt.Errorf("it has two files %s in it", u.file)
	}
	u.found = true
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	return writeNew(u.target, limit(r, u.most)) // a sparse file is larger than what is packed
}

// limit has reading fail after most bytes.
func limit(r io.Reader, most int64) io.Reader { return &limited{r, most, most} }

type limited struct {
	r          io.Reader
	left, most int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("it unpacks to more than %d bytes", l.most)
	}
	return n, err
}

// writeNew writes a program to a file that is not there yet.
func writeNew(target string, r io.Reader) error {
	f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err = io.Copy(f, r); errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it breaks off")
	}
	return errors.Join(err, f.Sync(), f.Close())
}

func tarEntries(archive string, u *unpacker) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("it is no .tar.gz: %w", err)
	}
	// The limit is below the reader of the tar file: what is skipped is unpacked, too.
	for entries := tar.NewReader(limit(packed, u.most)); ; {
		h, err := entries.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it cannot be unpacked: %w", err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		content := func() (io.ReadCloser, error) { return io.NopCloser(entries), nil }
		mode := h.FileInfo().Mode()
		if h.Typeflag == tar.TypeLink { // which has the mode of a file
			mode |= fs.ModeIrregular
		}
		if err := u.entry(h.Name, mode, content); err != nil {
			return err
		}
	}
}

func zipEntries(archive string, u *unpacker) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("it is no .zip: %w", err)
	}
	defer z.Close()
	for _, f := range z.File {
		if err := u.entry(f.Name, f.Mode(), f.Open); err != nil {
			return err
		}
	}
	return nil
}
