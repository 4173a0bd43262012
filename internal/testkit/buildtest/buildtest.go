// Package buildtest builds programs for tests that run real processes.
package buildtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Strategies builds plugins into dir, by the strategy's name; a package's path is relative to the test's folder.
func Strategies(dir string, packages map[string]string) error {
	for name, pkg := range packages {
		if err := Program(filepath.Join(dir, "thresh-strategy-"+name), pkg); err != nil {
			return err
		}
	}
	return nil
}

// Program builds one program as it is shipped, without cgo.
func Program(path, pkg string) error {
	cmd := exec.Command("go", "build", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", pkg, err, text)
	}
	return nil
}
