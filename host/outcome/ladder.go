package outcome

import (
	"fmt"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Rung is one step of the ladder: the order in which the host makes room for a request that is over the hard limit.
type Rung string

// The rungs, in order. One that is not enough is left out if a later one suffices without it. The first two are the
// steps of every turn; the host takes the others itself, unless the setting compression.hardLimit is "error".
const (
	RungOptimize Rung = "optimize"
	// RungHuge cuts the middle out of results that take more than half of the history's room, alone or with those of
	// parallel calls. It comes before a Compress, also before one at the threshold: to keep such results, a strategy
	// would remove much that fitted before.
	RungHuge     Rung = "huge-results"
	RungCompress Rung = "compress"
	// RungResults replaces tool results, the largest first, by a line that says so, except in the last exchange.
	RungResults Rung = "tool-results"
	// RungExchanges removes the oldest tool calls with their responses, and what the AI said, up to the last exchange.
	RungExchanges Rung = "oldest-exchanges"
	// RungLast shortens the largest results of the last exchange, which the model has not seen yet, to beginning and
	// end.
	RungLast Rung = "last-results"
	// RungHuman, only where the request cannot be sent otherwise, shortens people's long messages to their beginnings,
	// then removes messages, the oldest first, except the last one. The setting compression.hardLimit
	// "make-room-keep-human" leaves this rung out.
	RungHuman Rung = "oldest-human-text"
)

// The values of [Change.Step] for the steps of every turn. Changes made by other rungs have the rung's name.
const (
	StepOptimize = string(RungOptimize)
	StepCompress = string(RungCompress)
	// StepKeep comes before them: see [Kept].
	StepKeep = "keep"
	// StepThinking comes behind them, where something was changed that had been sent to a model which takes thinking
	// back only behind exactly what it was made behind: the thinking behind the change goes.
	StepThinking = "thinking"
)

// LadderStep is one rung that was taken.
type LadderStep struct {
	Rung Rung `json:"rung"`
	// Entries is how many entries were changed or removed.
	Entries int `json:"entries"`
	// TokensBefore and TokensAfter are the whole history's.
	TokensBefore int `json:"tokensBefore"`
	TokensAfter  int `json:"tokensAfter"`
}

// LargeEntry is one of the largest entries. An error about a request that is too large names them, for people who have
// to make room by hand.
type LargeEntry struct {
	// Index is the entry's position in the history.
	Index   int             `json:"index" jsonschema:"position in the history"`
	EntryID string          `json:"entry" jsonschema:"the entry's id"`
	Speaker content.Speaker `json:"speaker"`
	// Tool is the tool of the first response in the entry; "" if there is none.
	Tool   string `json:"tool,omitempty" jsonschema:"of its first result"`
	Tokens int    `json:"tokens"`
	// Rule is the rule by which the host keeps the entry; "" if there is none.
	Rule string `json:"rule,omitempty" jsonschema:"by which it is kept"`
}

func (e LargeEntry) String() string {
	who := string(e.Speaker)
	if e.Tool != "" {
		who = e.Tool
	}
	if e.Rule != "" {
		who += ", kept by " + e.Rule
	}
	return fmt.Sprintf("entry %d (%s, %s) %d", e.Index, e.EntryID, who, e.Tokens)
}
