package trust

import (
	"path/filepath"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
)

// within returns where a directory and a file in it really are. The problem is that a symbolic link leaves the
// directory, or that it cannot be followed.
func within(dir, path string) (realDir, real, problem string) {
	realDir, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", "", fault.System(err).Error()
	}
	if inside, err := filepath.Rel(realDir, real); err != nil || !filepath.IsLocal(inside) {
		return "", "", "is a symbolic link that leaves the directory, to " + real
	}
	return realDir, real, ""
}
