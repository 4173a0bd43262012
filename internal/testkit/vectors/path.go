package vectors

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Tools is the taxonomy of the cases.
func Tools(tb testing.TB) *tools.Taxonomy {
	tb.Helper()
	taxonomy, err := tools.ForPresets([]string{"llxprt"}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return taxonomy
}

// CrossedCase is the one case of optimize.jsonl that contradicts the rule for equal ids within one entry. In it entry 6
// calls replace and then ast_read_file with the id c4; entry 9 answers as replace, entry 10 as ast_read_file. The case
// takes entry 9 for the answer to the read (last in, first out) and removes it, which leaves the read's content as the
// answer to the write. The tests of package sdk/prune hold what is right there.
const CrossedCase = "opt-159-mixed"

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
