package clienttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// project makes the small project that agents work on: a failing test, and a log that is long.
func project(t *testing.T, dir string) {
	t.Helper()
	var log strings.Builder
	for i := range 400 {
		fmt.Fprintf(&log, "2026-11-22T10:%02d:%02dZ level=info req=%012x path=/api/v1/item/%d ms=%d\n", i/60, i%60,
			uint64(i)*0x9e3779b97f4a7c15>>16, i*37%999, i*7919%900)
	}
	for name, text := range map[string]string{
		"calc.py": "\"\"\"A tiny calculator.\"\"\"\n\n\ndef add(a, b):\n    return a - b\n",
		"test_calc.py": "from calc import add\nassert add(2, 3) == 5, \"add(2, 3) is %d\" % add(2, 3)\n" +
			"print(\"1 passed\")\n",
		"README.md": "# calc\n\nThis is a tiny calculator.\n",
		"big.log":   log.String(),
		// About 8 kB of words, and other ones for each number.
		"report.sh": `awk -v seed="$1" 'BEGIN {
	srand(seed)
	n = split("the build takes a file and writes its index while other tests wait for their answer from memory or disk", word)
	for (i = 0; i < 130; i++) {
		line = i
		for (k = 0; k < 9; k++) line = line " " word[1 + int(rand() * n)]
		print line, int(rand() * 10000)
	}
}'
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// fixed reports whether an agent mended the project.
func fixed(t *testing.T, dir string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "calc.py"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(text), "return a + b")
}
