package history

import (
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// ChangeKind says what became of an entry.
type ChangeKind string

// The kinds of [Change].
const (
	// Removed: the entry is gone.
	Removed ChangeKind = "removed"
	// Trimmed: the entry has other blocks than it had.
	Trimmed ChangeKind = "trimmed"
	// Added: the strategy made the entry.
	Added ChangeKind = "added"
)

// RuleBlank is the [Change.Rule] of an entry of the AI that says nothing. The host leaves those out of what a Compress is
// given (REQ-HD-002.9), so that they go whatever the strategy does.
const RuleBlank = "blank"

// Change is what a plan does to one entry.
type Change struct {
	// EntryID is the entry's id; "" for an added entry of a plan that was not applied.
	EntryID string          `json:"entry,omitempty"`
	Kind    ChangeKind      `json:"kind"`
	Speaker content.Speaker `json:"speaker,omitempty"`
	// Step names what changed the entry: "optimize", "compress", or a step that the host takes itself. A plan does not know
	// it and leaves it empty.
	Step string `json:"step,omitempty"`
	// Rule is the reason that the strategy gave; "" if it gave none.
	Rule string `json:"rule,omitempty"`
	// By is the id of the entry that superseded this one, as the strategy says; "" if it does not.
	By string `json:"by,omitempty"`
	// Behind is the id of the entry that an added entry stands behind; "" at the beginning. Like EntryID, it is that of an
	// added entry only once the plan was applied.
	Behind string `json:"behind,omitempty"`
	// Before and After are what the entry counted and counts, in tokens. A removed entry has no After, an added one no Before.
	Before int `json:"before"`
	After  int `json:"after"`
	// Calls are the ids of the tool calls and responses in the entry as it was, at most [MostCalls] and each once.
	Calls []string `json:"calls,omitempty"`
	// Made is an added entry itself; nil for others.
	Made *Entry `json:"-"`
}

// MostCalls bounds [Change.Calls].
const MostCalls = 16

// Changes returns what the plan does to the history, in the order of the entries; entries that it makes stand where it puts
// them. Those have ids once the plan was applied.
func (p *Plan) Changes() []Change {
	if p.parts == nil {
		return nil
	}
	var out []Change
	next := 0 // the first entry of the base that was not looked at
	gone := func(until *Entry) {
		for ; next < len(p.base.Entries) && p.base.Entries[next] != until; next++ {
			out = append(out, p.removed(next))
		}
		next++ // past until
	}
	for i, part := range p.parts {
		if part.Index < 0 {
			out = append(out, p.added(i))
			continue
		}
		old := p.old[part.Index]
		gone(old)
		if part.Edited && !keptAsTheyWere(part, old) {
			out = append(out, p.change(next-1, Trimmed, p.entries[i].Tokens))
		}
	}
	gone(nil)
	return out
}

// added describes the entry at a position of the new history as made.
func (p *Plan) added(index int) Change {
	e := p.entries[index]
	c := Change{EntryID: e.ID, Kind: Added, Speaker: e.Content.Speaker, After: e.Tokens, Calls: calls(e.Content), Made: e}
	if index > 0 {
		c.Behind = p.entries[index-1].ID
	}
	return c
}

// removed describes the entry at a position of the base as gone.
func (p *Plan) removed(index int) Change {
	c := p.change(index, Removed, 0)
	if e := p.base.Entries[index]; c.Rule == "" && len(p.old) < len(p.base.Entries) && saysNothing(e) {
		c.Rule = RuleBlank
	}
	return c
}

// saysNothing is what [Curate] goes by.
func saysNothing(e *Entry) bool { return e.Content.Speaker == content.AI && !e.Content.HasContent() }

func (p *Plan) change(index int, kind ChangeKind, after int) Change {
	e := p.base.Entries[index]
	c := Change{EntryID: e.ID, Kind: kind, Speaker: e.Content.Speaker, Before: e.Tokens, After: after, Calls: calls(e.Content)}
	if r, ok := p.reasons[index]; ok {
		c.Rule = r.Rule
		if r.SupersededBy != nil {
			c.By = p.base.Entries[*r.SupersededBy].ID
		}
	}
	return c
}

// keptAsTheyWere reports whether an edit kept every block of an entry and added none.
func keptAsTheyWere(part check.Part, old *Entry) bool {
	if len(part.Kept) != len(old.Content.Blocks) {
		return false
	}
	for i, from := range part.Kept {
		if from != i {
			return false
		}
	}
	return true
}

// calls returns the ids of the tool calls and responses in an entry.
func calls(c content.Content) []string {
	var ids []string
	seen := map[string]bool{}
	for _, b := range c.Blocks {
		if len(ids) == MostCalls {
			break
		}
		var id string
		switch b := b.(type) {
		case content.ToolCall:
			id = b.ID
		case content.ToolResponse:
			id = b.CallID
		}
		if id != "" && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}
