package wire

import (
	"bytes"
	"hash/maphash"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Entries have the same fingerprint if and only if they are written alike, whichever field they differ in.
func TestFingerprintsCoverEveryField(t *testing.T) {
	base := content.Content{Speaker: content.AI, Blocks: []content.Block{}}
	entries := []content.Content{
		base, {Speaker: content.AI}, {Speaker: content.Human, Blocks: base.Blocks},
		{Speaker: content.AI, Blocks: base.Blocks, Metadata: []byte(`{}`)},
		{Speaker: content.AI, Blocks: base.Blocks, Extra: content.FieldsOf(content.Field{Name: "a"})},
		{Speaker: content.AI, Blocks: base.Blocks, Extra: content.FieldsOf(content.Field{Name: "b"})},
		{Speaker: content.AI, Blocks: base.Blocks, Extra: content.FieldsOf(content.Field{Name: "a", Value: []byte(`1`)})},
	}
	for kind := protowire.Number(blockText); kind <= blockOpaque; kind++ {
		var blocks []content.Block
		for i := range len(values{}) {
			var v values
			v[i] = value{str: "x", raw: []byte("x")} // the block takes what it has
			blocks = append(blocks, newBlock(kind, v, content.Fields{}),
				newBlock(kind, v, content.FieldsOf(content.Field{Name: "a"})))
		}
		for _, b := range append(blocks, newBlock(kind, values{}, content.Fields{})) {
			entries = append(entries, content.Content{Speaker: content.AI, Blocks: []content.Block{b}},
				content.Content{Speaker: content.AI, Blocks: []content.Block{b, content.Text{}}})
		}
	}
	seed := maphash.MakeSeed()
	seen := map[uint64][]byte{}
	for _, c := range entries {
		written := AppendContent(nil, c)
		print, _ := Fingerprint(seed, &c)
		if other, found := seen[print]; found && !bytes.Equal(other, written) {
			t.Errorf("%q and %q have the same fingerprint", other, written)
		}
		seen[print] = written
	}
	distinct := map[string]bool{}
	for _, written := range seen {
		distinct[string(written)] = true
	}
	if len(distinct) != len(seen) {
		t.Errorf("%d entries that are written differently have %d fingerprints", len(distinct), len(seen))
	}
}

func TestFingerprintsTellTheOrderOfBlocks(t *testing.T) {
	seed := maphash.MakeSeed()
	rapid.Check(t, func(t *rapid.T) {
		c := genContent().Draw(t, "entry")
		d := c
		d.Blocks = slices.Clone(c.Blocks)
		slices.Reverse(d.Blocks)
		same := bytes.Equal(AppendContent(nil, c), AppendContent(nil, d))
		one, texts := Fingerprint(seed, &c)
		other, reversed := Fingerprint(seed, &d)
		if got := one == other; got != same {
			t.Fatalf("the same fingerprint: %v, written alike: %v", got, same)
		}
		if texts != reversed {
			t.Fatalf("texts of %d bytes, in another order %d", texts, reversed)
		}
	})
}
