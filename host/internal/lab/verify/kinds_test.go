package verify

import (
	"cmp"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	counters "github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// All that treats blocks alike knows a kind by its row in the table of package content. That the published protocol has
// it too is tested in package wire.
func TestAKindOfBlockIsKnownByItsRow(t *testing.T) {
	source, err := os.ReadFile(repo.Path(t, "sdk", "content", "content.go"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range regexp.MustCompile(`(?m)^func \(\w+\) block\(\)`).FindAll(source, -1) {
		k := content.KindNumbered(uint64(i + 1))
		if k == nil {
			t.Fatalf("only %d of the types of blocks have a row", i)
		}
		whole := content.Parts{Kind: k}
		for j, f := range k.Fields {
			if whole.Values[j] = "a line\nof " + f.Name; f.JSON() {
				whole.Values[j] = `{"type":"later","of":"a line\n"}`
			}
		}
		if got := content.Apart(whole.Block()); got != whole || k.Number != i+1 {
			t.Fatalf("kind %d is taken apart as %+v", i+1, got)
		}
		_, file, _ := whole.Attachment()
		for j, f := range k.Fields {
			with := func(value string) content.Content {
				p := whole
				p.Values[j] = value
				return content.Content{Speaker: cmp.Or(k.Speaker, content.AI), Blocks: []content.Block{p.Block()}}
			}
			expect := func(got, want bool, what string) {
				if t.Helper(); got != want {
					t.Errorf("%s of a block %q %s: %v", f.Name, k.Type, what, got)
				}
			}
			c, none := with(whole.Values[j]), with("")
			expect(comesBack(c) && (k.Type == "" || comesBack(none)), true, "is stored and sent")
			expect(check.Content(none) != nil, f.Required() || k.Type == "", "is required")
			expect(check.Content(content.Content{Speaker: content.Human, Blocks: c.Blocks}) != nil, k.Speaker != "", "is no person's")
			more := countsOf(with(strings.Replace(whole.Values[j], "line", "line that is longer", 1)))
			for n, count := range countsOf(c) {
				expect(more[n] > count || file != "", f.Read() || file != "", "counts")
			}
			less := with(strings.NewReplacer("a line\n", "", `a line\n`, "[removed]").Replace(whole.Values[j])).Blocks[0]
			_, err := check.Optimize([]content.Content{c}, []rewrite.Edit{{Blocks: []rewrite.BlockPiece{{Block: less}}}})
			expect(err == nil, f.Cuttable() && whole.Proof() == "", "may lose lines")
		}
	}
}

func countsOf(c content.Content) [3]int {
	counter, err := counters.For("gpt-4o", "")
	if err != nil {
		panic(err)
	}
	return [...]int{counter.Entry(c), conform.Tokens([]content.Content{c}), sdktest.Characters([]content.Content{c})}
}

// comesBack writes an entry in each form, and reads it.
func comesBack(c content.Content) bool {
	var native content.Content
	unread := native.UnmarshalJSON(c.AppendJSON(nil))
	sent, lost := wire.CopyContent(wire.AppendContent(nil, c))
	a := sessionlog.Added{Entries: []*history.Entry{{Content: c, Count: history.Count{Blocks: []int32{1}}}}}
	a, damaged := (&sessionlog.Reader{}).Added(1, (&sessionlog.Writer{}).Added(a))
	return unread == nil && lost == nil && damaged == nil &&
		native.Equal(c) && sent.Equal(c) && a.Entries[0].Content.Equal(c)
}
