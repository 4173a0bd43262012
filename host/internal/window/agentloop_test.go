package window_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
)

// TestAnAgentsLoop plays recorded sessions as an agent would that embeds the host: it asks before each call of its
// model, and looks at what it gets as a provider would.
func TestAnAgentsLoop(t *testing.T) {
	samples, err := filepath.Glob("../../../examples/sessions/*.json*")
	if err != nil || len(samples) == 0 {
		t.Fatalf("no sample sessions: %v", err)
	}
	t.Run("samples", func(t *testing.T) { playAll(t, samples) })
	t.Run("recorded", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(repo.Shared(t, "sessions", "normalized"), "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no recorded sessions: %v", err)
		}
		playAll(t, files)
	})
}

func playAll(t *testing.T, files []string) {
	h := open(t, nil)
	counter, err := tokens.For("", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, strategy := range []string{"high-density", "top-down-truncation"} {
		for _, file := range files {
			t.Run(strategy+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				if info, err := os.Stat(file); err != nil || info.Size() > longest() {
					t.Skipf("SKIPPED: %s is not played with -short (%v)", file, err)
				}
				recorded, err := transcript.ReadFile(file, transcript.Options{})
				if err != nil {
					t.Fatal(err)
				}
				play(t, h, counter, strategy, recorded.Entries)
			})
		}
	}
}

// play sends a session through a window of about a third of its size, so that it is compressed several times.
func play(t *testing.T, h *window.Host, counter *tokens.Counter, strategy string, entries []content.Content) {
	counts, err := counter.CountAll(t.Context(), entries, nil)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	known := recount{counter: counter, counts: map[string]int{}}
	s := begin(t, h, map[string]any{
		"compression.strategy": strategy, "model.contextLimit": max(2000, total/3),
		"compression.density.recencyPruning": true,
	})
	defer s.Close()
	var said []content.Content
	turns, shrunk, human := 0, 0, 0
	ask := func(i int) {
		turns++
		p, err := s.Prepare(t.Context(), window.Sending{})
		var overflow *prepare.ContextOverflowError
		if err != nil && !errors.As(err, &overflow) {
			t.Fatalf("before entry %d: %v", i, err)
		}
		if p.Outcome.Tokens < p.Outcome.TokensBefore {
			shrunk++
		}
		if err := accepts(p.Contents(), len(p.Outcome.Pending) > 0); err != nil {
			t.Fatalf("before entry %d: %v", i, err)
		}
		if slices.ContainsFunc(p.Outcome.Ladder,
			func(s outcome.LadderStep) bool { return s.Rung == outcome.RungHuman }) {
			human++ // nothing else was left to make room
		}
		if what := lost(said, p.Contents()); strategy == "high-density" && human == 0 && what != "" {
			t.Fatalf("before entry %d: a person's words are lost: %s", i, what)
		}
		owned := owned(t, s)
		if got := known.total(owned.Contents()); got != owned.Tokens {
			t.Fatalf("before entry %d: the history is kept as %d tokens and counts %d", i, owned.Tokens, got)
		}
		if got := known.total(p.Contents()); got != p.Tokens {
			t.Fatalf("before entry %d: what is to be sent is said to count %d tokens and counts %d", i, p.Tokens, got)
		}
	}
	for i, c := range entries {
		if err := check.Content(c); err != nil {
			continue // recorders keep what no agent sends; Add would refuse it
		}
		if c.Speaker == content.AI && (i == 0 || entries[i-1].Speaker != content.AI) {
			ask(i)
		}
		add(t, s, c)
		said = append(said, c)
	}
	ask(len(entries))
	t.Logf("%d entries, %d turns, %d of which made it smaller, %d at the cost of what people said", len(said), turns,
		shrunk, human)
}

// recount counts histories again; what has the same text was counted before.
type recount struct {
	counter *tokens.Counter
	counts  map[string]int
}

func (r recount) total(history []content.Content) int {
	sum := 0
	var buf []byte
	for _, c := range history {
		buf = c.AppendJSON(buf[:0])
		n, ok := r.counts[string(buf)]
		if !ok {
			n = r.counter.Entry(c)
			r.counts[string(buf)] = n
		}
		sum += n
	}
	return sum
}
