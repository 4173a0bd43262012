package rundir

import (
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveAll is os.RemoveAll for a directory that a plugin could write to. A plugin may have removed its own rights to
// its directories; as their owner we can restore them. It never follows a symbolic link: os.Root does not leave the
// directory, even if it is changed meanwhile.
func RemoveAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	root, openErr := openDir(dir)
	if openErr != nil {
		return err
	}
	defer root.Close()
	openUp(root, ".")
	return os.RemoveAll(dir)
}

// openDir opens a directory whatever its mode. The directory above it is the host's own, so it cannot be swapped for a
// link.
func openDir(dir string) (*os.Root, error) {
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	name := filepath.Base(dir)
	if info, err := parent.Lstat(name); err == nil && info.IsDir() {
		_ = parent.Chmod(name, 0o700)
	}
	return parent.OpenRoot(name)
}

// openUp makes a directory and those below it readable, writable and searchable for the user. The removal reports what
// fails.
func openUp(root *os.Root, dir string) {
	_ = root.Chmod(dir, 0o700)
	f, err := root.Open(dir)
	if err != nil {
		return
	}
	entries, _ := f.ReadDir(-1) // those that could be read
	_ = f.Close()
	for _, e := range entries {
		if e.Type() == fs.ModeDir {
			openUp(root, filepath.Join(dir, e.Name()))
		}
	}
}
