package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// taxonomy is the tool taxonomy that hosts send by default. The samples use tools of several agents, so all
// presets are in it. Once per program: the same one travels with every call.
var taxonomy = sync.OnceValue(func() *tools.Taxonomy {
	t, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		panic(err) // the presets are built in
	}
	return t
})

// density has all pruning rules enabled: the checks are about what an Optimize does, and a rule that is off does
// nothing.
var density = sdk.DensityConfig{
	ReadWritePruning: true, FileDedupe: true, RecencyPruning: true, RecencyRetention: 3,
	PartialWrites: sdk.PartialWritesPrune,
}

// workspace is the workspace root that the samples' paths refer to. It need not exist: strategies see paths, not
// files.
const workspace = "/w"

func callOf(sm sample, session string, revision uint64) prepare.Call {
	return prepare.Call{
		CallParams: sdk.CallParams{
			SessionID: session, Revision: revision, CallSettings: sdk.CallSettings{WorkspaceRoot: workspace},
		},
		Epoch: sm.epoch, Entries: sm.entries, Tools: taxonomy(),
	}
}

// optimized is the outcome of one Optimize. If the strategy returned an error, bytes holds that error (see
// optimizeAll).
type optimized struct {
	// Two answers are equal if and only if these are.
	bytes string // the answer as it travels, to be compared
	edits int
	after sample
}

func (o optimized) String() string {
	if strings.HasPrefix(o.bytes, "error: ") {
		return text.OneLine(o.bytes, 200)
	}
	return fmt.Sprintf("%d edits", o.edits)
}

// optimize makes one Optimize and validates the answer with the host's own validator. Errors name the sample.
func optimize(
	ctx context.Context,
	st *plugins.Strategy,
	sm sample,
	session string,
	revision uint64,
) (optimized, error) {
	return judgeOptimize(ctx, st, sm, prepare.OptimizeCall{
		Call: callOf(sm, session, revision), OptimizeParams: sdk.OptimizeParams{Density: density},
	})
}

func judgeOptimize(
	ctx context.Context, st *plugins.Strategy, sm sample, call prepare.OptimizeCall,
) (optimized, error) {
	a, err := st.Optimize(ctx, call)
	if err != nil {
		return optimized{}, on(&sm, err)
	}
	parts, err := check.Optimize(contentsOf(sm.entries), a.Edits)
	if err != nil {
		return optimized{}, on(&sm, fmt.Errorf("the host refuses the answer: %w", err))
	}
	encoded, err := encodeEdits(a.Edits, a.Metadata)
	if err != nil {
		return optimized{}, on(&sm, err)
	}
	return optimized{bytes: encoded, edits: len(a.Edits), after: applied(sm, parts)}, nil
}

// encodeEdits returns an answer in its wire form, so answers can be compared as strings. The writer is
// deterministic, and JSON of the metadata sorts its keys, so equal answers have equal encodings.
func encodeEdits(edits []rewrite.Edit, m sdk.DensityMetadata) (string, error) {
	var b bytes.Buffer
	w := wire.NewWriter(func(chunk []byte) error { _, err := b.Write(chunk); return err })
	for _, e := range edits {
		if err := w.Edit(e); err != nil {
			return "", err
		}
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	counts, err := json.Marshal(m)
	return b.String() + string(counts), err
}

// applied returns the history that results from an answer, as the host would build it. Entries that stay are the same
// pointers with the same ids, edited entries keep their ids, and new ones get ids of their own.
func applied(sm sample, parts []check.Part) sample {
	out := sample{name: sm.name, entries: make([]*history.Entry, len(parts)), epoch: sm.epoch + 1, added: sm.added}
	for i, p := range parts {
		switch {
		case p.Index < 0:
			out.entries[i] = &history.Entry{
				ID: fmt.Sprint("new", i), Count: history.Count{Tokens: tokens(p.Content)}, Content: p.Content,
			}
		case p.Edited:
			out.entries[i] = &history.Entry{
				ID: sm.entries[p.Index].ID, Count: history.Count{Tokens: tokens(p.Content)}, Content: p.Content,
			}
		default:
			out.entries[i] = sm.entries[p.Index]
		}
	}
	return out
}
