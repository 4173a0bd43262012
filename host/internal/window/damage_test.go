package window_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/sqlite"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Wherever a byte of the file is changed, either 'thresh doctor' says that it is damaged, or what is read is what was
// added. What a list shows of a session (its size, when it was used) is not checked.
func TestOneChangedByteOfAStore(t *testing.T) {
	race.Skip(t)
	path := filepath.Join(t.TempDir(), "sessions.db")
	kept, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	h := openOn(t, kept, map[string]any{"model.contextLimit": 2000, "compression.strategy": "top-down-truncation"})
	for _, id := range []string{"s1", "s2"} {
		s, err := h.Open(window.Opening{Key: store.Key{ID: id}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			add(t, s, says(content.Human, fmt.Sprint(id, i, strings.Repeat(" word", 200))), says(content.AI, "an answer"))
			prepareTurn(t, s)
		}
		add(t, s, says(content.Human, id+strings.Repeat(" large", 5000)))
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, damaged := readAll(t.Context(), path)
	if damaged != nil {
		t.Fatal(damaged)
	}
	random := rand.New(rand.NewPCG(1, 2))
	caught := 0
	for range full.Or(150, 4000) {
		at := random.IntN(len(whole))
		data := bytes.Clone(whole)
		data[at] ^= 1 << random.IntN(8)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, damage := readAll(t.Context(), path)
		_ = os.Remove(path + "-wal")
		_ = os.Remove(path + "-shm")
		if damage != nil {
			caught++
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("byte %d was %#x, is %#x: %.1000s", at, whole[at], data[at], diff)
		}
	}
	if caught == 0 {
		t.Error("no damage was noticed: were the bytes changed?")
	}
}

// readAll reads the sessions of a store as they were added. The error is what 'thresh doctor' would say.
func readAll(ctx context.Context, path string) (map[string]journal.Recorded, error) {
	kept, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer kept.Close()
	if err := kept.Check(ctx); err != nil {
		return nil, err
	}
	if _, damaged, err := journal.Check(ctx, kept); err != nil || len(damaged) > 0 {
		return nil, fmt.Errorf("%v %w", damaged, err)
	}
	all := map[string]journal.Recorded{}
	for head, err := range kept.List(ctx, store.Filter{AllOwners: true}) {
		if err != nil {
			return nil, err
		}
		recorded, err := journal.Read(ctx, kept, head.Key)
		if err != nil {
			return nil, err
		}
		recorded.Head = store.Head{}
		all[head.ID] = recorded
	}
	return all, nil
}
