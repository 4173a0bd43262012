package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf16"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// vectors returns the lines of a file of the shared vectors, which lie beside the repository where they are used.
func vectors(t *testing.T, name string) [][]byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(filepath.Dir(dir), "shared", "vectors", name)
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("SKIPPED: the vectors are not here (%s)", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(data), []byte("\n"))
}

// json4 counts a quarter of the UTF-16 length of the compact JSON of the entries.
func json4(entries []sdk.Content) int {
	if len(entries) == 0 {
		return 0
	}
	units := 1 // the brackets and, but for one, the commas
	for _, e := range entries {
		units += 1 + len(utf16.Encode([]rune(string(compact(e.AppendJSON(nil))))))
	}
	return (units + 3) / 4
}

func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// leaf counts a quarter of the bytes of all strings in the blocks of an entry, plus four.
func leaf(entries []sdk.Content) int {
	n := 0
	for _, e := range entries {
		size := 0
		for _, b := range e.Blocks {
			var v any
			if json.Unmarshal(content.AppendBlock(nil, b), &v) == nil {
				size += leafBytes(v)
			}
		}
		n += 4 + int(math.Ceil(float64(size)/4))
	}
	return n
}

func leafBytes(v any) int {
	n := 0
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		for _, x := range v {
			n += leafBytes(x)
		}
	case map[string]any:
		for _, x := range v {
			n += leafBytes(x)
		}
	}
	return n
}
