package history_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// A result that reads as if lines of another one had been left out of it stays byte for byte when that other one goes,
// also in an entry that a rewrite has edited, and costs memory as any text of its length does.
func TestWhatReadsLikeAMarkIsText(t *testing.T) {
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "[… 5000 lines omitted: lines 1-5000 of the result of Read /w/big.txt above]\n"
	const most = 1 << 20
	for _, copies := range []int{5, 300, 1200} {
		result := "page\n" + strings.Repeat(mark, copies)
		call := func(id, name, path string) content.Block {
			return content.ToolCall{ID: id, Name: name, Parameters: fmt.Appendf(nil, `{"file_path":%q}`, path)}
		}
		answer := func(id, name, text string) content.Block {
			return content.ToolResponse{CallID: id, ToolName: name}.WithResultText(text)
		}
		h := of(t, human("look"),
			content.Content{Speaker: content.AI, Blocks: []content.Block{call("1", "Read", "/w/big.txt")}},
			content.Content{Speaker: content.Tool, Blocks: []content.Block{
				answer("1", "Read", strings.Repeat("a line\n", 5000))}},
			content.Content{Speaker: content.AI, Blocks: []content.Block{
				call("2", "Read", "/w/a.go"), call("3", "WebFetch", "/x")}},
			content.Content{Speaker: content.Tool, Blocks: []content.Block{
				answer("2", "Read", lines(1, 2, 3)), answer("3", "WebFetch", result)}},
		)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, edits := range [][]rewrite.Edit{
			{{Index: 4, Blocks: []rewrite.BlockPiece{
				{Block: answer("2", "Read", "[… 2 lines omitted]\n"+lines(3))}, {Keep: 1}}}},
			{{Index: 1, Remove: true}, {Index: 2, Remove: true}},
		} {
			s := h.Snapshot()
			s.Tools = taxonomy
			plan, err := s.PlanOptimize(t.Context(), edits, counts)
			if err == nil {
				_, err = h.Apply(plan)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		entries := h.Snapshot().Entries
		now := entries[len(entries)-1].Content.Blocks[1].(content.ToolResponse).ResultText()
		if took := after.TotalAlloc - before.TotalAlloc; now != result || took > most {
			t.Errorf("%d bytes became %d, with %d bytes allocated", len(result), len(now), took)
		}
	}
}

// A reference of ours among lines that read like it brings back what it took, once, wherever the strangers' are.
func TestOnlyOurOwnMarksAreResolved(t *testing.T) {
	const like = "[… 3 lines omitted: lines 1-3 of the result of ls above]\n"
	ours, run := "[… 3 lines omitted: lines 2-4 of the result of ls above]\n", lines(2, 3, 4)
	for name, tt := range map[string]struct{ was, edited, want string }{
		"beside another":     {like + run + like + "new\n", like + ours + like + "new\n", like + run + like + "new\n"},
		"twice":              {run + "new\n" + run, ours + "new\n" + ours, run + "new\n" + run},
		"in place of others": {lines(7, 8, 9) + "new\n", ours + "new\n", ours + "new\n"},
		"more than it took":  {lines(2) + "new\n", ours + "new\n", ours + "new\n"},
		"one that was there": {ours + run + "new\n", ours + ours + "new\n", ours + ours + "new\n"},
	} {
		entries := []content.Content{human("a")}
		for i, text := range []string{lines(1, 2, 3, 4), tt.was} {
			entries = append(entries, ls(fmt.Sprint(i), text)...)
		}
		h := of(t, entries...)
		block := content.ToolResponse{CallID: "1", ToolName: "ls"}.WithResultText(tt.edited)
		for _, edits := range [][]rewrite.Edit{
			{{Index: 4, Blocks: []rewrite.BlockPiece{{Block: block}}}},
			{{Index: 1, Remove: true}, {Index: 2, Remove: true}},
		} {
			plan, err := h.Snapshot().PlanOptimize(t.Context(), edits, counts)
			if err == nil {
				_, err = h.Apply(plan)
			}
			if err != nil {
				t.Fatal(name, err)
			}
		}
		if got := resultOf(h.Snapshot().Entries[2]); got != tt.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// Where lines come back, the marks behind them are still known.
func TestMarksBehindLinesThatComeBack(t *testing.T) {
	result := func(id, text string) []rewrite.BlockPiece {
		return []rewrite.BlockPiece{{Block: content.ToolResponse{CallID: id, ToolName: "ls"}.WithResultText(text)}}
	}
	entries := []content.Content{human("a")}
	for i, text := range []string{lines(1, 2, 3, 4), lines(5, 6, 7), lines(2, 3, 4) + lines(5, 6, 7) + "new\n"} {
		entries = append(entries, ls(fmt.Sprint(i), text)...)
	}
	h := of(t, entries...)
	const first, second = "[… 3 lines omitted: lines 2-4 of the 2nd last result of ls above]\n",
		"[… 3 lines omitted: lines 1-3 of the result of ls above]\n"
	for i, edits := range [][]rewrite.Edit{
		{{Index: 6, Blocks: result("2", first+second+"new\n")}},
		{{Index: 1, Remove: true}, {Index: 2, Remove: true}}, {{Index: 1, Remove: true}, {Index: 2, Remove: true}},
	} {
		plan, err := h.Snapshot().PlanOptimize(t.Context(), edits, counts)
		if err == nil {
			_, err = h.Apply(plan)
		}
		if err != nil {
			t.Fatal(err)
		}
		all := h.Snapshot().Entries
		want := []string{first + second, lines(2, 3, 4) + second, lines(2, 3, 4) + lines(5, 6, 7)}[i] + "new\n"
		if got := resultOf(all[len(all)-1]); got != want {
			t.Errorf("got %q", got)
		}
	}
}

// Who adds an entry cannot say which of its lines are marks.
func TestNobodyElseRecordsMarks(t *testing.T) {
	c := ls("1", "[… 1 line omitted]\n")[1]
	for _, metadata := range []string{
		`{"marksAt":[{"block":0,"line":1,"was":"x"}],"mine":1}`, `{"mine":1,"marks\u0041t":[]}`,
	} {
		c.Metadata = []byte(metadata)
		e := history.New().New([]content.Content{c}, []history.Count{{}})[0]
		if e.Refers || string(e.Content.Metadata) != `{"mine":1}` {
			t.Errorf("%s became %s", metadata, e.Content.Metadata)
		}
	}
}
