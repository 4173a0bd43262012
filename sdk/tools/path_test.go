package tools_test

import (
	"testing"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// What is decided by the history alone is the same on every system.
func TestAFileInAnotherSpellingIsTheSame(t *testing.T) {
	for _, tt := range []struct{ root, path, want string }{
		{`C:\src`, `C:\src\Main.go`, "c:/src/main.go"},
		{`C:\src`, "C:/src/main.go", "c:/src/main.go"},
		{`c:/src`, `C:\SRC\.\a\..\main.go`, "c:/src/main.go"},
		{`C:\src`, `main.go`, "c:/src/main.go"},
		{`C:\src`, `a\..\main.go`, "c:/src/main.go"},
		{`C:\src`, `..\x.go`, "c:/x.go"},
		{`C:\src`, `..\..\..\x.go`, "c:/x.go"},
		{`C:\src`, `\x.go`, "c:/x.go"},
		{`C:\src`, `/c/src/main.go`, "c:/src/main.go"},
		{`C:\src`, `/mnt/c/src/main.go`, "c:/src/main.go"},
		{`C:\src`, `/cygdrive/c/src/main.go`, "c:/src/main.go"},
		{`C:\src`, `\\?\C:\src\main.go`, "c:/src/main.go"},
		{`C:\src`, `//?/C:/src/main.go`, "c:/src/main.go"},
		{`C:\src`, `/tmp/Main.go`, "/tmp/Main.go"},
		{`C:\src`, `D:\main.go`, "d:/main.go"},
		{`C:\src`, `\\server\share\A.go`, "//server/share/A.go"},
		{`C:\src`, `\\?\UNC\server\share\A.go`, "//server/share/A.go"},
		{`\\server\share`, `A.go`, "//server/share/A.go"},
		{`\\server\share`, `//server/share/a/../A.go`, "//server/share/A.go"},
		{"", `C:\src\Main.go`, "c:/src/main.go"},
		{"", `C:`, "c:/"},
		// A machine with Unix: nothing changes for its paths, and a path with a drive is what WSL, or Git's shell, has.
		{"/src", "/mnt/c/Main.go", "/mnt/c/Main.go"},
		{"/src", "/c/Main.go", "/c/Main.go"},
		{"/src", `a\b.go`, `/src/a\b.go`},
		{"/src", "//server/a", "/server/a"},
		{"/src", "c:x", "/src/c:x"},
		{"/mnt/c/src", `C:\src\Main.go`, "/mnt/c/src/Main.go"},
		{"/mnt/c/src", "Main.go", "/mnt/c/src/Main.go"},
		{"/c/src", `C:\src\Main.go`, "/c/src/Main.go"},
		{"/", `C:\src\Main.go`, "/mnt/c/src/Main.go"},
		{"", "a/../b", "b"},
	} {
		if got := tools.Key(tt.root, tt.path); got != tt.want {
			t.Errorf("%s in %s: %s, want %s", tt.path, tt.root, got, tt.want)
		}
	}
	if got := tools.Resolve(`C:\src`, `Main.go`); got != "c:/src/Main.go" {
		t.Errorf("a path that is shown: %s", got)
	}
}
