package explain_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/lab/explain"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

func of(entries ...content.Content) explain.History {
	return explain.History{Entries: entries, Tokens: ten}
}

// sketch shows a difference in one line an item.
func sketch(d explain.Difference) []string {
	at := func(p *int) string {
		if p == nil {
			return "-"
		}
		return fmt.Sprint(*p)
	}
	var out []string
	for _, item := range d.Items {
		line := fmt.Sprintf("%s %s %s", item.Op, at(item.A), at(item.B))
		for _, b := range item.Blocks {
			line += fmt.Sprintf(", %s %s %s", b.Op, at(b.A), at(b.B))
			if b.Op == explain.OpChanged {
				line += " " + b.WhatA + " to " + b.WhatB
			}
		}
		out = append(out, line)
	}
	return out
}

func TestDiff(t *testing.T) {
	exchange := func(id string) []content.Content {
		return []content.Content{
			{Speaker: content.AI, Blocks: []content.Block{call(id, "read_file", `{"file_path":"a"}`)}},
			{
				Speaker: content.Tool,
				Blocks: []content.Block{
					content.ToolResponse{CallID: id, ToolName: "read_file"}.WithResultText("result of " + id),
				},
			},
		}
	}
	pruned := exchange("1")
	pruned[1].Blocks = []content.Block{
		content.ToolResponse{CallID: "1", ToolName: "read_file"}.WithResultText("pruned"),
	}
	two := content.Content{
		Speaker: content.AI,
		Blocks:  []content.Block{call("1", "x", `{}`), content.Text{Text: "and"}, call("2", "y", `{}`)},
	}
	one := two
	one.Blocks = two.Blocks[1:]
	stamped := says(content.AI, "other words")
	stamped.Metadata = json.RawMessage(`{"timestamp":7}`)
	restamped := says(content.AI, "words")
	restamped.Metadata = stamped.Metadata
	later := says(content.AI, "words")
	later.Metadata = json.RawMessage(`{"timestamp":8}`)
	included := says(content.Human, "A beginning that is more than long enough to know it by.\nfile\nEnd.")
	stripped := says(content.Human, "A beginning that is more than long enough to know it by.\ngone\nEnd.")
	tests := map[string]struct {
		a, b []content.Content
		want []string
	}{
		"nothing": {nil, nil, nil},
		"added":   {nil, []content.Content{says("ai", "a")}, []string{"added - 0"}},
		"removed": {
			[]content.Content{says("ai", "a"), says("ai", "b")}, []content.Content{says("ai", "b")},
			[]string{"removed 0 -", "same 1 0"},
		},
		"replaced": {
			[]content.Content{says("ai", "a")}, []content.Content{says("ai", "b")},
			[]string{"removed 0 -", "added - 0"},
		},
		"another speaker": {
			[]content.Content{says("ai", "a")}, []content.Content{says("human", "a")},
			[]string{"removed 0 -", "added - 0"},
		},
		"a pair goes": {
			slices.Concat(exchange("1"), exchange("2")), exchange("2"),
			[]string{"removed 0 -", "removed 1 -", "same 2 0", "same 3 1"},
		},
		"a result is pruned": {
			slices.Concat(exchange("1"), exchange("2")),
			slices.Concat(pruned, exchange("2")),
			[]string{
				"same 0 0", `changed 1 1, changed 0 0 read_file → "result of 1" to read_file → "pruned"`, "same 2 2", "same 3 3"},
		},
		"a call goes": {
			[]content.Content{two}, []content.Content{one}, []string{"changed 0 0, removed 0 -"},
		},
		"a block comes": {[]content.Content{one}, []content.Content{two}, []string{"changed 0 0, added - 0"}},
		"known by metadata": {
			[]content.Content{stamped}, []content.Content{restamped},
			[]string{`changed 0 0, changed 0 0 "other words" to "words"`},
		},
		"metadata does not count": {[]content.Content{restamped}, []content.Content{later}, []string{"same 0 0"}},
		"known by its beginning": {[]content.Content{included}, []content.Content{stripped}, []string{
			`changed 0 0, changed 0 0 "… to know it by. file End." to "… to know it by. gone End."`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := explain.Diff(of(test.a...), of(test.b...), taxonomy(t))
			if diff := cmp.Diff(test.want, sketch(got)); diff != "" {
				t.Error(diff)
			}
			if got.TokensA != 10*len(test.a) || got.TokensB != 10*len(test.b) {
				t.Errorf("%d and %d tokens", got.TokensA, got.TokensB)
			}
		})
	}
}

func TestAHistoryIsEqualToItself(t *testing.T) {
	known := taxonomy(t)
	rapid.Check(t, func(rt *rapid.T) {
		h := gen.History(gen.Options{Malformed: true, MediaBlocks: true}).Draw(rt, "history")
		if d := explain.Diff(of(h...), of(h...), known); !d.Equal || d.Same != len(h) {
			rt.Fatalf("%v", sketch(d))
		}
	})
}

// Every entry of both histories stands in the difference once, in order, and what it calls the same is.
func TestADifferenceIsWhole(t *testing.T) {
	known := taxonomy(t)
	rapid.Check(t, func(rt *rapid.T) {
		a := gen.History(gen.Options{Malformed: true}).Draw(rt, "a")
		b := gen.History(gen.Options{Malformed: true}).Draw(rt, "b")
		for _, c := range a { // some of a in b, some of it cut
			switch rapid.IntRange(0, 3).Draw(rt, "edit") {
			case 0:
				b = append(b, c)
			case 1:
				c.Blocks = c.Blocks[:len(c.Blocks)/2]
				b = append(b, c)
			}
		}
		d := explain.Diff(of(a...), of(b...), known)
		nextA, nextB := 0, 0
		for _, item := range d.Items {
			if item.A != nil {
				if *item.A != nextA {
					rt.Fatalf("entry %d of a follows entry %d", *item.A, nextA-1)
				}
				nextA++
			}
			if item.B != nil {
				if *item.B != nextB {
					rt.Fatalf("entry %d of b follows entry %d", *item.B, nextB-1)
				}
				nextB++
			}
			if (item.A != nil && item.B != nil) != (item.Op == explain.OpSame || item.Op == explain.OpChanged) {
				rt.Fatalf("%s: %v %v", item.Op, item.A, item.B)
			}
			if item.Op == explain.OpSame && !slices.EqualFunc(a[*item.A].Blocks, b[*item.B].Blocks, content.Equal) {
				rt.Fatalf("entries %d and %d are not the same", *item.A, *item.B)
			}
		}
		if nextA != len(a) || nextB != len(b) {
			rt.Fatalf("%d of %d and %d of %d entries", nextA, len(a), nextB, len(b))
		}
	})
}

// What the difference of two long histories costs, of which a tenth is gone and a tenth changed.
func BenchmarkDiff(b *testing.B) {
	known := taxonomy(b)
	for _, n := range []int{25_000, 50_000, 100_000} {
		var before, after []content.Content
		for i := range n {
			c := says(content.AI, fmt.Sprintf("entry %d says that it is %d", i, i*i))
			before = append(before, c)
			switch i % 10 {
			case 3:
			case 7:
				after = append(after, says(content.AI, c.Blocks[0].(content.Text).Text+" and more"))
			default:
				after = append(after, c)
			}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				explain.Diff(of(before...), of(after...), known)
			}
		})
	}
}
