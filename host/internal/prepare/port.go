package prepare

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/shell"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Strategy is what a turn needs of a strategy. In the host, a plugin process implements it; in tests, a plain value. An
// error describes itself ([failure.Described]) if repeating the call may help.
type Strategy interface {
	// Info is constant for a Strategy. It must not block: it is called at the beginning of every turn.
	Info() sdk.Info
	// Optimize asks what to prune. It must not modify the entries of the call.
	Optimize(ctx context.Context, call OptimizeCall) (OptimizeAnswer, error)
	// Compress asks for a smaller history. Only while it runs, the strategy may use services, even concurrently.
	Compress(ctx context.Context, call CompressCall, services sdk.Host) (CompressAnswer, error)
	// Rewritten tells of a rewrite, with the history after it: what the strategy keeps of a call and is gone, it need
	// keep no longer.
	Rewritten(now Call)
}

// Call is what [OptimizeCall] and [CompressCall] have in common. Without a Config, the strategy's defaults apply.
type Call struct {
	sdk.CallParams
	// Epoch changes whenever the host rewrote the history.
	Epoch uint64
	// Entries are only read. A strategy may keep the list after the call: entries are immutable, and within an epoch
	// the list of a later call with all entries begins with an earlier call's.
	Entries []*history.Entry
	// Tools is the tool taxonomy in force; nil knows no tool.
	Tools *tools.Taxonomy
	// Dirs says where the commands of entries begin; nil: all where the agent began.
	Dirs *shell.Dirs
}

type OptimizeCall struct {
	Call
	sdk.OptimizeParams
}

// OptimizeAnswer is what a strategy wants to prune. Whether the edits fit the history is still to be checked.
type OptimizeAnswer struct {
	Edits    []rewrite.Edit
	Metadata sdk.DensityMetadata
}

type CompressCall struct {
	Call
	sdk.CompressParams
}

// CompressAnswer is a compressed history, or the reason why there is none. Whether the pieces fit the history is still
// to be checked.
type CompressAnswer struct {
	NoOp     sdk.NoOpReason
	Pieces   []rewrite.Piece
	Metadata sdk.CompressMetadata
}

// Counter counts entries in tokens. The count of an entry is independent of other entries.
type Counter interface {
	// Entry counts one entry, for the few that are made for a view.
	Entry(c content.Content) int
	// All counts entries block by block. Its errors are ctx's and a broken counter's.
	All(ctx context.Context, entries []content.Content) ([]history.Count, error)
}
