package history

import (
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Changes returns what the plan does, entry by entry, in the order of the history. Added entries have an id only after
// the plan was applied.
func (p *Plan) Changes() []outcome.Change {
	var out []outcome.Change
	if p.changes != nil { // of an Optimize: nothing else changed
		for i, c := range p.changes {
			switch {
			case c.Removed:
				out = append(out, p.removed(c.Index))
			case !keptAsTheyWere(c.Part, p.base.Entries[c.Index]):
				out = append(out, p.change(c.Index, outcome.Trimmed, p.changed[i].Tokens))
			}
		}
		return out
	}
	if p.parts == nil {
		return nil
	}
	next := 0                    // the first entry of base that was not looked at
	gone := func(until *Entry) { // everything before until was removed
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
			// After gone, next is one past the entry.
			out = append(out, p.change(next-1, outcome.Trimmed, p.entries[i].Tokens))
		}
	}
	gone(nil)
	return out
}

func (p *Plan) added(index int) outcome.Change {
	// By id: readers of the outcome have another history, in which an index means nothing.
	behind := ""
	if index > 0 {
		behind = p.entries[index-1].ID
	}
	return made(p.entries[index], behind)
}

// removed describes the removal of the entry at a position of base. A blank entry that the strategy was not given was
// removed by the host.
func (p *Plan) removed(index int) outcome.Change {
	c := p.change(index, outcome.Removed, 0)
	// Only a Compress is given curated entries.
	curated := p.changes == nil && len(p.old) < len(p.base.Entries)
	if e := p.base.Entries[index]; c.Rule == "" && curated && e.Content.Blank() {
		c.Rule = outcome.RuleBlank
	}
	return c
}

func (p *Plan) change(index int, kind outcome.ChangeKind, after int) outcome.Change {
	return change(p.base.Entries, p.reasons, index, kind, after)
}

// change takes 0 as after for a removed entry, in tokens of the host's tokenizer.
func change(
	base []*Entry, reasons map[int]sdk.Reason, index int, kind outcome.ChangeKind, after int,
) outcome.Change {
	e := base[index]
	c := outcome.Change{EntryID: e.ID, Kind: kind, Speaker: e.Content.Speaker, Before: e.Tokens, After: after,
		Calls: calls(e.Content)}
	if r, ok := reasons[index]; ok {
		c.Rule = r.Rule
		if r.SupersededBy != nil {
			c.By = base[*r.SupersededBy].ID
		}
	}
	return c
}

// Changes returns what an executed rewrite did to a history, as [Plan.Changes] did, for sessions read from a store,
// which has no plans. base are the entries before it, up to Base. Removed blank entries are not marked as such.
func (r Rewrite) Changes(base []*Entry) (out []outcome.Change) {
	next, behind := 0, ""
	gone := func(until int) {
		for ; next < until; next++ {
			out = append(out, change(base, r.Reasons, next, outcome.Removed, 0))
		}
	}
	for _, p := range r.Pieces {
		switch {
		case p.From < 0:
			out = append(out, made(p.Entry, behind))
			behind = p.Entry.ID
			continue
		case p.Entry != nil:
			gone(p.From)
			out = append(out, change(base, r.Reasons, p.From, outcome.Trimmed, p.Entry.Tokens))
		default:
			gone(p.From)
		}
		next, behind = p.To, base[p.To-1].ID
	}
	gone(len(base))
	return out
}

// made describes a new entry; behind is the id of the entry before it, "" at the beginning.
func made(e *Entry, behind string) outcome.Change {
	return outcome.Change{EntryID: e.ID, Kind: outcome.Added, Speaker: e.Content.Speaker, After: e.Tokens,
		Calls: calls(e.Content), Made: &e.Content, Behind: behind}
}

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

// calls returns the ids of the tool calls and responses in an entry, each once and at most [outcome.MostCalls], by
// which a person finds the call in the agent's own log.
func calls(c content.Content) []string {
	var ids []string
	seen := map[string]bool{}
	for _, b := range c.Blocks {
		if len(ids) == outcome.MostCalls {
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
