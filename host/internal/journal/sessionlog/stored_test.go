package sessionlog_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A store keeps what was written to it: testdata/form1 was written by the first version of the form and never changes.
// It holds an Added record and a Rewritten one, in base64, with every kind of block and every field of it. The large
// values are beside the records; they are made here.
func TestStoredRecordsOfTheFirstForm(t *testing.T) {
	file, err := os.ReadFile("testdata/form1")
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	for line := range strings.Lines(string(file)) {
		data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, data)
	}
	added, rewritten := storedRecords()
	r, w := sessionlog.Reader{Contents: map[store.Hash][]byte{}}, sessionlog.Writer{}
	again := [][]byte{w.Added(added), w.Rewritten(8, rewritten)}
	for _, c := range w.Contents {
		r.Contents[store.HashOf(c)] = c
	}
	gotAdded, err := r.Added(7, records[0])
	if diff := cmp.Diff(added, gotAdded, same); err != nil || diff != "" {
		t.Error(err, diff)
	}
	gotRewritten, err := r.Rewritten(8, records[1])
	if diff := cmp.Diff(rewritten, gotRewritten, same); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if missing := r.Missing(); len(missing) != 0 {
		t.Errorf("%d contents are missing", len(missing))
	}
	// Earlier versions read what this one writes, and the key of an addition stays the same.
	for i := range records {
		if !bytes.Equal(again[i], records[i]) {
			t.Errorf("record %d is written as other bytes: %s", i, base64.StdEncoding.EncodeToString(again[i]))
		}
	}
	if key := sessionlog.OnceOf("key", []content.Content{added.Entries[0].Content}); *key != *added.Once {
		t.Errorf("the key of an addition is %x", *key)
	}
}

func storedRecords() (sessionlog.Added, sessionlog.Rewritten) {
	huge := strings.Repeat("a line of a large file\n", 1000)
	extra := func(name string) content.Fields {
		return content.FieldsOf(content.Field{Name: name, Value: json.RawMessage(`{"b": 1.0}`)},
			content.Field{Name: name + "-large", Value: content.String(huge)}, content.Field{})
	}
	list := []content.Content{
		{Speaker: content.Human, Metadata: json.RawMessage(`{"timestamp":1.50}`), Extra: extra("of the entry"),
			Blocks: []content.Block{
				content.Text{Text: "not \xff UTF-8 \u2028", Extra: extra("text")},
				content.Media{MimeType: "image/png", Data: "aGk=", Encoding: "base64", Caption: "a caption",
					Filename: "a.png", Extra: extra("media")},
				content.Media{MimeType: huge + "1", Data: huge, Encoding: huge + "2", Caption: huge + "3",
					Filename: huge + "4"},
			}},
		{Speaker: content.AI, Blocks: []content.Block{
			content.Thinking{Thought: "a thought", Signature: "signed", Extra: extra("thinking")},
			content.Thinking{Thought: huge, Signature: huge + "5"},
			content.Code{Code: "x := 1\n", Language: "go", Extra: extra("code")},
			content.Code{Code: huge, Language: huge + "6"},
			content.ToolCall{ID: "call", Name: "read", Parameters: json.RawMessage(` {"n":1e400}`), Extra: extra("call")},
			content.ToolCall{ID: huge + "7", Name: huge + "8", Parameters: content.String(huge)},
			content.Opaque{JSON: json.RawMessage(`{"type":"later", "n":1.0}`)}, content.Opaque{JSON: content.String(huge)},
		}},
		{Speaker: content.Tool, Blocks: []content.Block{
			content.ToolResponse{CallID: "call", ToolName: "read", Result: json.RawMessage(`"a"`), Error: "an error",
				Extra: extra("response")},
			content.ToolResponse{CallID: huge + "7", ToolName: huge + "8", Result: content.String(huge), Error: huge},
		}},
		{Blocks: []content.Block{content.Text{}, content.Media{}, content.Thinking{}, content.Code{}, content.ToolCall{},
			content.ToolResponse{}, content.Opaque{}}},
		{Speaker: "critic", Blocks: []content.Block{}},
		{Speaker: content.AI},
	}
	a := sessionlog.Added{Tag: 7, Encoding: "o200k_base", Entries: entries(list),
		Once: sessionlog.OnceOf("key", list[:1])}
	by := 3
	return a, sessionlog.Rewritten{Tag: 8, Encoding: "o200k_base", Step: "optimize", Strategy: "distill",
		Rewrite: history.Rewrite{Base: history.PointOf(6, 1), Pieces: []history.Piece{
			{From: 0, To: 1}, {From: 1, To: 2, Entry: a.Entries[1]}, {From: -1, To: -1, Entry: a.Entries[2]},
			{From: 4, To: 6},
		}, Reasons: map[int]sdk.Reason{2: {Rule: "stale-read", SupersededBy: &by}, 3: {}}}}
}

func BenchmarkRecord(b *testing.B) {
	a := sessionlog.Added{Entries: entries(gen.Session(400, 1))}
	data := (&sessionlog.Writer{}).Added(a)
	b.Run("write", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			(&sessionlog.Writer{}).Added(a)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := (&sessionlog.Reader{}).Added(1, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
