//go:build !linux

package process

import (
	"io/fs"
	"os"
	"path/filepath"
)

func (c *child) socket(name string) (string, error) {
	path := filepath.Join(c.dir, name)
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		err = errNoSocket
	}
	return path, err
}
