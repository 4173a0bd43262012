package recordings

import (
	"os"
	"path/filepath"
	"testing"
)

// A session of Windows is about its project in whatever spelling that is named.
func TestAProjectOfWindowsInAnotherSpelling(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(`{"type":"user","cwd":"C:\\Work\\app"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for project, want := range map[string]bool{`C:\Work\app`: true, `c:\work`: true, "C:/WORK/app": true, `C:\Work\ap`: false,
		`D:\Work\app`: false} {
		if got := (Found{Path: path}).about(project); got != want {
			t.Errorf("the file, %s: %v", project, got)
		}
		if got := (Found{dir: `C:\Work\app`}).about(project); got != want {
			t.Errorf("the database, %s: %v", project, got)
		}
	}
}
