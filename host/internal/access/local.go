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

// LocalToken returns the local user's token, from a file with mode 0600 made if missing. A file that others can read is
// refused.
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
	if mode := atomicfile.Permissions(info); mode&0o077 != 0 {
		return "", fmt.Errorf("token file %s: others may use it (mode %04o): delete it, and a new one is made",
			path, mode)
	}
	token := strings.TrimSpace(string(text))
	if _, ok := nameIn(token); !ok {
		return "", fmt.Errorf("token file %s: it holds no token: delete it, and a new one is made", path)
	}
	return token, nil
}

// createLocal writes a new token. Of two hosts that start at the same time, the second uses the first's.
func createLocal(path string) (string, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	// Complete before it gets its name, so no one reads half of it. CreateTemp makes it private.
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
	// A link fails if the name exists; a rename would replace it.
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return LocalToken(path)
	} else if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	return token, nil
}
