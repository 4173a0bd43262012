//go:build !linux

package process

import (
	"io/fs"
	"os"
	"path/filepath"
)

// socket returns the path of the socket with that name in the plugin's directory.
func (c *child) socket(name string) (string, error) {
	path := filepath.Join(c.dir, name)
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		err = errNoSocket
	}
	return path, err
}
