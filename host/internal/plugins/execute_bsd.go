//go:build unix && !linux

package plugins

import "os"

// executable returns the path of a private copy of the open file: only Linux can run a descriptor.
func (b *binary) executable(dir string, _ int) (path string, inherit []*os.File, done func(), err error) {
	return b.privateCopy(dir)
}
