package install

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/atomicfile"
	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/internal/text"
)

// A bundle is a tar file with releases, each in a directory of its own with a number as its name: what a machine without
// a network installs from. sourceFile says where a release is from; its signature is what proves it.

const (
	bundleSuffix = ".tar"
	sourceFile   = "source"
)

var bundled = lazyregexp.New(`^([0-9]{1,4})/([A-Za-z0-9_][A-Za-z0-9._+-]*)$`)

// Bundle writes the releases of what is wanted into one file, with the archives of all platforms. It checks what this
// platform would check, and returns the archives' names.
func (in *Installer) Bundle(ctx context.Context, path string, all []Wanted) (names []string, err error) {
	if !strings.HasSuffix(path, bundleSuffix) {
		return nil, fmt.Errorf("%s: a bundle's name ends with %s", path, bundleSuffix)
	}
	temp, err := os.MkdirTemp(in.RunDir, "thresh-bundle")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	return names, atomicfile.Write(path, 0o644, func(w io.Writer) error {
		out := tar.NewWriter(w)
		for i, wanted := range all {
			added, err := in.bundle(ctx, out, fmt.Sprintf("%d/", i), temp, wanted)
			if err != nil {
				return err
			}
			names = append(names, added...)
		}
		return out.Close()
	})
}

func (in *Installer) bundle(ctx context.Context, out *tar.Writer, prefix, temp string, w Wanted) (names []string, err error) {
	from, err := in.parse(w)
	if err != nil {
		return nil, err
	}
	releases, err := in.releases(ctx, from, temp)
	if err != nil {
		return nil, err
	}
	r := releases[0]
	if r.sums == nil || len(releases) > 1 {
		return nil, fmt.Errorf("%s: only a release with checksums can be in a bundle", from)
	}
	if _, err := r.verify(cmp.Or(in.Required[w.Name].Key, w.Key)); err != nil {
		return nil, err
	}
	small := []struct {
		name string
		text []byte
	}{{sourceFile, []byte(from.String())}, {r.sumsFile, r.sums}, {r.sumsFile + signatureSuffix, r.signature},
		{keyFile, []byte(r.key)}}
	for _, f := range small {
		if len(f.text) == 0 {
			continue
		}
		if err := out.WriteHeader(&tar.Header{Name: prefix + f.name, Size: int64(len(f.text)), Mode: 0o644}); err != nil {
			return nil, err
		}
		if _, err := out.Write(f.text); err != nil {
			return nil, err
		}
	}
	for _, a := range r.assets {
		if w.Name != "" && a.name != w.Name || !satisfies(a.version, from.version) && from.file == "" {
			continue
		}
		if err := in.add(ctx, out, prefix+a.file, r.files, a, filepath.Join(temp, "archive")); err != nil {
			return nil, err
		}
		names = append(names, a.file)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: there is no archive of version %s", r.files, cmp.Or(from.version, "that is no preview"))
	}
	return names, nil
}

// add fetches an archive, checks it, and adds it.
func (in *Installer) add(ctx context.Context, out *tar.Writer, name string, f files, a asset, temp string) error {
	if err := in.fetch(ctx, f, a, temp); err != nil {
		return err
	}
	defer os.Remove(temp)
	return withFile(temp, func(file *os.File, size int64) error {
		if err := out.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644}); err != nil {
			return err
		}
		_, err := io.Copy(out, file)
		return err
	})
}

// readBundle unpacks a bundle into a directory and reads its releases.
func readBundle(ctx context.Context, path, into string, most int64) ([]release, error) {
	fail := func(err error) ([]release, error) { return nil, fmt.Errorf("%s: %w", path, err) }
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var dirs []string
	left := info.Size() // a sparse file in it would have more
	for entries := tar.NewReader(f); ; {
		h, err := entries.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fail(fmt.Errorf("it is no bundle: %w", err))
		}
		m := bundled().FindStringSubmatch(h.Name)
		if m == nil || h.Typeflag != tar.TypeReg {
			return fail(fmt.Errorf("it is no bundle: it has %q in it", text.Clip(h.Name, 200)))
		}
		if left -= h.Size; left < 0 || h.Size > most {
			return fail(fmt.Errorf("%s in it is too large", m[2]))
		}
		dir := filepath.Join(into, "bundle"+m[1])
		if err := os.Mkdir(dir, 0o700); err == nil {
			dirs = append(dirs, dir)
		} else if !errors.Is(err, fs.ErrExist) {
			return fail(err)
		}
		if err := writeNew(filepath.Join(dir, m[2]), entries); err != nil {
			return fail(err)
		}
	}
	var all []release
	for _, dir := range slices.Sorted(slices.Values(dirs)) {
		from, err := read(ctx, localFiles(dir), sourceFile)
		if err != nil {
			return fail(err)
		}
		s, err := parse(string(from), "")
		if err != nil {
			return fail(fmt.Errorf("it is no bundle: %w", err))
		}
		r, err := load(ctx, s, localFiles(dir))
		if err != nil {
			return fail(err)
		}
		r.assets = slices.DeleteFunc(r.assets, func(a asset) bool {
			_, err := os.Stat(filepath.Join(dir, a.file))
			return err != nil // it was not wanted
		})
		all = append(all, r)
	}
	if len(all) == 0 {
		return fail(errors.New("it is no bundle: there is nothing in it"))
	}
	return all, nil
}
