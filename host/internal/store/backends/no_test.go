//go:build thresh_no_sqlite && thresh_no_postgres

package backends

import (
	"strings"
	"testing"
)

// internal/importrules runs it.
func TestWithoutDatabases(t *testing.T) {
	for setting, want := range map[string]string{
		"sqlite:/nowhere":      "built without SQLite (tag thresh_no_sqlite)",
		"postgres://u@host/db": "built without PostgreSQL (tag thresh_no_postgres)",
	} {
		if s, err := Open(t.Context(), setting); s != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", setting, s, err, want)
		}
	}
	if s, err := Open(t.Context(), "memory"); s != nil || err != nil {
		t.Errorf("memory: %v, %v", s, err)
	}
}
