package wire

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

func protocol(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../proto/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// bytesIn returns the bytes that stand in a text as pairs of hex digits, before two spaces and words on each line.
func bytesIn(t *testing.T, text string) []byte {
	t.Helper()
	var digits strings.Builder
	for line := range strings.Lines(text) {
		digits.WriteString(regexp.MustCompile(`^(\s*[0-9a-f]{2}\b)*`).FindString(line))
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(digits.String()), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// example returns the code block of PROTOCOL.md that begins with the given bytes.
func example(t *testing.T, begin string) []byte {
	t.Helper()
	_, text, ok := strings.Cut(protocol(t), "```\n"+begin)
	if !ok {
		t.Fatalf("no example begins with %q", begin)
	}
	text, _, _ = strings.Cut(text, "```")
	return bytesIn(t, begin+text)
}

func TestTheBytesInPROTOCOLAreRight(t *testing.T) {
	var stream []byte
	w := NewWriter(func(chunk []byte) error { stream = append(stream, chunk...); return nil })
	check := func(name, begin string, errs ...error) {
		t.Helper()
		for _, err := range append(errs, w.Flush()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(hex.EncodeToString(stream), hex.EncodeToString(example(t, begin))); diff != "" {
			t.Errorf("%s (-right +written):\n%s", name, diff)
		}
		stream = nil
	}
	check("two entries", "17 ",
		w.Entry("e1", 3, content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: "hi"}}}),
		w.Entry("e2", 9, content.Content{Speaker: content.AI, Blocks: []content.Block{
			content.ToolCall{ID: "c1", Name: "ls", Parameters: json.RawMessage(`{}`)},
		}}))
	check("edits", "04  08",
		w.Edit(rewrite.Edit{Index: 1, Remove: true}),
		w.Edit(rewrite.Edit{Index: 1, Blocks: []rewrite.BlockPiece{{Keep: 0}, {Block: content.Text{Text: "ok"}}}}),
		w.Edit(rewrite.Edit{Index: 1, Remove: true, Reason: sdk.Reason{Rule: "stale-read", SupersededBy: new(4)}}))
	check("pieces", "04  0a 02 10 01                                        Piece", w.Piece(rewrite.Keep{From: 0, To: 1}))
	check("pieces of a mirror", "04  0a 02 10 01                                        Mirror",
		w.MirrorPiece(MirrorPiece{Kept: rewrite.Keep{From: 0, To: 1}}),
		w.MirrorPiece(MirrorPiece{Tokens: 4, Edited: &rewrite.Edited{
			Index: 1, Blocks: []rewrite.BlockPiece{{Keep: 0}, {Block: content.Text{Text: "ok"}}},
		}}))
	var d Digest
	d.add(example(t, "17 "))
	if diff := cmp.Diff(hex.EncodeToString(d.encode()), hex.EncodeToString(example(t, "00 00 00"))); diff != "" {
		t.Errorf("the digest of the two entries (-right +written):\n%s", diff)
	}
}

func TestPROTOCOLNamesWhatTheCodeUses(t *testing.T) {
	text := protocol(t)
	for _, word := range []string{CookieKey, CookieValue, EnvLifeline} {
		if !strings.Contains(text, "`"+word+"`") {
			t.Errorf("PROTOCOL.md does not name %s", word)
		}
	}
}
