package sessionlog_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// same compares everything but the place, which only the reader knows.
var same = cmp.Options{cmpopts.EquateEmpty(), cmp.AllowUnexported(content.Content{}, history.Point{}),
	cmpopts.IgnoreFields(history.Entry{}, "Place")}

func entries(list []content.Content) (out []*history.Entry) {
	for i, c := range list {
		e := &history.Entry{ID: "e" + string(rune('a'+i%26)), Content: c}
		e.Blocks = make([]int32, len(c.Blocks))
		e.Tokens = 4 + i
		out = append(out, e)
	}
	return out
}

// Whatever entries hold, they come back to the byte, also those with contents that are kept apart.
func TestEntriesComeBackAsTheyWere(t *testing.T) {
	huge := strings.Repeat("a large file\n", 3000)
	odd := []content.Content{
		{}, {Speaker: "system", Blocks: []content.Block{}},
		{Speaker: content.Tool, Metadata: json.RawMessage(`{"a": 1.0}`), Blocks: []content.Block{
			content.ToolResponse{CallID: "1", ToolName: "read", Result: content.String(huge), Error: huge + "!"},
			content.Text{Text: "not \xff UTF-8",
				Extra: content.FieldsOf(content.Field{Name: "x", Value: content.String(huge)})},
			content.Opaque{JSON: json.RawMessage(`{"type":"later"}`)},
		}},
	}
	rapid.Check(t, func(rt *rapid.T) {
		list := gen.History(gen.Options{Malformed: true}).Draw(rt, "history")
		want := sessionlog.Added{Tag: 7, Encoding: "o200k_base", Entries: entries(append(list, odd...)),
			Once: sessionlog.OnceOf("key", list)}
		w := sessionlog.Writer{}
		data := w.Added(want)
		r := sessionlog.Reader{}
		if _, err := r.Added(1, data); err != nil {
			rt.Fatal(err)
		}
		if n := len(r.Missing()); n != 3 || len(w.Contents) != 2 {
			rt.Fatalf("%d contents are referred to and %d are kept, want 3 and 2", n, len(w.Contents))
		}
		r.Contents = map[store.Hash][]byte{}
		for _, c := range w.Contents {
			r.Contents[store.HashOf(c)] = c
		}
		got, err := r.Added(5, data)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			rt.Error(diff)
		}
		for i, e := range got.Entries {
			if e.Place != (history.Place{Record: 5, Index: i}) || (e.Content.Blocks == nil) !=
				(want.Entries[i].Content.Blocks == nil) {
				rt.Errorf("entry %d is at %v, with blocks %v", i, e.Place, e.Content.Blocks)
			}
		}
	})
}

func TestRewritesAndSnapshotsComeBack(t *testing.T) {
	by := 3
	made := entries(gen.Session(3, 1))
	want := sessionlog.Rewritten{Tag: 1, Encoding: "cl100k_base", Step: "optimize", Strategy: "high-density",
		Rewrite: history.Rewrite{Base: history.PointOf(9, 4), Pieces: []history.Piece{
			{From: 0, To: 3}, {From: 4, To: 5, Entry: made[0]}, {From: -1, To: -1, Entry: made[1]}, {From: 6, To: 9},
		}, Reasons: map[int]sdk.Reason{3: {Rule: "stale-read", SupersededBy: &by}, 4: {}}}}
	w := sessionlog.Writer{}
	got, err := (&sessionlog.Reader{}).Rewritten(12, w.Rewritten(12, want))
	if diff := cmp.Diff(want, got, same); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if made[1].Place != (history.Place{Record: 12, Index: 1}) || got.Pieces[2].Entry.Place != made[1].Place {
		t.Errorf("the second new entry is written to %v and read from %v", made[1].Place, got.Pieces[2].Entry.Place)
	}
	snapshot := sessionlog.Snapshot{
		Done:     []sessionlog.Done{{Once: *sessionlog.OnceOf("k", nil), Revision: 3, Tokens: 70}, {Once: *sessionlog.OnceOfTexts("l", "x")}},
		Encoding: "cl100k_base", Tasks: []byte(`{}`), Groups: sessionlog.Groups{3: []byte("x"), 99: []byte("later")},
		History: history.State{Revision: 5, Epoch: 2, Now: history.PointOf(9, 3), Rewrote: history.PointOf(4, 1), LastID: 12},
		Places:  []history.Place{{Record: 7}, {Record: 2, Index: 3}, {Record: 2, Index: 4}, {Record: 9}},
	}
	data := sessionlog.AppendSnapshot(4, snapshot)
	back, err := sessionlog.ReadSnapshot(data)
	if diff := cmp.Diff(snapshot, back, same); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if tag, err := sessionlog.Tag(store.Snapshot, data); tag != 4 || err != nil {
		t.Errorf("the tag is %d, %v", tag, err)
	}
}

// state is one in which nothing is zero.
func state() sessionlog.State {
	var learned tokens.Calibration
	learned.Observe(1000, 1500)
	learned.Observe(2000, 2600)
	return sessionlog.State{
		Overrides: map[string]json.RawMessage{"model.name": []byte(`"gpt-4"`)}, Model: "gpt-4", Settings: []byte{1, 2},
		System: []content.Block{content.Text{Text: "be brief"}}, TodosSet: true,
		Todos: []sdk.Todo{{ID: "1", Content: "write", Status: "pending"}},
		Turns: prepare.State{
			Optimized: 7, Held: true, Stuck: true, Left: 9, Failing: prepare.CallOptimize | prepare.CallStart, Calibration: learned,
			NoOp:    &prepare.NoOp{Strategy: "one-shot", Added: 5, Reason: "empty"},
			Failure: &prepare.Failure{Strategy: "one-shot", Error: "no", Until: time.Unix(5, 6)},
			Growth:  prepare.Growth{Requests: 3, Since: 2, Base: 100, Epoch: 1}, Sent: prepare.Sent{At: time.Unix(1, 2)},
		},
		Sent: sessionlog.Place{Made: true, Epoch: 1, Point: history.PointOf(5, 2)},
		Last: sessionlog.Place{Made: true, Epoch: 1, Point: history.PointOf(6, 3)}, LastTokens: 1234,
	}
}

func TestAStateIsWrittenInGroupsThatChange(t *testing.T) {
	groups, err := state().Groups()
	if err != nil {
		t.Fatal(err)
	}
	data := sessionlog.AppendState(3, groups)
	read, err := sessionlog.ReadState(data)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read.State()
	if diff := cmp.Diff(state(), got, same, cmp.AllowUnexported(tokens.Calibration{}),
		cmp.Exporter(func(reflect.Type) bool { return true })); err != nil || diff != "" {
		t.Error(err, diff)
	}
	next := state()
	next.Turns.Growth.Requests++
	next.Turns.Sent.At = time.Unix(9, 9)
	next.Sent.Point = history.PointOf(8, 3)
	after, err := next.Groups()
	if err != nil {
		t.Fatal(err)
	}
	changed := sessionlog.AppendState(4, after.Changed(groups))
	if len(changed) > 60 {
		t.Errorf("a turn writes %d bytes, want some tens", len(changed))
	}
}

// What a later version adds is skipped, and stays; what must not be skipped is refused.
func TestRecordsOfALaterVersion(t *testing.T) {
	w := sessionlog.Writer{}
	data := w.Added(sessionlog.Added{Entries: entries(gen.Session(2, 1))})
	later := sealed(store.Added, append(data[6:], 0xfa, 0x01, 0x02, 'h', 'i')) // field 31
	if got, err := (&sessionlog.Reader{}).Added(1, later); err != nil || len(got.Entries) != 2 {
		t.Errorf("with a field that is not known: %v, %d entries", err, len(got.Entries))
	}
	data[0]++
	if _, err := (&sessionlog.Reader{}).Added(1, data); !errors.Is(err, sessionlog.ErrNewer) {
		t.Errorf("of a later form: %v", err)
	}
}

// sealed is a record of the first form with these fields.
func sealed(kind store.Kind, fields []byte) []byte {
	sum := crc32.Update(uint32(kind), crc32.MakeTable(crc32.Castagnoli), fields)
	return append(binary.LittleEndian.AppendUint32([]byte{1, 0x7d}, sum), fields...)
}

func TestAByteThatWasChangedIsNoticed(t *testing.T) {
	w := sessionlog.Writer{}
	data := w.Added(sessionlog.Added{Tag: 1, Encoding: "cl100k_base", Entries: entries(gen.Session(2, 1))})
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 1 << (i % 8)
		if _, err := sessionlog.Tag(store.Added, changed); err == nil {
			t.Errorf("byte %d was changed", i)
		}
	}
	for kind := range store.Snapshot + 2 {
		if _, err := sessionlog.Tag(kind, data); (err == nil) != (kind == store.Added) {
			t.Errorf("as a record of kind %d: %v", kind, err)
		}
	}
	for n := range data {
		if _, err := sessionlog.Tag(store.Added, data[:n]); !errors.Is(err, sessionlog.ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	if _, err := sessionlog.Tag(store.Added, slices.Delete(data, 1, 6)); !errors.Is(err, sessionlog.ErrDamaged) {
		t.Errorf("without a checksum: %v", err)
	}
}

// A large value is kept apart from its record, whose checksum it is not part of.
func TestALargeContentThatWasChangedIsNoticed(t *testing.T) {
	w := sessionlog.Writer{}
	large := content.Content{Speaker: content.Human,
		Blocks: []content.Block{content.Text{Text: strings.Repeat("large ", 4000)}}}
	data := w.Added(sessionlog.Added{Entries: entries([]content.Content{large})})
	hash := store.HashOf(w.Contents[0])
	w.Contents[0][5]++
	r := sessionlog.Reader{Contents: map[store.Hash][]byte{hash: w.Contents[0]}}
	if _, err := r.Added(1, data); !errors.Is(err, sessionlog.ErrDamaged) {
		t.Error(err)
	}
}

// Whatever fields are read, the decoder returns, with an error or without one.
func FuzzRead(f *testing.F) {
	const start = 6 // version and checksum
	w := sessionlog.Writer{}
	f.Add(w.Added(sessionlog.Added{Tag: 1, Entries: entries(gen.Session(5, 1))})[start:])
	groups, _ := state().Groups()
	f.Add(sessionlog.AppendState(3, groups)[start:])
	f.Add(sessionlog.AppendSnapshot(1, sessionlog.Snapshot{Groups: groups, Places: []history.Place{{Record: 3}}})[start:])
	f.Add(w.Rewritten(1, sessionlog.Rewritten{Rewrite: history.Rewrite{Pieces: []history.Piece{{From: 0, To: 3}}}})[start:])
	f.Fuzz(func(t *testing.T, fields []byte) {
		r := sessionlog.Reader{}
		if a, err := r.Added(1, sealed(store.Added, fields)); err == nil {
			again, err := r.Added(1, (&sessionlog.Writer{}).Added(a))
			if diff := cmp.Diff(a, again, same); len(r.Missing()) == 0 && (err != nil || diff != "") {
				t.Errorf("entries that were read are written as others: %v %s", err, diff)
			}
		}
		if rw, err := r.Rewritten(1, sealed(store.Rewritten, fields)); err == nil {
			h := history.New()
			_ = h.Replay(rw.Rewrite)
		}
		if g, err := sessionlog.ReadState(sealed(store.State, fields)); err == nil {
			_, _ = g.State()
		}
		if s, err := sessionlog.ReadSnapshot(sealed(store.Snapshot, fields)); err == nil {
			_ = history.New().Restore(s.History, nil)
		}
	})
}
