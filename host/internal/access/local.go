package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// LocalToken returns the local user's token, which is in a file. It is made if there is none, and only the user can
// read it (mode 0600). A file that others can read is refused: they may have read it.
func LocalToken(path string) (string, error) {
	text, err := atomicfile.Read(path, 4<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return createLocal(path)
	}
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", fmt.Errorf("token file %s: others may use it (mode %04o): delete it, and a new one is made",
			path, mode)
	}
	token := strings.TrimSpace(string(text))
	if _, ok := nameIn(token); !ok {
		return "", fmt.Errorf("token file %s: it holds no token: delete it, and a new one is made", path)
	}
	return token, nil
}

// createLocal writes a new token. Of two hosts that begin at the same time, the second takes what the first wrote.
func createLocal(path string) (string, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	// Written as a whole before it has its name, so that no one reads half of it. CreateTemp makes it private.
	f, err := os.CreateTemp(dir, ".token-*")
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	defer os.Remove(f.Name())
	token := newToken("")
	_, err = f.WriteString(token + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	// A link fails if the name exists, where a rename would replace it.
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return LocalToken(path)
	} else if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	return token, nil
}
