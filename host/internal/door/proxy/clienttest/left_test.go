package clienttest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// cline leaves no process behind: it would serve cline's later runs with the address of a proxy that has ended. Nor
// does a file tell where to find one.
func TestNothingIsLeftOfCline(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		if c.name != "cline" {
			t.Skip("SKIPPED: it works in its own process")
		}
		p := newPlace(t)
		up := modelapi.New(modelapi.Options{Script: modelapi.FixIt(), Dir: p.project})
		defer up.Close()
		p.run(t, c, up.URL, "wrap").check(t, p, up)
		// A process of the run has its home, whatever its parent is.
		environs, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil || len(environs) == 0 {
			t.Fatal(environs, err)
		}
		for _, path := range environs {
			if env, err := os.ReadFile(path); err == nil && bytes.Contains(env, []byte("HOME="+p.home+"\x00")) {
				command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
				t.Errorf("left: %q", bytes.Split(command, []byte{0}))
			}
		}
		if found, err := filepath.Glob(p.home + "/.cline/data/locks/*/*"); err != nil || len(found) > 0 {
			t.Errorf("left: %q, %v", found, err)
		}
	})
}
