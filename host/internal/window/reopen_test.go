package window_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// step is what an agent does to a session.
type step func(t *testing.T, s *window.Session) any

// script is an agent's work on a recording: it adds entries, asks for the history to send, and now and then does all
// else that a session remembers.
func script(entries []content.Content, seed uint64) (steps []step) {
	r := rand.New(rand.NewPCG(seed, 1))
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for len(entries) > 0 {
		n := min(len(entries), 1+r.IntN(4))
		batch := entries[:n]
		entries = entries[n:]
		steps = append(steps, func(t *testing.T, s *window.Session) any {
			added, err := s.Add(t.Context(), window.Addition{Entries: batch, Judge: window.Anything})
			return []any{added.Revision, added.Tokens, fmt.Sprint(err)}
		})
		if r.IntN(12) == 0 {
			steps = append(steps, odd(r.IntN(6), r.IntN(1000)))
		}
		at = at.Add(time.Duration(r.IntN(400)) * time.Second)
		o := window.Sending{Pending: r.IntN(300), At: at}
		report := r.IntN(3) == 0
		steps = append(steps, func(t *testing.T, s *window.Session) any {
			p, err := s.Prepare(t.Context(), o)
			if report {
				must(t, s.ReportUsage(t.Context(), 900+p.Tokens*5/4, 0), nil)
			}
			return prepared(p, err)
		})
	}
	return steps
}

// odd is what an agent rarely does.
func odd(which, n int) step {
	return func(t *testing.T, s *window.Session) any {
		switch which {
		case 0:
			return fmt.Sprint(s.SetSystem(context.Background(), content.Text{Text: fmt.Sprint("Be brief: ", n)}))
		case 1:
			return fmt.Sprint(s.Set(t.Context(), "compression.density.recencyRetention", 1+n%4))
		case 2:
			return fmt.Sprint(s.Set(t.Context(), "compression.threshold", 0.5+float64(n%40)/100))
		case 3:
			return fmt.Sprint(s.SetTodos(t.Context(), []sdk.Todo{{ID: "1", Content: fmt.Sprint("task ", n), Status: "pending"}}))
		case 4:
			return fmt.Sprint(s.Set(t.Context(), "compression.threshold", nil))
		}
		out, err := s.Compress(t.Context(), nil)
		return prepared(window.Prepared{Outcome: out}, err)
	}
}

// prepared is what a turn returned, without the times that differ each time.
func prepared(p window.Prepared, err error) any {
	o := &p.Outcome
	o.HostTime, o.Optimize.PluginTime, o.Compress.PluginTime = 0, 0, 0
	if o.Compress.Cooldown != nil {
		o.Compress.Cooldown.Until = time.Time{}
	}
	o.Warnings = nil // they name the end of a cooldown
	raw, encodeErr := json.Marshal([]any{p.Contents(), p.Tokens, p.System, p.Revision, p.Unchanged, p.UnchangedSince, p.Outcome})
	return []any{string(raw), err != nil, encodeErr}
}

// A session that is closed and opened again, after every step and in another host from time to time, does what one does
// that was never closed: byte for byte.
func TestASessionGoesOnWhereItWas(t *testing.T) {
	sessions := map[string][]content.Content{"made": gen.Session(120, 3)}
	files, _ := filepath.Glob("../../../examples/sessions/*.json*")
	recorded, _ := filepath.Glob(filepath.Join(repo.Shared(t, "sessions", "normalized"), "*.json"))
	last := full.Or(0, 2) // of six recordings in a row, the last that is played
	for i, file := range append(files, recorded...) {
		if info, err := os.Stat(file); err != nil || info.Size() > min(longest(), 500_000) || i%6 > last {
			continue
		}
		read, err := transcript.ReadFile(file, transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sessions[filepath.Base(file)] = read.Entries[:min(len(read.Entries), 80)]
	}
	ways := map[string]map[string]any{
		"high-density": {"compression.strategy": "high-density", "compression.density.recencyPruning": true},
		"priced": {"compression.strategy": "high-density", "model.name": "claude-sonnet-4-5",
			"compression.density.cadence": "priced", "compression.density.recencyPruning": true},
		"gated": {"compression.strategy": "high-density", "compression.density.cadence": "gated",
			"compression.density.minSavings": 200},
		"top-down": {"compression.strategy": "top-down-truncation"},
		"failing":  {"compression.strategy": "out-of-bounds"},
	}
	for way, settings := range ways {
		for name, entries := range sessions {
			t.Run(way+"/"+name, func(t *testing.T) {
				t.Parallel()
				goesOn(t, entries, settings)
			})
		}
	}
}

func goesOn(t *testing.T, entries []content.Content, settings map[string]any) {
	size := 0
	for _, e := range entries {
		size += len(e.AppendJSON(nil))
	}
	all := map[string]any{"model.contextLimit": max(2000, size/10)} // about a third of it: several compressions
	for key, value := range settings {
		all[key] = value
	}
	kept := store.NewMemory()
	whole, host := open(t, all), openOn(t, kept, all)
	host.SetSnapshotEvery(7)
	key, own := store.Key{ID: "s"}, map[string]any{"compression.preserveThreshold": 0.3}
	never, err := whole.Open(window.Opening{Key: key, Settings: own})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range script(entries, uint64(len(entries))) {
		if i%25 == 24 {
			host = openOn(t, kept, all)
			host.SetSnapshotEvery(7)
		}
		s, err := host.Open(window.Opening{Key: key, Settings: own})
		if err != nil {
			t.Fatalf("open before step %d: %v", i, err)
		}
		want, got := step(t, never), step(t, s)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("step %d:\n%s", i, diff)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A setting that is taken back stays so: its record must be written although there is nothing left in it.
func TestTheLastOverrideIsTakenBackForGood(t *testing.T) {
	kept := store.NewMemory()
	h := openOn(t, kept, nil)
	const key = "compression.threshold"
	for _, value := range []any{0.25, nil} {
		s, err := h.Open(window.Opening{Key: store.Key{ID: "s"}})
		must(t, err, nil)
		must(t, s.Set(t.Context(), key, value), nil)
		must(t, s.Close(), nil)
	}
	s, err := openOn(t, kept, nil).Open(window.Opening{Key: store.Key{ID: "s"}})
	must(t, err, nil)
	if got := s.Config().Settings().Compression.Threshold; got != nil {
		t.Errorf("%s is %v", key, *got)
	}
}
