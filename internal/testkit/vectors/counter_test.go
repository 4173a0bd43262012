package vectors_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk/content"
)

func TestCounters(t *testing.T) {
	said := func(text string) content.Content {
		return content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: text}}}
	}
	call := content.Content{Speaker: content.AI, Blocks: []content.Block{
		content.ToolCall{ID: "1", Name: "ls", Parameters: []byte(`{ "long": ["ab", 7, {"c": "d"}] }`)},
	}}
	const wide = "\U0001f469" // 2 units of UTF-16, 4 bytes
	tests := map[string]struct {
		entries     []content.Content
		json4, leaf int
	}{
		"none":                            {nil, 0, 0},
		"60 units; the strings have 6":    {[]content.Content{said("hi")}, 15, 4 + 2},
		"119, with a comma":               {[]content.Content{said("hi"), said("hi")}, 30, 2 * (4 + 2)},
		"60 units, which are 62 bytes":    {[]content.Content{said(wide)}, 15, 4 + 2},
		"61 units, which are 60 letters":  {[]content.Content{said("h" + wide)}, 16, 4 + 3},
		"no spaces; strings, but no keys": {[]content.Content{call}, 28, 4 + 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if n := vectors.Counter(t, "json4")(test.entries); n != test.json4 {
				t.Errorf("json4 counts %d, want %d", n, test.json4)
			}
			if n := vectors.Counter(t, "leaf")(test.entries); n != test.leaf {
				t.Errorf("leaf counts %d, want %d", n, test.leaf)
			}
		})
	}
}
