package compare

import (
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// NothingName is the name of the [Result] of doing nothing. No variant may have it.
const NothingName = "nothing"

type Session struct {
	// Name is how the report calls it. Names need not be unique.
	Name       string
	Transcript *transcript.Transcript
}

type Variant struct {
	// Name is how the report calls it, unique among the variants; "" is the strategy's.
	Name string
	// Strategy is the setting compression.strategy.
	Strategy string
	// Settings override the host's, by key, as text in the form of the command line.
	Settings map[string]string
}

type Options struct {
	Sessions []Session
	// Unread is how many sessions were asked for and cannot be read: the sums lack them.
	Unread   int
	Variants []Variant
	// Prices are the lists to price by, with unique names; one may be [OwnModel]. None: nothing is priced.
	Prices []*pricing.List
	// PriceOf finds the price list of a model by its name, nil if there is none. A session that is priced by the list
	// of its own model is priced as it was recorded. May be nil: no list is that of a model.
	PriceOf func(model string) *pricing.List
	// ByModel says that nobody chose the prices, as a session of the agent finds them by the name of its model: they are
	// not among the settings that are recommended.
	ByModel bool
	// Turns keeps the turns of each replay, in [Result.Steps].
	Turns bool
	// Parallel is how many replays run at a time; 0: as many as there are processors.
	Parallel int
	// Progress is called after each replay, never twice at a time. May be nil.
	Progress func(done, of int)
	// Turn is called with each turn of each replay. Columns count the variants, as [Report.Variants] does. Replays that
	// run in parallel call it at the same time. May be nil.
	Turn func(session, column int, t replay.Turn)

	// lacked is called with each call that lacks something, before it is searched for. Tests set it.
	lacked func(lack) error
}
