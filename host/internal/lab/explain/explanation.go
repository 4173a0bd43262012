package explain

import (
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Explanation says what happened to each entry of a session. All counts are in tokens.
type Explanation struct {
	Strategy string `json:"strategy"`
	// Turns is how many requests were looked at.
	Turns int `json:"turns"`
	// Tokens is the sum of all entries as they were added. Now is what is left of them and of Made at the end;
	// entries that the recorder's own compaction removed count 0.
	Tokens int `json:"tokens"`
	Now    int `json:"now"`
	// Entries are the entries of the file, in order, each once.
	Entries []Entry `json:"entries"`
	// Made are the entries that strategies made, in the order in which they made them.
	Made []Made `json:"made,omitempty"`
	// Rules say what each rule of each step came to, those that saved most first. What [StepRecorder] removed, the
	// agent's own compaction, no strategy saved.
	Rules []Rule `json:"rules,omitempty"`
	// Tools and Files say what the calls of each tool, and about each file, counted when they were added, with their
	// responses. They overlap: a call counts for its tool and for each of its files.
	Tools []Share `json:"tools,omitempty"`
	Files []Share `json:"files,omitempty"`
}

// Status is the state of an entry at the end of the replay.
type Status string

// The statuses; their values and the field name "fate" are fixed by the JSON form. A trimmed or removed entry has at
// least one [Event].
const (
	Kept    Status = "stands"
	Trimmed Status = "trimmed"
	Removed Status = "removed"
)

type Entry struct {
	// Index is its position in the file's history, from 0; Line is its line in the file, from 1, 0 if that is
	// not known.
	Index int `json:"index"`
	Line  int `json:"line,omitempty"`
	State
}

// Made is an entry that a strategy made, such as a summary.
type Made struct {
	// Index is its position among those that were made, from 0.
	Index int `json:"index"`
	// Turn is the request before which it was made, from 1, and Step what made it.
	Turn int    `json:"turn"`
	Step string `json:"step"`
	// After is the index of the entry of the file that it was put behind, -1 if it was put before all of them.
	After int `json:"after"`
	State
}

// State is an entry with what happened to it.
type State struct {
	Speaker content.Speaker `json:"speaker"`
	// What says in a line what the entry is.
	What string `json:"what"`
	// Tokens is its count when it was added, Now its present count.
	Tokens int    `json:"tokens"`
	Now    int    `json:"now"`
	Status Status `json:"fate"`
	// KeptBy is the rule by which the entry stays as it is: a pattern of compression.keep, "<keep>", or [KeptByAgent]; ""
	// if none does.
	KeptBy string  `json:"keptBy,omitempty"`
	Events []Event `json:"events,omitempty"`
	// Problems are the reasons why it was not sent unchanged, each combination of kind and call once.
	Problems []Problem `json:"problems,omitempty"`
}

// KeptByAgent is the rule of entries that were pinned when they were added.
const KeptByAgent = "pinned"

type Event struct {
	// Turn is the request before which it happened, from 1.
	Turn int `json:"turn"`
	// Kind is [outcome.Removed] or [outcome.Trimmed].
	Kind outcome.ChangeKind `json:"kind"`
	// Step is "optimize", "compress", a rung of the ladder, or [StepRecorder]; Rule is the strategy's own reason, ""
	// if it gave none.
	Step string `json:"step"`
	Rule string `json:"rule,omitempty"`
	// By is the index of the entry of the file that superseded it, ByMade that of an entry in Made; both nil if
	// unknown.
	By     *int `json:"by,omitempty"`
	ByMade *int `json:"byMade,omitempty"`
	// Before and After are the entry's counts before and after the change.
	Before int `json:"before"`
	After  int `json:"after"`
}

// StepRecorder is the step of entries that disappeared when the recorder compacted its own history, and RuleCompacted
// its rule. They keep such losses apart from what the strategy did.
const (
	StepRecorder  = "recorder"
	RuleCompacted = "compacted"
)

// Problem is a reason why an entry was not sent as it is. See [outcome.Problem].
type Problem struct {
	// Turn is the first request that it concerned.
	Turn   int                 `json:"turn"`
	Kind   outcome.ProblemKind `json:"kind"`
	CallID string              `json:"callId,omitempty"`
}

type Rule struct {
	Step string `json:"step"`
	Rule string `json:"rule,omitempty"`
	// Removed, Trimmed and Made count events.
	Removed int `json:"removed,omitempty"`
	Trimmed int `json:"trimmed,omitempty"`
	Made    int `json:"made,omitempty"`
	// Saved is the number of tokens removed, less the tokens of entries made. It is negative if those are larger.
	Saved int `json:"saved"`
}
