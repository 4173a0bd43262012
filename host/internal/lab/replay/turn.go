package replay

import (
	"time"

	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Turn is one request of a replayed session: what the system prompt and the history counted, in tokens, and what was
// done to the history.
type Turn struct {
	// Turn counts from 1; Entry is the recorded entry that answers the request, from 0.
	Turn  int `json:"turn"`
	Entry int `json:"entry"`
	// Unpruned is what the request would have counted if nothing had ever been done.
	Unpruned int `json:"unpruned"`
	// Before, AfterOptimize and AfterCompress follow the host's steps. A step that did not run changes nothing.
	Before        int `json:"tokensBefore"`
	AfterOptimize int `json:"tokensAfterOptimize"`
	AfterCompress int `json:"tokensAfterCompress"`
	// Boundary says that the recorder compacted its history before this turn, so the replay went on in a new session.
	Boundary bool             `json:"boundary,omitempty"`
	Optimize outcome.Optimize `json:"optimize"`
	Compress outcome.Compress `json:"compress"`
	// Ladder are the steps taken because the request was over the hard limit.
	Ladder []outcome.LadderStep `json:"ladder,omitempty"`
	// Stable is the beginning of the request that was also the beginning of the last request that could be sent. Its
	// tokens include the system prompt.
	Stable outcome.Stable `json:"stable"`
	// Reported is the recorder's own count of the request, 0 if it has none, and Projected is what the host expected
	// the provider to count for what it would have sent.
	Reported  int `json:"reported,omitempty"`
	Projected int `json:"projected"`
	unpruned  int // what it would have expected if nothing had ever been done
	// At is when the recorder sent the request; zero if that is not known.
	At time.Time `json:"at,omitzero"`
	// Overflow is the error of a request that was still too large for the model, and so could not be sent; ""
	// otherwise.
	Overflow   string        `json:"overflow,omitempty"`
	HostTime   time.Duration `json:"hostTimeNs"`
	PluginTime time.Duration `json:"pluginTimeNs"`

	// From is the first recorded entry in the context of this turn: 0, or where the recorder last compacted.
	From int `json:"-"`
	// Boundaries counts the recorder's compactions since the turn before.
	Boundaries int `json:"-"`
	// NewProblems is how many more problems the history has than in the turn before. A turn names all that its
	// history has; added up, these are the problems that the histories have at their ends.
	NewProblems int `json:"-"`
	// Added are the recorded entries that were added since the turn before, in order.
	Added []Added `json:"-"`
	// Prepared is what the host prepared, with the history to send. It may be large; a fold keeps of it what it needs.
	Prepared window.Prepared `json:"-"`
}

// Added is a recorded entry that was added to the history.
type Added struct {
	// Index is its position in the recording, from 0, and ID its id in the session's history. Each boundary begins a
	// new session, in which ids start over.
	Index int
	ID    string
}
