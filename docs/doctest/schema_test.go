package doctest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTheSchemasAreCurrent compares docs/schema with what 'thresh config schema' prints: editors read them from there.
func TestTheSchemasAreCurrent(t *testing.T) {
	for _, name := range []string{"config", "entry"} {
		printed, err := exec.CommandContext(t.Context(), filepath.Join(bin, "thresh"), "config", "schema", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(root, "docs", "schema", name+".schema.json")
		if *update {
			if err := os.WriteFile(file, printed, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(kept, printed) {
			t.Errorf("%s is not what 'thresh config schema %s' prints ('make docs' writes it): %v", file,
				name, err)
		}
	}
}
