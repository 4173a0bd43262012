package rewrite

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Entries and blocks are compared by what they say.
var (
	compareContent = cmp.Comparer(func(a, b content.Content) bool { return a.Equal(b) })
	compareBlock   = cmp.Comparer(func(a, b content.Block) bool { return content.Equal(a, b) })
)

func text(s string) content.Block { return content.Text{Text: s} }

func entry(s content.Speaker, texts ...string) content.Content {
	c := content.Content{Speaker: s, Blocks: []content.Block{}}
	for _, t := range texts {
		c.Blocks = append(c.Blocks, text(t))
	}
	return c
}

// placed gives entries their origins, as a strategy gets them.
func placed(history ...content.Content) []content.Content {
	for i := range history {
		history[i] = history[i].WithOrigin(i)
	}
	return history
}

func with(c content.Content, texts ...string) content.Content {
	c.Blocks = entry("", texts...).Blocks
	return c
}

func TestEdits(t *testing.T) {
	history := placed(entry("human", "q"), entry("ai", "a", "b", "a"), entry("tool", "x", "y"), entry("ai", "z"),
		entry("tool", "s", "s"))
	tests := map[string]struct {
		removals     []int
		replacements map[int]content.Content
		want         []Edit
	}{
		"nothing": {},
		"removals and replacements come in the order of the history": {
			[]int{0, 3}, map[int]content.Content{2: with(history[2], "y"), 1: with(history[1], "b", "new", "a")},
			[]Edit{
				{Index: 0, Remove: true},
				{Index: 1, Blocks: []BlockPiece{{Keep: 1}, {Block: text("new")}, {Keep: 2}}},
				{Index: 2, Blocks: []BlockPiece{{Keep: 1}}},
				{Index: 3, Remove: true},
			},
		},
		"of equal blocks the one in the same place is kept": {
			nil, map[int]content.Content{4: with(history[4], "new", "s")},
			[]Edit{{Index: 4, Blocks: []BlockPiece{{Block: text("new")}, {Keep: 1}}}},
		},
		"a replacement that changes nothing": {nil, map[int]content.Content{1: history[1]}, nil},
		"a replacement without blocks":       {nil, map[int]content.Content{3: with(history[3])}, []Edit{{Index: 3}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Edits(history, tt.removals, tt.replacements, nil)
			if diff := cmp.Diff(tt.want, got, compareBlock, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestEditsCarryTheReasonsThatAreWellFormed(t *testing.T) {
	history := placed(entry("human", "q"), entry("ai", "a"), entry("tool", "x"), entry("ai", "z"))
	got, err := Edits(history, []int{0, 2}, map[int]content.Content{1: with(history[1], "b"), 3: history[3]},
		map[int]sdk.Reason{
			0: {Rule: "Not a rule", SupersededBy: new(3)},
			1: {Rule: "old", SupersededBy: new(4)},
			3: {Rule: "of-no-edit"},
		})
	want := []Edit{
		{Index: 0, Remove: true, Reason: sdk.Reason{SupersededBy: new(3)}},
		{Index: 1, Blocks: []BlockPiece{{Block: text("b")}}, Reason: sdk.Reason{Rule: "old"}},
		{Index: 2, Remove: true},
	}
	if diff := cmp.Diff(want, got, compareBlock); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestEditsRefusesInWordsForAuthors(t *testing.T) {
	history := placed(entry("human", "q"), entry("ai", "a"), entry("tool", "x"))
	speaker, metadata, extra := history[1], history[1], history[1]
	speaker.Speaker = "human"
	metadata.Metadata = json.RawMessage(`{}`)
	extra.Extra = content.FieldsOf(content.Field{Name: "x"})
	tests := map[string]struct {
		removals     []int
		replacements map[int]content.Content
		says         string
	}{
		"removal below the history":   {[]int{-1}, nil, "Removals names entry -1, but the history has 3 entries"},
		"removal behind the history":  {[]int{3}, nil, "Removals names entry 3"},
		"replacement behind it":       {nil, map[int]content.Content{7: {}}, "Replacements names entry 7"},
		"the same removal twice":      {[]int{1, 1}, nil, "1 follows 1"},
		"removals that do not ascend": {[]int{2, 1}, nil, "1 follows 2"},
		"both removed and replaced": {[]int{1}, map[int]content.Content{1: with(history[1], "z")},
			"entry 1 stands in Removals and in Replacements"},
		"a replacement's other speaker": {nil, map[int]content.Content{1: speaker},
			`Optimize replaced entry 1 and changed its speaker from "ai" to "human"`},
		"a replacement's metadata":     {nil, map[int]content.Content{1: metadata}, "changed its metadata"},
		"a replacement's extra fields": {nil, map[int]content.Content{1: extra}, "changed its extra fields"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Edits(history, tt.removals, tt.replacements, nil)
			if !errors.Is(err, ErrBadResult) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v; want ErrBadResult that says %q", err, tt.says)
			}
		})
	}
}

func TestPieces(t *testing.T) {
	h := placed(entry("human", "q"), entry("ai", "a", "b"), entry("tool", "x"), entry("ai", "z"), entry("human", "end"))
	renamed := h[1]
	renamed.Speaker = "human"
	summary := entry("human", "summary")
	tests := map[string]struct {
		result []content.Content
		want   []Piece
	}{
		"nothing":                {nil, nil},
		"all of it is one range": {h, []Piece{Keep{0, 5}}},
		"gaps split ranges":      {[]content.Content{h[0], h[1], h[3], h[4]}, []Piece{Keep{0, 2}, Keep{3, 5}}},
		"a new entry between": {[]content.Content{h[0], summary, h[4]},
			[]Piece{Keep{0, 1}, Added{summary}, Keep{4, 5}}},
		"other blocks": {[]content.Content{with(h[1], "b", "c"), h[2]},
			[]Piece{Edited{1, []BlockPiece{{Keep: 1}, {Block: text("c")}}}, Keep{2, 3}}},
		"another speaker is new":     {[]content.Content{renamed, h[2]}, []Piece{Added{renamed}, Keep{2, 3}}},
		"an entry twice is new":      {[]content.Content{h[0], h[0]}, []Piece{Keep{0, 1}, Added{h[0]}}},
		"an entry moved back is new": {[]content.Content{h[4], h[0]}, []Piece{Keep{4, 5}, Added{h[0]}}},
		"an equal entry made again": {[]content.Content{entry("human", "q"), h[1]},
			[]Piece{Added{h[0]}, Keep{1, 2}}},
		"an origin out of the history": {[]content.Content{summary.WithOrigin(99)}, []Piece{Added{summary}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Pieces(h, tt.result)
			if diff := cmp.Diff(tt.want, got, compareContent, compareBlock); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// rebuilt is what a host makes of pieces, checking that kept parts ascend.
func rebuilt(t *rapid.T, history []content.Content, pieces []Piece) []content.Content {
	var out []content.Content
	next := 0
	kept := func(index int) content.Content {
		if index < next || index >= len(history) {
			t.Fatalf("entry %d is kept behind %d", index, next)
		}
		next = index + 1
		return history[index]
	}
	for _, p := range pieces {
		switch p := p.(type) {
		case Keep:
			for i := p.From; i < p.To; i++ {
				out = append(out, kept(i))
			}
		case Edited:
			c := kept(p.Index)
			c.Blocks = rebuiltBlocks(t, c.Blocks, p.Blocks)
			out = append(out, c)
		case Added:
			out = append(out, p.Content)
		}
	}
	return out
}

func rebuiltBlocks(t *rapid.T, original []content.Block, pieces []BlockPiece) []content.Block {
	out := []content.Block{}
	next := 0
	for _, p := range pieces {
		if p.Block != nil {
			out = append(out, p.Block)
			continue
		}
		if p.Keep < next || p.Keep >= len(original) {
			t.Fatalf("block %d is kept behind %d", p.Keep, next)
		}
		next = p.Keep + 1
		out = append(out, original[p.Keep])
	}
	return out
}

func TestPiecesSayExactlyWhatTheStrategyReturned(t *testing.T) {
	letters := rapid.SampledFrom([]string{"a", "b", "c"})
	entries := rapid.Custom(func(t *rapid.T) content.Content {
		return entry(content.Speaker(letters.Draw(t, "speaker")), rapid.SliceOfN(letters, 0, 4).Draw(t, "texts")...)
	})
	rapid.Check(t, func(t *rapid.T) {
		history := placed(rapid.SliceOfN(entries, 0, 6).Draw(t, "history")...)
		var result []content.Content
		for range rapid.IntRange(0, 8).Draw(t, "length") {
			c := entries.Draw(t, "new")
			if len(history) > 0 && rapid.Bool().Draw(t, "from history") {
				c = history[rapid.IntRange(0, len(history)-1).Draw(t, "index")]
				if rapid.Bool().Draw(t, "changed") {
					c = with(c, rapid.SliceOfN(letters, 0, 4).Draw(t, "texts")...)
				}
			}
			result = append(result, c)
		}
		got := rebuilt(t, history, Pieces(history, result))
		if diff := cmp.Diff(result, got, compareContent); diff != "" {
			t.Fatalf("(-returned +rebuilt):\n%s", diff)
		}
	})
}

func BenchmarkDiffOfOneEntryWithManyBlocks(b *testing.B) {
	for _, n := range []int{25_000, 50_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var blocks []content.Block
			for i := range n {
				blocks = append(blocks, text(fmt.Sprint("block ", i%10)))
			}
			changed := slices.Clone(blocks)
			slices.Reverse(changed)
			b.ReportAllocs()
			for b.Loop() {
				BlockPieces(blocks, changed)
			}
		})
	}
}

func BenchmarkPieces(b *testing.B) {
	history := placed(gen.Session(5000, 1)...)
	result := append(history[:100:100], history[200:]...)
	b.ReportAllocs()
	for b.Loop() {
		Pieces(history, result)
	}
}
