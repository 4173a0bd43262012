package journal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

func past(tb rapid.TB, entries ...content.Content) *journal.Past {
	tb.Helper()
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := journal.NewPast(context.Background(), taxonomy)
	if err == nil {
		err = p.Add(context.Background(), entries)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func look(tb rapid.TB, p *journal.Past, q search.Query) search.Found {
	tb.Helper()
	found, err := p.Search(context.Background(), nil, q)
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

func call(id, tool, parameters, result string) []content.Content {
	return []content.Content{
		{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: id, Name: tool, Parameters: []byte(parameters)}}},
		{Speaker: content.Tool, Blocks: []content.Block{
			content.ToolResponse{CallID: id, ToolName: tool}.WithResultText(result)}},
	}
}

// Whatever was said, in lines of any form, each word of it is found and shown, in as many tokens as are asked for.
func TestEveryWordIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		indent := rapid.SampledFrom([]string{"", "", "  ", "\t", "    ", "  12→", "@@ ", "## ", "-", "+", "}", "=== RUN "})
		var all []content.Content
		words := 0
		for of := range rapid.IntRange(1, 4).Draw(t, "results") {
			var text strings.Builder
			for range rapid.IntRange(1, 80).Draw(t, "lines") {
				if text.WriteString(indent.Draw(t, "indent")); rapid.IntRange(0, 5).Draw(t, "blank") > 0 {
					fmt.Fprintf(&text, "unique%dword the same of all%s", words, strings.Repeat(" it", rapid.IntRange(0, 9).Draw(t, "more")))
					words++
				}
				text.WriteString("\n")
			}
			all = append(all, call(fmt.Sprint("c", of), "Read", `{"file_path":"/a.go"}`, text.String())...)
		}
		p := past(t, all...)
		for range min(words, 8) {
			word := fmt.Sprintf("unique%dword", rapid.IntRange(0, words-1).Draw(t, "word"))
			q := search.Query{Words: word, Tokens: rapid.IntRange(60, 700).Draw(t, "tokens")}
			found := look(t, p, q)
			sum := 0
			for _, p := range found.Passages {
				sum += p.Tokens
			}
			if len(found.Passages) == 0 || !strings.Contains(found.Passages[0].Text, word) || sum > q.Tokens ||
				found.Absent != nil {
				t.Fatalf("%+v finds %+v", q, found)
			}
		}
	})
}

// A call that is found has the ends of its result, unless that is found itself.
func TestACallHasItsResult(t *testing.T) {
	p := past(t, call("c1", "Bash", `{"command":"make check"}`, strings.Repeat("a test passed\n", 400)+"28 fail")...)
	found := look(t, p, search.Query{Words: `"make check"`})
	if len(found.Passages) != 1 || found.Passages[0].Result == nil {
		t.Fatalf("found %+v", found)
	}
	if r := found.Passages[0].Result; r.Of != 401 || r.Entry != "e2" || !strings.HasSuffix(r.Text, "28 fail\n") ||
		!strings.HasPrefix(r.Text, "a test passed\n") {
		t.Errorf("its result: %+v", r)
	}
	for _, p := range look(t, p, search.Query{Words: "check 28 fail"}).Passages {
		if p.Result != nil {
			t.Errorf("the result is shown twice: %+v", p)
		}
	}
}

// Of several readings of a file the newest is shown, and where the others are; what only an older one has is found there.
func TestTheNewestOfMuchTheSame(t *testing.T) {
	code := "func run() {\n\tfirst()\n\tsecond()\n\tthird()\n\tfourth()\n}\n"
	var all []content.Content
	for i, text := range []string{code, strings.Replace(code, "second", "oldName", 1), code, code} {
		all = append(all, call(fmt.Sprint("c", i), "Read", `{"file_path":"/w/run.go"}`, text)...)
	}
	p := past(t, all...)
	found := look(t, p, search.Query{Words: "third fourth"})
	if len(found.Passages) != 1 || found.Passages[0].Entry != "e8" || len(found.Passages[0].Also) != 3 {
		t.Fatalf("found %+v", found)
	}
	for _, also := range found.Passages[0].Also {
		if also.Changed != (also.Entry == "e4") {
			t.Errorf("also %+v", also)
		}
	}
	if found := look(t, p, search.Query{Words: "third oldName"}); found.Passages[0].Entry != "e4" {
		t.Errorf("what has both words: %+v", found)
	}
}
