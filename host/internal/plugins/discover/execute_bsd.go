//go:build unix && !linux

package discover

import "os"

// Executable returns the path of a private copy of the open file in dir: only Linux can run a descriptor.
func (b *Binary) Executable(dir string, _ int) (path string, inherit []*os.File, done func(), err error) {
	return b.privateCopy(dir)
}
