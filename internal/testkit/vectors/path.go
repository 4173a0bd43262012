package vectors

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a file or directory in "shared", and skips the test if it does not exist.
func Path(tb testing.TB, elem ...string) string {
	tb.Helper()
	path := filepath.Join(filepath.Dir(root(tb)), "shared", filepath.Join(elem...))
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("SKIPPED: the test material is not beside the repository: %v", err)
	}
	return path
}

// root is the folder with go.mod: tests run in the folder of their package.
func root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("there is no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// Decode returns the cases of a file in shared/vectors, which has one JSON object per line. It skips the test if the
// file is missing, and fails it at the first line that is not a T.
func Decode[T any](tb testing.TB, file string) []T {
	tb.Helper()
	data, err := os.ReadFile(Path(tb, "vectors", file))
	if err != nil {
		tb.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	cases := make([]T, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal(line, &cases[i]); err != nil {
			tb.Fatalf("%s:%d: %v", file, i+1, err)
		}
	}
	return cases
}

// Value returns the value that JSON represents, so that two spellings of the same value compare equal.
func Value(tb testing.TB, raw []byte) (value any) {
	tb.Helper()
	if err := json.Unmarshal(raw, &value); err != nil {
		tb.Fatalf("%v: %.100s", err, raw)
	}
	return value
}
