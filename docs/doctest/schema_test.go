package doctest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
)

// TestTheSchemaIsCurrent compares the schema of settings in docs/schema with the settings: editors read it there.
func TestTheSchemaIsCurrent(t *testing.T) {
	file := filepath.Join(root, "docs", "schema", "config.schema.json")
	if *update {
		if err := os.WriteFile(file, config.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(kept, config.Schema()) {
		t.Errorf("%s is not current ('make docs' writes it): %v", file, err)
	}
}
