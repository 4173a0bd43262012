package wire

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Pieces of a mirror come back as they were sent, and a digest is that of the bytes, however they were cut.
func TestPiecesOfAMirrorComeBack(t *testing.T) {
	histories := gen.History(gen.Options{MaxEntries: 6})
	rapid.Check(t, func(t *rapid.T) {
		var want []MirrorPiece
		for i, c := range histories.Draw(t, "entries") {
			want = append(want, MirrorPiece{Entry: &Entry{ID: "e", Tokens: i, Content: c}})
			edited := rewrite.Edited{Index: i, Blocks: []rewrite.BlockPiece{{Keep: i}}}
			for _, b := range c.Blocks {
				edited.Blocks = append(edited.Blocks, rewrite.BlockPiece{Block: b})
			}
			want = append(want, MirrorPiece{Edited: &edited, Tokens: 7 * i}, MirrorPiece{Kept: rewrite.Keep{From: i, To: 2 * i}})
		}
		var stream []byte
		w := NewWriter(func(chunk []byte) error { stream = append(stream, chunk...); return nil })
		for _, p := range want {
			if err := w.MirrorPiece(p); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		size := rapid.IntRange(1, 500).Draw(t, "chunk size")
		var whole, cut Digest
		whole.add(stream)
		recv := chunks(stream, size)
		got, err := ReadAll(func() ([]byte, error) {
			chunk, err := recv()
			cut.add(chunk)
			return chunk, err
		}, Limits{Count: len(want)}, DecodeMirrorPiece)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(content.Content.Equal), cmp.Comparer(content.Equal)); len(want) > 0 && diff != "" {
			t.Fatal(diff)
		}
		if d, ok := decodeDigest(cut.encode()); !ok || d != whole {
			t.Fatalf("the digest is %+v in parts and %+v as a whole", d, whole)
		}
	})
}

func TestAPieceOfAMirrorThatSaysNothingIsRefused(t *testing.T) {
	for name, msg := range map[string][]byte{
		"empty":         nil,
		"a newer kind":  protowire.AppendVarint(protowire.AppendTag(nil, 9, protowire.VarintType), 1),
		"cut off":       {mirrorKeep<<3 | 2, 5},
		"of wrong type": {mirrorKeep << 3, 1},
	} {
		if _, err := DecodeMirrorPiece(msg); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, ok := decodeDigest(make([]byte, 32)); ok {
		t.Error("a digest of another length was read")
	}
}
