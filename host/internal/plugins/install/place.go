package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/internal/filelock"
)

const (
	// Within the plugin directory, because a rename is atomic only within one file system. No plugin has such a name.
	stagingPrefix = ".install-"
	lockName      = ".install.lock"
)

// lock makes the plugin directory if need be, and waits until no other installation is at work in it. Then it removes
// what those that were killed have left.
func (in *Installer) lock(ctx context.Context) (unlock func(), err error) {
	if err := in.trust.CanLock(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(in.dir, 0o755); err != nil {
		return nil, err
	}
	if guard := in.trust.Guard(); guard != nil {
		if problem := guard.Directory(in.dir); problem != "" {
			return nil, fmt.Errorf("%s: plugins in it would not be used: %s", in.dir, problem)
		}
	}
	for waits := false; ; waits = true {
		f, err := filelock.File(filepath.Join(in.dir, lockName), os.O_CREATE)
		if err == nil {
			left, _ := filepath.Glob(filepath.Join(in.dir, stagingPrefix+"*"))
			for _, dir := range left {
				_ = os.RemoveAll(dir)
			}
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, filelock.ErrHeld) {
			return nil, err
		}
		if !waits {
			in.Note("another installation is at work in " + in.dir + ": waiting for it")
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (in *Installer) path(name string) string { return filepath.Join(in.dir, discover.FileName(name)) }

// sumOf returns the SHA-256 of a plugin's file; "" if there is none.
func (in *Installer) sumOf(name string) string { return new(discover.Hashes).OfFile(in.path(name)) }

// present returns the lock file's entry of a plugin; the zero entry if it is not there. A file that was put there
// otherwise is a person's, and is left to them.
func (in *Installer) present(name string) (trust.Entry, error) {
	path := in.path(name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return trust.Entry{}, nil
	}
	if err != nil {
		return trust.Entry{}, err
	}
	e, _, err := in.trust.Entry(path)
	if err != nil {
		return trust.Entry{}, err
	}
	if !info.Mode().IsRegular() || e.Origin == nil {
		return trust.Entry{}, fmt.Errorf("%s is there, and was not installed by thresh: remove it, or move it elsewhere", path)
	}
	e.Path = path
	return e, nil
}

// place asks a program that is in the staging directory what it is, and puts it where hosts find it. A host that runs
// finds the old file or the new one, and both are trusted until the lock file has the new one alone.
func (in *Installer) place(ctx context.Context, staged, name string, origin trust.Origin, before trust.Entry) (Result, error) {
	e, err := in.look(ctx, filepath.Dir(staged), name)
	if err != nil {
		return Result{}, fmt.Errorf("it was not installed: %w", err)
	}
	var says struct{ Version string }
	if err := json.Unmarshal(e.Info, &says); err != nil {
		return Result{}, err
	}
	said := strings.TrimPrefix(says.Version, "v")
	if origin.Version = cmp.Or(origin.Version, said); said != origin.Version {
		return Result{}, fmt.Errorf("the archive says that it is version %s, and the program says %s: tell its publisher",
			origin.Version, said)
	}
	if origin.Wanted != "" && !(validVersion(said) && satisfies(said, origin.Wanted)) {
		return Result{}, fmt.Errorf("it is version %s, and %s is wanted", said, origin.Wanted)
	}
	e.Path, e.Origin, e.Was = in.path(name), &origin, before.SHA256
	now := in.sumOf(name)
	if now == before.Was { // an installation was killed before it replaced the file
		e.Was = now
	}
	if err := in.trust.Lock([]trust.Entry{e}); err != nil {
		return Result{}, err
	}
	if err := replace(staged, e.Path); err != nil {
		undo := in.trust.Forget(e.Path)
		if before.Path != "" {
			undo = in.trust.Lock([]trust.Entry{before})
		}
		return Result{}, errors.Join(err, undo)
	}
	e.Was = ""
	change, old := "installed", originOf(before)
	switch {
	case before.Path == "":
	case now == e.SHA256:
		change = "unchanged"
	case older(old.Version, origin.Version):
		change = "upgraded"
	case older(origin.Version, old.Version):
		change = "downgraded"
	default:
		change = "replaced"
	}
	return in.result(e, change, old, origin.Key), in.trust.Lock([]trust.Entry{e})
}

// replace renames a file into place. Windows does not replace a program that runs, and lets it be renamed.
func replace(from, to string) error {
	if runtime.GOOS != "windows" {
		return os.Rename(from, to)
	}
	aside := from + ".old"
	moved := os.Rename(to, aside)
	err := os.Rename(from, to)
	if err != nil && moved == nil {
		err = errors.Join(err, os.Rename(aside, to))
	}
	return err
}

// Remove removes a plugin that was installed, and what the lock file says of it.
func (in *Installer) Remove(ctx context.Context, name string) (path string, err error) {
	unlock, err := in.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	path = in.path(name)
	if _, required := in.Required[name]; required {
		return "", fmt.Errorf("%s is in plugins.required: remove it there first", name)
	}
	e, err := in.present(name)
	if err != nil {
		return "", err
	}
	if e.Path == "" {
		return "", fmt.Errorf("%s is not installed in %s", name, in.dir)
	}
	return path, errors.Join(os.Remove(path), in.trust.Forget(path))
}
