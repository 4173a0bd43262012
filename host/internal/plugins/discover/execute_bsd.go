//go:build unix && !linux

package discover

import "os"

// running returns the path of the program that runs; after an update, of the new one: only Linux has a path to the old.
func running(program string) string { return program }

// Executable returns the path of a private copy of the open file in dir: only Linux can run a descriptor. The host's
// own program is trusted and not copied.
func (b *Binary) Executable(dir string, _ int) (path string, inherit []*os.File, done func(), err error) {
	if b.BuiltIn {
		return b.Path, nil, func() {}, nil
	}
	return b.privateCopy(dir)
}
