package keep

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// held is an entry that a rule names.
type held struct {
	id     string
	what   string // it is, for people
	number int    // in the order in which entries were added
	tokens int    // of what rules name in it, with the calls
	stays  int    // of all of it
	by     []ruled
	old    int  // of how many subjects it is not the newest, and stays until the newest is kept
	was    bool // kept before the bound was asked
	first  bool // it was, or takes the place of one that was

	heads []*chain // of which it was the newest whole reading
	over  string   // the rule under which it is reported as too much; "" if it is not
}

// ruled is a rule, and the number of subjects for which it names an entry.
type ruled struct {
	rule string
	n    int
}

// rule returns the first one that still names the entry.
func (h *held) rule() string { return h.by[0].rule }

func (h *held) subjects() (n int) {
	for _, r := range h.by {
		n += r.n
	}
	return n
}

func (h *held) person() bool {
	return slices.ContainsFunc(h.by, func(r ruled) bool { return r.rule == Tag })
}

// chain has the entries that hold a file or an answer, in order.
type chain struct {
	// now begins with the newest that holds all of it, if there is one; the others came later.
	now []holder
	// old is what the newest takes the place of. It stays until the newest is kept.
	old []holder
}

type holder struct {
	*held
	rule  string
	whole bool
	line  bool // one line, which may be a sentence about the file
}

// part is a block of an entry, and its tokens.
type part struct{ block, tokens int }

// whole is all of an entry.
var whole = part{block: -1}

// sizes tell how the tokens of an entry are shared by its blocks.
type sizes struct {
	tokens, total int
	bytes         []int
}

func newSizes(e Entry) sizes {
	s := sizes{tokens: e.Tokens}
	if len(e.Content.Blocks) == 1 {
		return s
	}
	for _, b := range e.Content.Blocks {
		n := 1
		switch b := b.(type) {
		case content.Text:
			n += len(b.Text)
		case content.ToolCall:
			n += len(b.Name) + len(b.Parameters)
		case content.ToolResponse:
			n += len(b.Result) + len(b.Error)
		case content.Thinking:
			n += len(b.Thought) + len(b.Signature)
		case content.Media:
			n += len(b.Data)
		}
		s.bytes, s.total = append(s.bytes, n), s.total+n
	}
	return s
}

func (s sizes) of(block int) int {
	if s.total == 0 {
		return s.tokens
	}
	return int((int64(s.tokens)*int64(s.bytes[block]) + int64(s.total) - 1) / int64(s.total))
}

// hold makes a part of an entry one that a rule names.
func (k *Keeper) hold(e Entry, rule, what string, p part) *held {
	h := k.held[e.ID]
	if h == nil {
		h = &held{id: e.ID, what: what, number: k.entries, stays: e.Tokens, was: k.was, first: k.was}
		k.held[e.ID], k.fresh = h, append(k.fresh, h)
	}
	switch at := slices.IndexFunc(h.by, func(r ruled) bool { return r.rule == rule }); {
	case at >= 0:
		h.by[at].n++
	default:
		h.by = append(h.by, ruled{rule, 1})
	}
	switch {
	case k.counted[p.block] || k.counted[whole.block]:
	case p == whole:
		h.tokens = e.Tokens
		k.counted[p.block] = true
	default:
		h.tokens += p.tokens
		k.counted[p.block] = true
	}
	h.stays = max(h.stays, h.tokens)
	return h
}

// newest makes an entry the newest that holds a file or an answer. If it holds all of it, earlier ones are stale as soon
// as it is kept.
func (k *Keeper) newest(e Entry, what string, f file, p part) {
	c := k.chains[f.subject]
	if c == nil {
		c = &chain{}
	}
	if f.deletes {
		delete(k.chains, f.subject)
		k.forget(c, len(c.old))
		for _, h := range c.now {
			k.release(h)
		}
		return
	}
	k.chains[f.subject] = c
	if last := len(c.now) - 1; last >= 0 && c.now[last].id == e.ID && (!f.whole || last == 0) {
		now := &c.now[last]
		now.whole, now.line = now.whole || f.whole, now.line && f.line
		return
	}
	h := holder{k.hold(e, f.rule, what, p), f.rule, f.whole, f.line}
	// One line in the place of many may be a sentence about them.
	if !f.whole || f.line && slices.ContainsFunc(c.now, func(o holder) bool { return !o.line }) {
		h.whole = false
		c.now = append(c.now, h)
		return
	}
	if !c.headedBy(h.held) {
		h.heads = append(h.heads, c)
	}
	for _, o := range c.now {
		h.first = h.first || o.first || k.kept[o.held]
		if o.over != "" { // it is not kept, and need not be
			k.release(o)
			continue
		}
		o.old++
		c.old = append(c.old, o)
	}
	c.now = []holder{h}
}

// headedBy reports whether an entry is the newest whole reading: others may have come since.
func (c *chain) headedBy(h *held) bool { return len(c.now) > 0 && c.now[0].held == h }

// release lets go of an entry that is not the newest of a subject any more.
func (k *Keeper) release(h holder) {
	at := slices.IndexFunc(h.by, func(r ruled) bool { return r.rule == h.rule })
	if at < 0 {
		return
	}
	if h.by[at].n--; h.by[at].n == 0 {
		h.by = slices.Delete(h.by, at, at+1)
		if k.kept[h.held] || h.was {
			k.moved[h.id] = true
		}
	}
	if len(h.by) == 0 {
		k.drop(h.held)
		k.fits(h.held)
		delete(k.held, h.id)
	}
}

// forget lets go of the first n of what a chain has beside its newest.
func (k *Keeper) forget(c *chain, n int) {
	for _, o := range c.old[:n] {
		o.old--
		k.release(o)
	}
	c.old = slices.Delete(c.old, 0, n)
}
