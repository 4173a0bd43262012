package summary

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

var equateEmpty = cmpopts.EquateEmpty()

func turnsOf(history []sdk.Content) *turns.Pairs { return turns.Pair(history) }

// pieces generates pieces whose counts are true by some tokenizer that needs two bytes a token or more.
func pieces() *rapid.Generator[[]piece] {
	return rapid.Custom(func(t *rapid.T) []piece {
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 50), rapid.IntRange(1, 3000), rapid.IntRange(1, 200_000)),
			0,
			60).Draw(t, "sizes")
		out := make([]piece, len(sizes))
		for i, n := range sizes {
			text := strings.Repeat(rapid.SampledFrom([]string{"x", "é", "\U0001f469"}).Draw(t, "letter"), n)
			tokens := rapid.IntRange(minTokens(text), roughTokens(text)).Draw(t, "tokens")
			out[i] = piece{text: text, label: "user", tokens: tokens + headingTokens}
		}
		return out
	})
}

func TestAnyRecordIsDividedIntoABoundedNumberOfPartsThatFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := pieces().Draw(t, "record")
		var in sdk.CompressInput
		in.Model = &sdk.Model{ContextLimit: rapid.IntRange(3_000, 100_000).Draw(t, "window")}
		in.History = make([]sdk.Content, 1)
		w := newWindow(in)
		w.fixed = 500
		f := &fitter{in: in}
		all := 0
		for _, p := range record {
			all += len(p.text)
		}
		parts, err := f.parts(record, w, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(parts) == 0 || len(parts) > maxParts {
			t.Fatalf("%d parts", len(parts))
		}
		room, left := w.room(0), 0
		if len(parts) > 1 {
			room = w.room(w.carried)
		}
		for _, p := range parts {
			sum := 0
			for _, piece := range p.pieces {
				sum += max(piece.tokens, minTokens(piece.text))
				left += len(piece.text)
				if !utf8.ValidString(piece.text) {
					t.Fatal("a piece was cut inside of a character")
				}
			}
			if sum > room {
				t.Fatalf("part %d of %d counts %d, there is room for %d", p.number, p.of, sum, room)
			}
		}
		if f.cut+f.left == 0 && left != all {
			t.Fatalf("%d bytes of %d are left, but nothing was counted as cut", left, all)
		}
	})
}

func TestAPartThatWasCutSaysHowMuchIsMissing(t *testing.T) {
	f := new(fitter)
	p := piece{text: strings.Repeat("é", 10_000), tokens: 10_000}
	f.shorten(&p, 148) // 16 for the heading, 16 for the mark, the rest at two bytes each
	want := strings.Repeat("é", 77) + "\n[… 9885 characters left out here …]\n" + strings.Repeat("é", 38)
	if p.text != want || p.tokens != 148 || f.cut != 1 {
		t.Errorf("%d tokens, %d cut: %s", p.tokens, f.cut, p.text)
	}
}
