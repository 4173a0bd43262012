package proxy

import (
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/sdk/content"
)

const reference = "Wasted call — file unchanged since your last Read."

// A request with many references is read in steps whose number grows with its size, not with its square.
func TestManyReferencesAreResolvedInLinearTime(t *testing.T) {
	reads := func(n int) (entries []body.Entry) {
		add := func(c content.Content) { entries = append(entries, body.Entry{Content: c}) }
		for i := range n {
			result := reference
			if i < n/2 {
				result = fmt.Sprint("what file ", i, " says")
			}
			id := fmt.Sprint("c", i)
			add(content.Content{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: id, Name: "read",
				Parameters: fmt.Appendf(nil, `{"path":"%d","lines":[1,2]}`, i%(n/2))}}})
			add(content.Content{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: id,
				ToolName: "read", Result: content.String(result)}}})
		}
		return entries
	}
	allocs := func(n int) float64 {
		entries := reads(n)
		contents, edited := (&branch{}).resolved(entries)
		if len(edited) != n/2 {
			t.Fatalf("%d of %d references are resolved", len(edited), n/2)
		}
		for _, i := range edited {
			r := contents[i].Blocks[0].(content.ToolResponse)
			if want := fmt.Sprint("what file ", i/2-n/2, " says"); r.ResultText() != want {
				t.Fatalf("entry %d: %q, want %q", i, r.ResultText(), want)
			}
		}
		return testing.AllocsPerRun(1, func() { (&branch{}).resolved(entries) })
	}
	if few, many := allocs(1000), allocs(8000); many > 10*few { // 8 is linear, 64 is quadratic
		t.Errorf("%v allocations for 1000 reads, %v for 8000", few, many)
	}
}

// A reference is to the last result of a call that asked the same, before it.
func TestWhatAReferenceRefersTo(t *testing.T) {
	call := func(id, name, params string) content.Content {
		return content.Content{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: id, Name: name,
			Parameters: []byte(params)}}}
	}
	result := func(id, text, failed string) content.Content {
		return content.Content{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: id,
			ToolName: "read", Result: content.String(text), Error: failed}}}
	}
	asks := call("z", "read", `{"b":[1.0],"a":"x"}`)
	for name, tt := range map[string]struct {
		before []content.Content
		want   string
	}{
		"the last of two": {[]content.Content{call("a", "read", `{"a":"x","b":[1]}`), result("a", "old", ""),
			call("b", "read", `{"a":"x","b":[1]}`), result("b", "new", "")}, "new"},
		"not one of another tool or file": {[]content.Content{call("a", "read", `{"a":"x","b":[1]}`), result("a", "old", ""),
			call("b", "cat", `{"a":"x","b":[1]}`), result("b", "new", ""), call("c", "read", `{"a":"y","b":[1]}`),
			result("c", "other", "")}, "old"},
		"not a failed one": {[]content.Content{call("a", "read", `{"a":"x","b":[1]}`), result("a", "old", ""),
			call("b", "read", `{"a":"x","b":[1]}`), result("b", "new", "it failed")}, "old"},
		"not what stands in its place": {[]content.Content{call("a", "read", `{"a":"x","b":[1]}`), result("a", "old", ""),
			call("b", "read", `{"a":"x","b":[1]}`), result("b", "[Old tool result content cleared]", ""),
			call("c", "read", `{"a":"x","b":[1]}`), result("c", "", "")}, "old"},
		"not a reference": {[]content.Content{call("a", "read", `{"a":"x","b":[1]}`), result("a", "old", ""),
			call("b", "read", `{"a":"x","b":[1]}`), result("b", reference, "")}, "old"},
		"an id that was used again": {[]content.Content{call("a", "read", `{"a":"x","b":[1]}`), result("a", "old", ""),
			call("z", "read", `{"a":"y"}`), result("z", "other", "")}, "old"},
		"not one of a call beside it with its id": {[]content.Content{call("a", "read", `{"a":"x","b":[1]}`),
			result("a", "old", ""), {Speaker: content.AI, Blocks: append(call("b", "read", `{"a":"y"}`).Blocks,
				call("b", "read", `{"a":"x","b":[1]}`).Blocks...)}, result("b", "of y", "")}, "old"},
		"nothing": {[]content.Content{call("a", "read", `no JSON`), result("a", "old", "")}, reference},
	} {
		var entries []body.Entry
		for _, c := range append(tt.before, asks, result("z", reference, "")) {
			entries = append(entries, body.Entry{Content: c})
		}
		contents, _ := (&branch{}).resolved(entries)
		got := contents[len(contents)-1].Blocks[0].(content.ToolResponse).ResultText()
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
