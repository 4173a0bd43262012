package history

import (
	"cmp"
	"slices"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Changes returns what the plan does, entry by entry, in the order of the history. Added entries have an id only after
// the plan was applied. Blank entries that the strategy was not given are marked as removed by the host; edits that
// change nothing are left out.
func (p *Plan) Changes() []outcome.Change {
	if p.parts == nil && p.changes == nil {
		return nil
	}
	// Only a Compress is given curated entries.
	curated := p.changes == nil && len(p.old) < len(p.base.Entries)
	return p.rewrite().changes(p.base.Entries, curated)
}

// Changes returns what an executed rewrite did to a history, as [Plan.Changes] did, for sessions read from a store,
// which has no plans. base are the entries before it, up to Base. Removed blank entries are not marked as such.
func (r Rewrite) Changes(base []*Entry) []outcome.Change { return r.changes(base, false) }

func (r Rewrite) changes(base []*Entry, curated bool) (out []outcome.Change) {
	// after is 0 for a removed entry, in tokens of the host's tokenizer.
	add := func(index int, kind outcome.ChangeKind, after int) {
		e := base[index]
		c := outcome.Change{EntryID: e.ID, Kind: kind, Speaker: e.Content.Speaker, Before: e.Tokens, After: after,
			Calls: calls(e.Content)}
		if reason, ok := r.Reasons[index]; ok {
			c.Rule = reason.Rule
			if reason.SupersededBy != nil {
				c.By = base[*reason.SupersededBy].ID
			}
		}
		if kind == outcome.Removed && c.Rule == "" && curated && e.Content.Blank() {
			c.Rule = outcome.RuleBlank
		}
		out = append(out, c)
	}
	stay := 0
	for _, p := range r.Pieces {
		if p.From >= 0 {
			stay += p.To - p.From
		}
	}
	out = make([]outcome.Change, 0, max(len(base)-stay, 0))
	next := 0
	behind := "" // by id: readers of the outcome have another history, in which an index means nothing
	gone := func(until int) {
		for ; next < until; next++ {
			add(next, outcome.Removed, 0)
		}
	}
	for _, p := range r.Pieces {
		if p.From < 0 {
			out = append(out, outcome.Change{EntryID: p.Entry.ID, Kind: outcome.Added, Speaker: p.Entry.Content.Speaker,
				After: p.Entry.Tokens, Calls: calls(p.Entry.Content), Made: &p.Entry.Content, Behind: behind})
			behind = p.Entry.ID
			continue
		}
		gone(p.From)
		switch {
		case p.Entry == nil:
		case !same(p.Entry, base[p.From]):
			add(p.From, outcome.Trimmed, p.Entry.Tokens)
		default:
			was, is := check.KeptBy(base[p.From].Content), check.KeptBy(p.Entry.Content)
			if was == is {
				break
			}
			kind := outcome.Kept
			if is == "" {
				kind = outcome.Released
			}
			add(p.From, kind, p.Entry.Tokens)
			out[len(out)-1].Rule = cmp.Or(is, was)
		}
		next, behind = p.To, base[p.To-1].ID
	}
	gone(len(base))
	return out
}

// calls returns the ids of the tool calls and responses in an entry, each once and at most [outcome.MaxCalls], by
// which a person finds the call in the agent's own log.
func calls(c content.Content) []string {
	var ids []string
	for _, b := range c.Blocks {
		if len(ids) == outcome.MaxCalls {
			break
		}
		if id, _ := content.CallID(b); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
