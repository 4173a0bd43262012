package vectors

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// Decode returns the cases of a file in shared/vectors, which has one JSON object per line. It skips the test if the
// file is missing, and fails it at the first line that is not a T.
func Decode[T any](tb testing.TB, file string) []T {
	tb.Helper()
	data, err := os.ReadFile(repo.Shared(tb, "vectors", file))
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
