package vectors

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf16"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Counter returns the token counter that a case names: [JSON4] for "json4", [Leaf] for "leaf". Any other name fails
// the test.
func Counter(tb testing.TB, name string) func([]content.Content) int {
	tb.Helper()
	switch name {
	case "json4":
		return JSON4
	case "leaf":
		return Leaf
	}
	tb.Fatalf("unknown token counter %q in the case", name)
	return nil
}

// JSON4 counts a quarter of the UTF-16 length of the entries' compact JSON, rounded up; 0 for no entries.
func JSON4(entries []content.Content) int {
	if len(entries) == 0 {
		return 0
	}
	units := 1 // the two brackets and one comma fewer than entries; the loop adds one per entry
	for _, e := range entries {
		units += 1 + len(utf16.Encode([]rune(string(compact(e.AppendJSON(nil))))))
	}
	return (units + 3) / 4
}

// compact removes insignificant space. What is not valid JSON stays as it is.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// Leaf counts an entry as four plus a quarter, rounded up, of the bytes of all strings in its blocks.
func Leaf(entries []content.Content) int {
	n := 0
	for _, e := range entries {
		size := 0
		for _, b := range e.Blocks {
			var v any
			if json.Unmarshal(content.AppendBlock(nil, b), &v) == nil {
				size += leafBytes(v)
			}
		}
		n += 4 + (size+3)/4
	}
	return n
}

// leafBytes adds up the strings in a JSON value, without the keys of objects.
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
