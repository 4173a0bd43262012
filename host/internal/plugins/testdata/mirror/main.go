// Mirror is a strategy plugin made with the SDK that tells what it sees of a history, for tests of the delta.
package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/serve"
)

type mirror struct{}

func (mirror) Info() sdk.Info {
	return sdk.Info{Name: "mirror", Version: "0.1.0", Trigger: sdk.Continuous(0.85)}
}

// memo is what is known of the history of a call: a hash of each entry, and of those that its edits leave.
type memo struct{ was, left []uint64 }

// Optimize removes entries of the AI that say "drop". Its counters tell what it saw: a hash of the history, its length,
// Unchanged and, 2^20 times as much, Applied. A history that is not what these say is an error.
func (mirror) Optimize(_ context.Context, in sdk.OptimizeInput) (r sdk.DensityResult, err error) {
	known, _ := in.Memo.Load().(memo)
	if in.Unchanged > len(known.was) || in.Unchanged > len(in.History) || in.Applied > len(in.History) {
		return r, fmt.Errorf("%d entries are unchanged and %d left, of %d in the memo and %d in the history",
			in.Unchanged, in.Applied, len(known.was), len(in.History))
	}
	var now memo
	for i, c := range in.History {
		said := hash(c.WithOrigin(0))
		now.was = append(now.was, said)
		if len(c.Blocks) == 1 && c.Speaker == sdk.AI && content.Equal(c.Blocks[0], sdk.Text{Text: "drop"}) {
			r.Removals = append(r.Removals, i)
		} else {
			now.left = append(now.left, said)
		}
	}
	switch {
	case !slices.Equal(now.was[:in.Unchanged], known.was[:in.Unchanged]):
		return r, fmt.Errorf("%d entries are said to be unchanged", in.Unchanged)
	case in.Applied > 0 && !slices.Equal(now.was[:in.Applied], known.left):
		return r, fmt.Errorf("the first %d entries are said to be what the edits left", in.Applied)
	}
	in.Memo.Store(now)
	r.Metadata = sdk.DensityMetadata{
		ReadWritePairsPruned: int(hash(in.History...) >> 1), FileDeduplicationsPruned: len(in.History),
		RecencyPruned: in.Unchanged | in.Applied<<20,
	}
	return r, nil
}

// Compress does nothing. Its reason tells what it saw. It writes to its copy of the history, which it may.
func (mirror) Compress(_ context.Context, _ sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	saw := fmt.Sprintf("%x with %d entries and %d tokens", hash(in.History...), len(in.History),
		in.Tokens(0, len(in.History)))
	for i := range in.History {
		for j := range in.History[i].Blocks {
			in.History[i].Blocks[j] = sdk.Text{Text: "scribbled over"}
		}
		in.History[i].Speaker = "nobody"
	}
	return sdk.NoOp(sdk.NoOpReason(saw)), nil
}

// hash covers every byte of the entries, and where each says that it stands.
func hash(entries ...sdk.Content) uint64 {
	h := fnv.New64a()
	for i := range entries {
		origin, ok := entries[i].Origin()
		_, _ = fmt.Fprintf(h, "%d %t %s\n", origin, ok, entries[i].AppendJSON(nil))
	}
	return h.Sum64()
}

func main() { serve.Strategy(mirror{}) }
