package wire

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
	"testing"

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
	for number := uint64(1); content.KindNumbered(number) != nil; number++ {
		none := content.Parts{Kind: content.KindNumbered(number)}
		var blocks []content.Block
		for i := range none.Fields {
			p := none
			p.Values[i] = strings.Clone("x")
			q := p
			q.Extra = content.FieldsOf(content.Field{Name: "a"})
			blocks = append(blocks, p.Block(), q.Block())
		}
		for _, b := range append(blocks, none.Block()) {
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
