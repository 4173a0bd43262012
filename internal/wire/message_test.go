package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// appendMessage writes the tag and the length of a field whose body follows.
func appendMessage(dst []byte, num protowire.Number, body int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, num, protowire.BytesType), uint64(body))
}

// appendText writes a field that holds a text.
func appendText(dst []byte, num protowire.Number, text string) []byte {
	return append(appendMessage(dst, num, len(text)), text...)
}

// written returns the only message that write wrote.
func written(t interface{ Fatal(...any) }, write func(*Writer) error) []byte {
	var stream []byte
	w := NewWriter(func(chunk []byte) error { stream = append(stream, chunk...); return nil })
	if err := errors.Join(write(w), w.Flush()); err != nil {
		t.Fatal(err)
	}
	sent := false
	r := NewReader(func() ([]byte, error) { // tests that use it stay below one chunk
		if sent {
			return nil, errors.New("no second chunk was sent")
		}
		sent = true
		return stream, nil
	}, Limits{Count: 1})
	msg, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

var (
	compareContent = cmp.Comparer(func(a, b content.Content) bool { return a.Equal(b) })
	compareBlock   = cmp.Comparer(func(a, b content.Block) bool { return content.Equal(a, b) })
)

func TestEntrySurvivesTheJourneyAndIsWhatGeneratedCodeReadsAndWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Entry{ID: genString().Draw(t, "id"), Tokens: rapid.IntRange(0, 1<<40).Draw(t, "tokens"),
			Content: genContent().Draw(t, "content")}
		pb := &threshv1.Entry{Id: want.ID, Tokens: int64(want.Tokens), Content: pbContent(want.Content)}

		msg := written(t, func(w *Writer) error { return w.Entry(want.ID, want.Tokens, want.Content) })
		var theirs threshv1.Entry
		if err := proto.Unmarshal(msg, &theirs); err != nil {
			t.Fatalf("generated code cannot read it: %v", err)
		}
		if !proto.Equal(&theirs, pb) {
			t.Fatalf("generated code reads\n%v\nnot\n%v", &theirs, pb)
		}
		foreign, err := proto.Marshal(pb)
		if err != nil {
			t.Fatal(err)
		}
		for name, bytes := range map[string][]byte{"own": msg, "generated": foreign} {
			got, err := DecodeEntry(bytes)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(want, got, compareContent); diff != "" {
				t.Fatalf("%s bytes (-want +got):\n%s", name, diff)
			}
		}
	})
}

func TestAnswersSurviveTheJourneyAndAreWhatGeneratedCodeReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := rapid.IntRange(0, 1000).Draw(t, "index")
		blocks := genBlockPieces().Draw(t, "blocks")
		c := genContent().Draw(t, "content")

		reason, pbReason := genReason().Draw(t, "reason"), (*threshv1.Reason)(nil)
		if reason != (sdk.Reason{}) {
			pbReason = &threshv1.Reason{Rule: reason.Rule}
			if reason.SupersededBy != nil {
				pbReason.SupersededBy = new(uint64(*reason.SupersededBy))
			}
		}

		edits := map[*threshv1.Edit]rewrite.Edit{
			{Index: uint64(index), Action: &threshv1.Edit_Remove{Remove: &threshv1.Remove{}},
				Reason: pbReason}: {Index: index, Remove: true, Reason: reason},
			{Index: uint64(index), Action: &threshv1.Edit_Replace{Replace: &threshv1.Replace{Blocks: pbBlockPieces(blocks)}},
				Reason: pbReason}: {Index: index, Blocks: blocks, Reason: reason},
		}
		for pb, want := range edits {
			msg := written(t, func(w *Writer) error { return w.Edit(want) })
			got, err := DecodeEdit(msg)
			agree(t, pb, &threshv1.Edit{}, msg, want, got, err)
		}
		pieces := map[*threshv1.Piece]rewrite.Piece{
			{Piece: &threshv1.Piece_Keep{Keep: &threshv1.KeepRange{From: uint64(index),
				To: uint64(index + 3)}}}: rewrite.Keep{From: index, To: index + 3},
			{Piece: &threshv1.Piece_Edited{Edited: &threshv1.EditedEntry{Index: uint64(index),
				Blocks: pbBlockPieces(blocks)}}}: rewrite.Edited{Index: index, Blocks: blocks},
			{Piece: &threshv1.Piece_Entry{Entry: pbContent(c)}}: rewrite.Added{Content: c},
		}
		for pb, want := range pieces {
			msg := written(t, func(w *Writer) error { return w.Piece(want) })
			got, err := DecodePiece(msg)
			agree(t, pb, &threshv1.Piece{}, msg, want, got, err)
		}
	})
}

// agree fails unless the generated code reads msg as pb, and got is want.
func agree[T any](t *rapid.T, pb, theirs proto.Message, msg []byte, want, got T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(msg, theirs); err != nil || !proto.Equal(theirs, pb) {
		t.Fatalf("generated code reads %v (%v), not %v", theirs, err, pb)
	}
	if diff := cmp.Diff(want, got, compareContent, compareBlock, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
}

func TestTextThatIsNotUTF8IsReplacedEverywhere(t *testing.T) {
	const bad = "a\xffb"
	f := content.FieldsOf(content.Field{Name: bad, Value: json.RawMessage(`1`)})
	c := content.Content{Speaker: bad, Extra: f, Blocks: []content.Block{
		content.Text{Text: bad, Extra: f},
		content.ToolCall{ID: bad, Name: bad},
		content.ToolResponse{CallID: bad, ToolName: bad, Error: bad},
		content.Media{MimeType: bad, Data: bad, Encoding: bad, Caption: bad, Filename: bad},
		content.Thinking{Thought: bad, Signature: bad},
		content.Code{Code: bad, Language: bad},
	}}
	msg := written(t, func(w *Writer) error { return w.Entry(bad, 1, c) })
	if err := proto.Unmarshal(msg, &threshv1.Entry{}); err != nil {
		t.Fatalf("generated code refuses it: %v", err)
	}
	e, err := DecodeEntry(msg)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(e.Content.AppendJSON(nil)), "a\ufffdb"); got != 18 {
		t.Errorf("%d strings came out with U+FFFD, want 18", got)
	}
	if c.Blocks[0].(content.Text).Text != bad || f.All()[0].Name != bad {
		t.Error("sending changed the caller's content")
	}
}

func TestWhatIsNoBlockIsNotSent(t *testing.T) {
	w := NewWriter(func([]byte) error { return nil })
	c := content.Content{Blocks: []content.Block{content.Text{}, &content.Text{Text: "pointer"}}}
	err := w.Content(c)
	if !errors.Is(err, ErrBadContent) || !strings.Contains(err.Error(), "block 1") ||
		!strings.Contains(err.Error(), "*content.Text") {
		t.Errorf("error %v; want ErrBadContent that names block 1 and its type", err)
	}
}

func TestMissingBlockTravelsAsNull(t *testing.T) {
	msg := written(t, func(w *Writer) error { return w.Content(content.Content{Blocks: []content.Block{nil}}) })
	got, err := DecodeContent(msg)
	want := content.Content{Blocks: []content.Block{content.Opaque{JSON: json.RawMessage("null")}}}
	if err != nil || !got.Equal(want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestBlockOfANewerKind(t *testing.T) {
	newer := func(body string) []byte { // field 9 of Block, which does not exist yet
		block := append(appendMessage(nil, 9, len(body)), body...)
		inner := append(appendMessage(nil, contentBlocks, len(block)), block...)
		return inner
	}
	a, b := newer("first"), newer("second")
	both, err := DecodeEntry(append(appendMessage(nil, 3, len(a)+len(b)), append(a, b...)...))
	if err != nil {
		t.Fatalf("a plugin must carry it: %v", err)
	}
	if len(both.Content.Blocks) != 2 || content.Equal(both.Content.Blocks[0], both.Content.Blocks[1]) {
		t.Errorf("blocks %v: two that differ must stay two that differ", both.Content.Blocks)
	}
	if _, err := DecodeContent(a); !errors.Is(err, ErrMalformed) {
		t.Errorf("a host must refuse it as new content; error %v", err)
	}
}

func TestMalformedMessagesAreErrorsThatSayWhere(t *testing.T) {
	entry := func(e *threshv1.Entry) []byte { b, _ := proto.Marshal(e); return b }
	good := entry(&threshv1.Entry{Content: &threshv1.Content{Blocks: []*threshv1.Block{{},
		pbBlock(content.Text{Text: "abc"})}}})
	bad := append([]byte(nil), good...)
	bad[len(bad)-1] = 0xff // the last letter of the text
	badEdit := func(e *threshv1.Edit) []byte { b, _ := proto.Marshal(e); return b }
	badPiece := func(p *threshv1.Piece) []byte { b, _ := proto.Marshal(p); return b }
	tests := map[string]struct {
		decode func() error
		says   string
	}{
		"cut in the middle":      {func() error { _, err := DecodeEntry(good[:len(good)-1]); return err }, ""},
		"text that is not UTF-8": {func() error { _, err := DecodeEntry(bad); return err }, "block 1"},
		"wrong wire type":        {func() error { _, err := DecodeEntry([]byte{3 << 3, 7}); return err }, "field 3"},
		"field number 0":         {func() error { _, err := DecodeEntry([]byte{0, 0}); return err }, ""},
		"edit without action": {func() error { _, err := DecodeEdit(badEdit(&threshv1.Edit{Index: 7})); return err },
			"entry 7"},
		"index over the range": {func() error {
			_,
				err := DecodeEdit(badEdit(&threshv1.Edit{Index: 1 << 63}))
			return err
		}, "out of range"},
		"empty piece": {func() error { _, err := DecodePiece(nil); return err }, "neither keeps"},
		"empty block piece": {func() error {
			_, err := DecodePiece(badPiece(&threshv1.Piece{Piece: &threshv1.Piece_Edited{Edited: &threshv1.EditedEntry{Index: 4,
				Blocks: []*threshv1.BlockPiece{{}}}}}))
			return err
		}, "edited entry 4, block 0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := tt.decode()
			if !errors.Is(err, ErrMalformed) || !errors.Is(err, ErrProtocol) ||
				!strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v; want ErrMalformed that says %q", err, tt.says)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range session(3) {
		msg := written(f, func(w *Writer) error { return w.Entry("id", 7, c) })
		f.Add(msg)
		f.Add(written(f, func(w *Writer) error { return w.Piece(rewrite.Added{Content: c}) }))
		f.Add(written(f, func(w *Writer) error {
			return w.Edit(rewrite.Edit{Index: 3, Blocks: []rewrite.BlockPiece{{Keep: 1}, {Block: c.Blocks[0]}}})
		}))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		if e, err := DecodeEntry(msg); err == nil { // what was understood can be sent on, and is understood again
			again, err := DecodeEntry(written(t, func(w *Writer) error { return w.Entry(e.ID, e.Tokens, e.Content) }))
			if diff := cmp.Diff(e, again, compareContent); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		}
		if p, err := DecodePiece(msg); err == nil {
			_ = written(t, func(w *Writer) error { return w.Piece(p) })
		}
		if e, err := DecodeEdit(msg); err == nil {
			_ = written(t, func(w *Writer) error { return w.Edit(e) })
		}
	})
}

// A reason never makes an answer invalid: what is ill-formed in it is dropped.
func TestIllFormedReasonsAreDropped(t *testing.T) {
	edit := func(reason []byte) []byte {
		return append(appendMessage([]byte{editIndex << 3, 7, editRemove<<3 | 2, 0}, editReason, len(reason)),
			reason...)
	}
	rule := func(s string) []byte { return appendText(nil, reasonRule, s) }
	longest := strings.Repeat("a", sdk.MaxRule)
	tests := map[string]struct {
		msg  []byte
		want sdk.Reason
	}{
		"none": {[]byte{editIndex << 3, 7, editRemove<<3 | 2, 0}, sdk.Reason{}},
		"rule and position": {edit(append(rule("old-1"), reasonSupersededBy<<3, 0)),
			sdk.Reason{Rule: "old-1", SupersededBy: new(0)}},
		"the longest rule": {edit(rule(longest)), sdk.Reason{Rule: longest}},
		"a longer rule": {edit(append(rule(longest+"a"), reasonSupersededBy<<3, 3)),
			sdk.Reason{SupersededBy: new(3)}},
		"a sentence": {edit(rule("It was old.")), sdk.Reason{}},
		"not UTF-8":  {edit(rule("\xff")), sdk.Reason{}},
		"a rule of another type": {edit([]byte{reasonRule << 3, 1, reasonSupersededBy << 3, 3}),
			sdk.Reason{SupersededBy: new(3)}},
		"a position over the range": {edit(protowire.AppendVarint(append(rule("a"), reasonSupersededBy<<3), 1<<63)),
			sdk.Reason{Rule: "a"}},
		"a position that is a text": {edit(appendText(rule("a"), reasonSupersededBy, "3")),
			sdk.Reason{Rule: "a"}},
		"cut in the middle": {edit(append(rule("a"), reasonSupersededBy<<3)), sdk.Reason{Rule: "a"}},
		"a reason of another type": {[]byte{editIndex << 3, 7, editRemove<<3 | 2, 0, editReason << 3, 1},
			sdk.Reason{}},
		"fields that are not known": {edit(appendText(rule("a"), 9, "more")), sdk.Reason{Rule: "a"}},
		"the reason before the edit": {append(append(appendMessage(nil, editReason, 3), rule("a")...), editIndex<<3, 7,
			editRemove<<3|2, 0), sdk.Reason{Rule: "a"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeEdit(tt.msg)
			if diff := cmp.Diff(rewrite.Edit{Index: 7, Remove: true, Reason: tt.want}, got); err != nil || diff != "" {
				t.Errorf("error %v, (-want +got):\n%s", err, diff)
			}
		})
	}
}
