// Mirror is a strategy plugin made with the SDK that tells what it sees of a history, for tests of the delta.
package main

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/thresh-dev/thresh/sdk"
)

type mirror struct{}

func (mirror) Info() sdk.Info {
	return sdk.Info{Name: "mirror", Version: "0.1.0", Trigger: sdk.Continuous(0.85)}
}

// Optimize changes nothing. Its counters tell what it saw: a hash of the history, its length and Unchanged. The memo
// holds a hash of each entry; one that is not what it was in spite of Unchanged is an error.
func (mirror) Optimize(_ context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	known, _ := in.Memo.Load().([]uint64)
	if in.Unchanged > len(known) || in.Unchanged > len(in.History) {
		return sdk.DensityResult{}, fmt.Errorf("%d entries are unchanged, of %d in the memo and %d in the history",
			in.Unchanged, len(known), len(in.History))
	}
	now := make([]uint64, len(in.History))
	for i := range in.History {
		now[i] = hash(in.History[i : i+1])
		if i < in.Unchanged && now[i] != known[i] {
			return sdk.DensityResult{}, fmt.Errorf("entry %d is not as it was, though %d are unchanged", i, in.Unchanged)
		}
	}
	in.Memo.Store(now)
	return sdk.DensityResult{Metadata: sdk.DensityMetadata{
		ReadWritePairsPruned: int(hash(in.History) >> 1), FileDeduplicationsPruned: len(in.History), RecencyPruned: in.Unchanged,
	}}, nil
}

// Compress does nothing. Its reason tells what it saw. It writes to its copy of the history, which it may.
func (mirror) Compress(_ context.Context, _ sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	saw := fmt.Sprintf("%x with %d entries and %d tokens", hash(in.History), len(in.History), in.Tokens(0, len(in.History)))
	for i := range in.History {
		for j := range in.History[i].Blocks {
			in.History[i].Blocks[j] = sdk.Text{Text: "scribbled over"}
		}
		in.History[i].Speaker = "nobody"
	}
	return sdk.NoOp(sdk.NoOpReason(saw)), nil
}

// hash covers every byte of the entries, and where each says that it stands.
func hash(entries []sdk.Content) uint64 {
	h := fnv.New64a()
	for i := range entries {
		origin, ok := entries[i].Origin()
		_, _ = fmt.Fprintf(h, "%d %t %s\n", origin, ok, entries[i].AppendJSON(nil))
	}
	return h.Sum64()
}

func main() { sdk.Serve(mirror{}) }
