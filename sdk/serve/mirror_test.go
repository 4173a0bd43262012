package serve

import (
	"errors"
	"fmt"
	"github.com/thresh-dev/thresh/sdk"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/wire"
)

// texts are entries of the AI, one for each text.
func texts(all ...string) []sdk.Content {
	out := make([]sdk.Content, len(all))
	for i, text := range all {
		out[i] = sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: text}}}
	}
	return out
}

// update is a request that brings no entries.
func update(pieces ...wire.MirrorPiece) *wire.Update {
	return &wire.Update{Pieces: pieces, Entries: func(func(wire.Entry, error) bool) {}}
}

// mirrorOf is a mirror that was sent the texts in one call.
func mirrorOf(t *testing.T, session string, all ...string) *mirror {
	t.Helper()
	m := newMirror(session)
	if err := m.apply(received(t, texts(all...))()); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheLeastRecentlyUsedMirrorGoesFirst(t *testing.T) {
	var s mirrors
	one := mirrorOf(t, "a", "text").bytes
	s.setLimit(3 * one)
	for _, session := range []string{"a", "b", "c"} {
		s.keep(mirrorOf(t, session, "text"))
	}
	s.keep(s.take("a"))
	s.keep(mirrorOf(t, "d", "text"))
	s.keep(mirrorOf(t, "too large", strings.Repeat("x", 4*one)))
	for session, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true, "too large": false} {
		if got := s.take(session) != nil; got != want {
			t.Errorf("the mirror of %q is held: %v", session, got)
		}
	}
	if s.total != 0 || s.latest != nil || s.oldest != nil {
		t.Errorf("without mirrors, %d bytes are held", s.total)
	}
}

// memoOf is a memo that takes so many bytes.
type memoOf int

func (m memoOf) MemoBytes() int { return int(m) }

// What a strategy remembers of a history counts towards the limit as the history does.
func TestAMemoCountsTowardsTheLimit(t *testing.T) {
	var s mirrors
	m := mirrorOf(t, "a", "text")
	bare := m.bytes
	s.setLimit(2*bare + 1000)
	m.memo.Store(memoOf(1000))
	m.settleMemo(nil)
	if s.keep(m); s.total != bare+1000 {
		t.Errorf("%d bytes are held, want %d and 1000 for the memo", s.total, bare)
	}
	s.keep(mirrorOf(t, "b", "text"))
	if m = s.take("a"); m == nil {
		t.Fatal("there was room for both")
	}
	m.memo.Store(memoOf(1001))
	m.settleMemo(nil)
	if s.keep(m); s.take("b") != nil {
		t.Error("a memo that grew pushes nothing out")
	}
	if m = s.take("a"); m == nil {
		t.Fatal("it is not above the limit by itself")
	}
	if m.prepareMemo(memoKey{root: "another"}, new(sdk.OptimizeInput)); m.bytes != bare {
		t.Errorf("without its memo the mirror takes %d bytes, want %d", m.bytes, bare)
	}
}

func TestPiecesThatNoMirrorAllows(t *testing.T) {
	keep := func(from, to int) wire.MirrorPiece { return wire.MirrorPiece{Kept: rewrite.Keep{From: from, To: to}} }
	edit := func(index, block int) wire.MirrorPiece {
		return wire.MirrorPiece{Edited: &rewrite.Edited{Index: index, Blocks: []rewrite.BlockPiece{{Keep: block}}}}
	}
	for name, pieces := range map[string][]wire.MirrorPiece{
		"beyond the end":       {keep(0, 1), keep(2, 4)},
		"beyond the end first": {keep(0, 4)},
		"backwards":            {keep(1, 2), keep(0, 1)},
		"twice":                {keep(0, 2), keep(1, 3)},
		"an empty range back":  {keep(2, 1)},
		"an edit of nothing":   {edit(3, 0)},
		"an edit twice":        {edit(1, 0), edit(1, 0)},
		"a block of nothing":   {keep(0, 1), edit(1, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			m := mirrorOf(t, "s", "one", "two", "three")
			if err := m.apply(update(pieces...)); !errors.Is(err, wire.ErrMalformed) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Texts that are gone do not stay in memory because others came in the same message.
func TestAMirrorRepacksWhatIsLeft(t *testing.T) {
	all := []string{"first"}
	for i := range 200 {
		all = append(all, fmt.Sprint(i, strings.Repeat(" word", 500)))
	}
	all = append(all, "last")
	m := mirrorOf(t, "s", all...)
	before := m.bytes
	if err := m.apply(update(wire.MirrorPiece{Kept: rewrite.Keep{From: 0, To: 3}},
		wire.MirrorPiece{Kept: rewrite.Keep{From: 201, To: 202}})); err != nil {
		t.Fatal(err)
	}
	alone := mirrorOf(t, "s", all[0], all[1], all[2], all[201])
	if m.texts != alone.texts || m.bytes > alone.bytes {
		t.Errorf("the account has %d bytes, %d of texts; that of these entries alone has %d and %d", m.bytes, m.texts,
			alone.bytes, alone.texts)
	}
	if m.loaded > 2*m.texts || m.bytes > before/20 {
		t.Errorf("%d of %d bytes are loaded for texts of %d", m.loaded, before, m.texts)
	}
	for i, c := range m.entries {
		want := []string{all[0], all[1], all[2], all[201]}[i]
		if origin, ok := c.Origin(); c.Blocks[0].(sdk.Text).Text != want || !ok || origin != i {
			t.Errorf("entry %d: %v, at %d", i, c, origin)
		}
	}
	if err := m.untouched(); err != nil {
		t.Error(err)
	}
}

// An entry that was changed in place is found: at once if it is new, after a while if it is old.
func TestAChangeInPlaceIsFound(t *testing.T) {
	all := make([]string, 10*perCheck)
	m := mirrorOf(t, "s", all...)
	if err := m.untouched(); err != nil {
		t.Fatal(err)
	}
	if err := m.apply(update()); err != nil { // another call, which brings nothing
		t.Fatal(err)
	}
	m.entries[5*perCheck].Blocks[0] = sdk.Text{Text: "changed"}
	checks := 1
	for ; m.untouched() == nil; checks++ {
		if checks > 10 {
			t.Fatal("the change was not found")
		}
	}
	if err := m.untouched(); err == nil || !strings.Contains(err.Error(), fmt.Sprint("entry ", 5*perCheck, " ")) {
		t.Errorf("got %v", err)
	}
}
