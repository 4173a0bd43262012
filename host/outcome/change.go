package outcome

import "github.com/thresh-dev/thresh/sdk/content"

// ChangeKind says what happened to an entry.
type ChangeKind string

// The kinds of [Change].
const (
	// Removed: the entry is gone.
	Removed ChangeKind = "removed"
	// Trimmed: the entry's blocks are not the ones it had.
	Trimmed ChangeKind = "trimmed"
	// Added: the strategy made the entry.
	Added ChangeKind = "added"
	// Kept: the entry stays as it is from now on, by the rule that Rule names. Released: by that rule no more. Both
	// change nothing that is sent.
	Kept     ChangeKind = "kept"
	Released ChangeKind = "released"
)

// Sent reports whether a change of the kind changes what is sent.
func (k ChangeKind) Sent() bool { return k != Kept && k != Released }

// RuleBlank is the [Change.Rule] of an AI entry without content. The host does not pass these to the compress step, so
// they are removed whatever the strategy does.
const RuleBlank = "blank"

// MaxCalls is the greatest length of [Change.Calls].
const MaxCalls = 16

// Change is what happened to one entry.
type Change struct {
	// EntryID is the entry's id; "" for an added entry whose change was planned but not applied.
	EntryID string          `json:"entry,omitempty"`
	Kind    ChangeKind      `json:"kind"`
	Speaker content.Speaker `json:"speaker,omitempty"`
	// Step is the step that changed the entry: [StepKeep], [StepOptimize], [StepCompress], or a [Rung]; "" if the change
	// was planned but not applied.
	Step string `json:"step,omitempty"`
	// Rule is the reason that the strategy gave, or the rule that keeps the entry; "" if there is none.
	Rule string `json:"rule,omitempty"`
	// By is the id of the entry that supersedes this one, by the strategy's report; "" if it has none.
	By string `json:"by,omitempty"`
	// Behind is the id of the entry that an added one follows; "" at the beginning. It is known only once applied.
	Behind string `json:"behind,omitempty"`
	// Before and After are the entry's tokens. A removed entry has no After, an added one no Before.
	Before int `json:"before"`
	After  int `json:"after"`
	// Calls are the ids of the tool calls and responses in the entry before the change, without repeats, at most
	// [MaxCalls].
	Calls []string `json:"calls,omitempty"`
	// Made is the content of an added entry; nil for others.
	Made *content.Content `json:"-"`
}

// Logged is a change, with when and under which strategy it was made.
type Logged struct {
	// Revision is that of the session's log; changes of one rewrite share it.
	Revision uint64 `json:"revision"`
	Strategy string `json:"strategy"`
	Change
}

// Gone counts messages that a turn took out of the history, those that a summary replaces included. What was only
// shortened, calls and results do not count.
type Gone struct {
	// Human are messages of people, AI answers of the model.
	Human int `json:"human"`
	AI    int `json:"ai"`
}

// ProblemKind says why something in the history is not sent, or is sent with an addition.
type ProblemKind string

// The kinds of [Problem].
const (
	// OrphanedResponse: a tool response without a call before it is withheld, because providers refuse such a
	// request.
	OrphanedResponse ProblemKind = "orphaned-response"
	// UnansweredCall: a tool call never got its response although the conversation went on. It is sent with a
	// response that says so, because providers refuse a call without one.
	UnansweredCall ProblemKind = "unanswered-call"
	// UnknownSpeaker: an entry of a speaker that no provider knows is withheld.
	UnknownSpeaker ProblemKind = "unknown-speaker"
	// OpaqueCall: a block of a type that the host does not know looks like a tool call or a response. It is sent as it
	// is: the host cannot pair it, so a provider may refuse it.
	OpaqueCall ProblemKind = "opaque-call"
)

// Problem is a place where the request differs from the history, for the provider to accept it, or where it may be
// refused.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	// EntryID is the entry's id in the history.
	EntryID string `json:"entry"`
	// CallID is the id of the tool call; "" for an unknown speaker.
	CallID string `json:"callId,omitempty"`
}
