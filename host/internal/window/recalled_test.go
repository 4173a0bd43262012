package window_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// TestWhatWasRecalledIsNotRemovedAgain lets models work, read again what was removed, and hear from people, at random,
// in a window that is far too small. With every strategy that ships, each request has all that was read again since a
// person spoke, byte for byte, and nothing of what was read again before is kept. A session that is read again from its
// store at any moment, or goes on in a fork, has the same history.
func TestWhatWasRecalledIsNotRemovedAgain(t *testing.T) {
	race.Skip(t)
	const limit = 8000
	server := modelapi.Start(t, modelapi.Options{Reply: summary})
	h := openOn(t, store.NewMemory(), withModel("openai", server, map[string]any{"model.contextLimit": limit,
		"compression.density.recencyPruning": true, "compression.density.recencyRetention": 1}))
	for _, strategy := range []string{"distill", "high-density", "top-down-truncation", "middle-out", "one-shot"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			requests, recalled, rewritten := 0, 0, 0
			for seed := range uint64(full.Or(2, 20)) {
				random := rand.New(rand.NewPCG(seed, 0))
				set := map[string]any{"compression.strategy": strategy}
				s, slept := begin(t, h, set), begin(t, h, set)
				var held []string // read again since a person spoke
				calls := 0
				both := func(entries ...content.Content) {
					add(t, s, entries...)
					add(t, slept, entries...)
				}
				call := func(name, parameters, result string) {
					calls++
					id := fmt.Sprint("c", calls)
					both(content.Content{Speaker: content.AI, Blocks: []content.Block{
						content.ToolCall{ID: id, Name: name, Parameters: json.RawMessage(parameters)}}},
						content.Content{Speaker: content.Tool, Blocks: []content.Block{
							content.ToolResponse{CallID: id, ToolName: name, Result: content.String(result)}}})
				}
				both(says(content.Human, "Mend the parser."))
				for range 40 {
					switch n := random.IntN(12); {
					case n == 0:
						both(says(content.Human, fmt.Sprintf("Now the next one, number %d.", calls)))
						held = nil
					case n == 1:
						both(says(content.Human, "<system-reminder>\nUse the list of tasks.\n</system-reminder>"))
					case n < 5 && len(held) < 4:
						text := fmt.Sprintf("[recalled: turn 1, Read f%d.go, lines 1-20 of 90, id %d]\n", random.IntN(9), calls) +
							words(random, 150)
						call("mcp__thresh__"+tools.Recall, fmt.Sprintf(`{"id":"%d"}`, calls), text)
						held = append(held, text)
					default:
						call("Read", fmt.Sprintf(`{"file_path":"/r/f%d.go"}`, random.IntN(9)), words(random, 400))
					}
					p := prepareTurn(t, s)
					requests++
					all := everything(p.Contents())
					for _, text := range held {
						if recalled++; !strings.Contains(all, text) {
							t.Fatalf("seed %d: before call %d: gone is %.80q", seed, calls+1, text)
						}
					}
					kept := 0
					for _, c := range p.Contents() {
						if check.KeptBy(c) == tools.Recall {
							kept++
						}
					}
					if kept != len(held) {
						t.Errorf("seed %d: %d are kept, and %d were read again since a person spoke", seed, kept, len(held))
					}
					if slices.ContainsFunc(p.Outcome.Changes, func(c outcome.Change) bool { return c.Kind.Sent() }) {
						rewritten++
					}
					if random.IntN(4) == 0 {
						slept.Sleep()
					}
					if diff := cmp.Diff(p.Contents(), prepareTurn(t, slept).Contents()); diff != "" {
						t.Fatalf("seed %d: the session that was read again has another history: %s", seed, diff)
					}
				}
				n, _ := moment(t, s).Counts()
				fork, err := h.Open(window.Opening{Key: store.Key{ID: s.ID() + "-fork"}, Settings: set,
					Fork: &journal.Fork{Parent: s.ID(), At: s.Position(), Entries: int(n), Whole: true}})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(prepareTurn(t, s).Contents(), prepareTurn(t, fork).Contents()); diff != "" {
					t.Errorf("seed %d: the fork has another history: %s", seed, diff)
				}
			}
			t.Logf("%d recalled results were in %d requests; %d turns rewrote the history", recalled, requests, rewritten)
			if rewritten < 3 {
				t.Error("the histories are too small")
			}
		})
	}
}

// words are about as many tokens of made text.
func words(random *rand.Rand, tokens int) string {
	var b strings.Builder
	for b.Len() < 4*tokens {
		fmt.Fprintf(&b, "func f%d() error { return errors.New(%q) }\n", random.IntN(1e6), fmt.Sprint("no ", random.IntN(1e6)))
	}
	return b.String()
}
