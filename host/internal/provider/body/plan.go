package body

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk/content"
)

// From a view to what happens to each part. The view is the host's, and knows nothing of turns, signatures and the
// rules of an API; the plan keeps what these demand, at the cost of sending more.

// Shown is an entry of a view: what a host made of a history.
type Shown struct {
	// ID is the id of an entry that was added; others were made by the host or a strategy.
	ID      string
	Content content.Content
}

// fate is what becomes of an entry of a request. The zero value leaves the entry as it is.
type fate struct {
	gone bool
	// shown is the entry as the view has it, nil if it lacks it. differs: what is sent of it is not that.
	shown   *content.Content
	differs bool
	// texts are new texts of blocks, by their position; nil if all are as they were.
	texts map[int]string
}

// made is an entry that a strategy made, and the entry of the request that it stands behind: -1 for the beginning.
type made struct {
	behind int
	entry  content.Content
}

// Plan is what is done to the entries of a request. fates has one element for each entry, by position.
type Plan struct {
	entries []Entry
	fates   []fate
	made    []made
}

// ErrMade: a strategy made an entry that cannot be written in the API's form.
var ErrMade = errors.New("the view has an entry that is not text and was not in the request")

// blanked replaces a result whose call had to stay although a strategy removed both: calls go only with the whole turn
// of the model. It is short, and the same each time.
const blanked = "[result removed]"

// NewPlan works out what becomes of a request's entries so that it shows what the view shows. Where a view cannot be
// had in the API's form, more is kept:
//
//   - What the model said in one turn goes as a whole or not at all, so that reasoning stays with what follows it, and
//     signatures with the calls that they are for. A call that should go alone stays, and its result is blanked.
//   - Results go exactly if their call goes.
//   - Tools that the provider ran are the model's own, and go with its turn: a call and its result together.
//   - Parts of unknown kinds, summaries of the provider and instructions stay, and with them the turn that they are in;
//     further results of a call stay, and with them that call.
//   - What made a tool known to the model stays, unless something later did so again.
//   - What is left begins with words of a person: the last before it stay. Where roles alternate, words of a person stay
//     between two turns of the model.
//   - The exchange at the end stays: the model has not seen its results yet. They may be shortened.
//
// Entries of the view that the request does not have, and that are text, are inserted. The error is [ErrMade], or says
// that the view has entries in another order than the request; a request is then not edited.
func (r *Request) NewPlan(entries []Entry, view []Shown) (*Plan, error) {
	p := &Plan{entries: entries, fates: make([]fate, len(entries))}
	at := make(map[string]int, len(entries))
	for i, e := range entries {
		at[e.ID] = i
		p.fates[i].gone = true
	}
	lost := map[Ref]bool{} // calls that the view lacks
	behind := -1
	for _, s := range view {
		i, known := at[s.ID]
		if !known || s.ID == "" {
			if !writable(s.Content) {
				return nil, ErrMade
			}
			p.made = append(p.made, made{behind, s.Content})
			continue
		}
		if i <= behind {
			return nil, fmt.Errorf("the view has entry %s out of order", s.ID)
		}
		behind = i
		p.fates[i] = compare(entries[i], s.Content, lost)
		p.fates[i].shown = &s.Content
	}
	r.hold(p, lost)
	return p, nil
}

// Differs calls f for each entry that is not sent as the view has it, with its position and what both have of it: nil if
// the view lacks it, or if it goes. What is sent is what counts.
func (p *Plan) Differs(f func(entry int, sent, shown *content.Content)) {
	for i := range p.fates {
		fate := &p.fates[i]
		switch {
		case fate.gone && fate.shown != nil:
			f(i, nil, fate.shown)
		case !fate.gone && (fate.shown == nil || fate.differs):
			f(i, p.sent(i), fate.shown)
		}
	}
}

// Whole reports whether all of an entry is sent as it came.
func (p *Plan) Whole(entry int) bool { return !p.fates[entry].gone && len(p.fates[entry].texts) == 0 }

// sent returns an entry that stays as it is sent.
func (p *Plan) sent(entry int) *content.Content {
	c := p.entries[entry].Content
	if p.Whole(entry) {
		return &c
	}
	c.Blocks = slices.Clone(c.Blocks)
	for i, text := range p.fates[entry].texts {
		if was, ok := c.Blocks[i].(content.ToolResponse); ok {
			c.Blocks[i] = was.WithResultText(text)
		} else {
			c.Blocks[i] = content.Text{Text: text}
		}
	}
	return &c
}

// writable reports whether an entry can be written in each API's form: text of a person or of the model. Calls and
// results that the model never made would have ids that the provider does not know.
func writable(c content.Content) bool {
	for _, b := range c.Blocks {
		if _, ok := b.(content.Text); !ok {
			return false
		}
	}
	return len(c.Blocks) > 0 && c.Speaker != content.Tool
}

// compare finds what became of the blocks of an entry that is still there. Calls that are gone are noted in lost.
// Blocks of the view are in the order of the entry's; one that does not match is taken to have been removed.
func compare(e Entry, now content.Content, lost map[Ref]bool) fate {
	f := fate{}
	next := 0
	for i, was := range e.Content.Blocks {
		left := len(e.Content.Blocks) - i
		if next < len(now.Blocks) && same(was, now.Blocks[next], left == len(now.Blocks)-next) {
			if text, changed := changedText(was, now.Blocks[next]); changed {
				f.set(i, text)
			}
			next++
			continue
		}
		f.differs = true // it stays with its entry
		switch was.(type) {
		case content.ToolCall, content.ToolResponse:
			lost[e.Refs[i]] = true
		}
	}
	return f
}

// set notes a new text of a block. Most entries have none, so that the map is made late.
func (f *fate) set(block int, text string) {
	if f.texts == nil {
		f.texts = map[int]string{}
	}
	f.texts[block] = text
}

// drop takes a new text of a block back.
func (f *fate) drop(block int) {
	if _, ok := f.texts[block]; ok {
		delete(f.texts, block)
		f.differs = true
	}
}

// same reports whether a block of the view is that of the entry, perhaps changed. aligned: as many blocks are left in
// both, so that none was removed. A text has no id: it is recognised by its place, or by being equal.
func same(was, now content.Block, aligned bool) bool {
	switch was := was.(type) {
	case content.ToolCall:
		now, ok := now.(content.ToolCall)
		return ok && was.ID == now.ID && was.Name == now.Name
	case content.ToolResponse:
		now, ok := now.(content.ToolResponse)
		return ok && was.CallID == now.CallID
	case content.Text:
		_, ok := now.(content.Text)
		return ok && (aligned || content.Equal(was, now))
	}
	return content.Equal(was, now)
}

// changedText returns the new text of a block that differs. Calls and attachments are never changed: the client's
// stand. false if it is equal or may not change.
func changedText(was, now content.Block) (string, bool) {
	switch was := was.(type) {
	case content.Text:
		text := now.(content.Text).Text
		return text, text != was.Text
	case content.ToolResponse:
		// Compared as they stand: to decode every result of a long conversation takes longer than all else.
		if now := now.(content.ToolResponse); !bytes.Equal(now.Result, was.Result) {
			return now.ResultText(), true
		}
	}
	return "", false
}

// hold makes a plan legal: see [Request.NewPlan].
func (r *Request) hold(p *Plan, lost map[Ref]bool) {
	// First everything but results: what happens to a result depends on its call.
	entryOf := make(map[Ref]int, len(p.entries)) // of calls
	for i, e := range p.entries {
		f := &p.fates[i]
		for j, ref := range e.Refs {
			part := r.part(ref)
			if part.Kind == Call {
				entryOf[ref] = i
			}
			// Pinned items and open exchanges are whole items, so that one look at any part decides for the entry.
			if part.stays() || r.Items[ref.Item].Pinned || ref.Item >= r.pairs.open {
				f.gone = false
			}
			if call, ok := r.pairs.extra[ref]; ok {
				p.fates[entryOf[call]].gone = false
			}
			if text, ok := f.texts[j]; ok && !r.mayRead(part, ref, text) {
				f.drop(j)
			}
		}
	}
	loading := r.keepLoaders(p, entryOf)
	r.keepOwn(p)
	r.keepPrompt(p)
	r.keepWords(p, entryOf)
	// Now the calls' entries are settled, and results follow them.
	for i, e := range p.entries {
		if e.Content.Speaker != content.Tool {
			continue
		}
		f := &p.fates[i]
		// Gone until a result in it has a call that stays.
		wasGone := f.gone
		f.gone = true
		for j, ref := range e.Refs {
			call, response := r.pairs.call[ref]
			if !response {
				f.gone = f.gone && wasGone // an attachment next to results, or a further one
				continue
			}
			if p.fates[entryOf[call]].gone {
				continue
			}
			f.gone = false
			switch {
			case loading[ref]:
				f.drop(j)
			case wasGone || lost[ref] || lost[call]:
				r.blank(p, i, j)
			}
		}
	}
}

// stays reports whether a part never goes, whatever a view shows.
func (p *Part) stays() bool { return p.Kind == Fixed || p.Kind == Extra || p.Kind == Fence }

// keepLoaders keeps the latest part that made each tool known, and with a result its call: without it, the model would
// see calls of a tool that it does not know. It returns these parts.
func (r *Request) keepLoaders(p *Plan, entryOf map[Ref]int) (loading map[Ref]bool) {
	known := map[string]bool{}
	for i, e := range slices.Backward(p.entries) {
		for _, ref := range slices.Backward(e.Refs) {
			for _, tool := range r.part(ref).loads {
				if known[tool] {
					continue
				}
				known[tool] = true
				if loading == nil {
					loading = map[Ref]bool{}
				}
				loading[ref], p.fates[i].gone = true, false
				if call, ok := r.pairs.call[ref]; ok {
					p.fates[entryOf[call]].gone = false
				}
			}
		}
	}
	return loading
}

// keepOwn keeps the calls and the results of tools that the provider ran together, which may be in different turns.
func (r *Request) keepOwn(p *Plan) {
	with := map[string][]int{} // entries by the ids in them
	ids := make(map[int][]string)
	for i, e := range p.entries {
		for _, ref := range e.Refs {
			part := r.part(ref)
			if part.Kind != Own {
				continue
			}
			if id := r.tape.str(r.tape.at(part.node, part.kind.ID)); id != "" {
				with[id], ids[i] = append(with[id], i), append(ids[i], id)
			}
		}
	}
	var staying []int
	for i := range ids {
		if !p.fates[i].gone {
			staying = append(staying, i)
		}
	}
	for len(staying) > 0 {
		i := staying[len(staying)-1]
		staying = staying[:len(staying)-1]
		for _, id := range ids[i] {
			for _, other := range with[id] {
				if p.fates[other].gone {
					p.fates[other].gone = false
					staying = append(staying, other)
				}
			}
			delete(with, id) // each is looked at once
		}
	}
}

// keepPrompt makes what is left begin with words of a person, as most APIs demand. Instructions are none.
func (r *Request) keepPrompt(p *Plan) {
	for _, m := range p.made {
		if m.behind == -1 && m.entry.Speaker == content.Human {
			return
		}
	}
	said := len(p.entries) // the entry that the first made one of the model stands behind
	for _, m := range p.made {
		if m.entry.Speaker == content.AI {
			said = min(said, m.behind)
		}
	}
	prompt := -1
	for i, e := range p.entries {
		if i > said {
			break
		}
		pinned := r.Items[e.Refs[0].Item].Pinned
		if !p.fates[i].gone && (e.Content.Speaker == content.AI || pinned) {
			break
		}
		if e.Content.Speaker != content.Human || pinned {
			continue
		}
		if prompt = i; !p.fates[i].gone {
			return
		}
	}
	if prompt >= 0 {
		p.fates[prompt].gone = false
	}
}

// keepWords keeps the last words of a person that stood between two entries of the model, where roles alternate. Gemini
// takes no call behind another item of the model. entryOf has the entries of the calls.
func (r *Request) keepWords(p *Plan, entryOf map[Ref]int) {
	if r.form.Flat {
		return
	}
	behind, words := content.Human, -1 // who the last entry that stays is from, and the last words that go behind it
	for i, e := range p.entries {
		gone := p.fates[i].gone
		if e.Content.Speaker == content.Tool { // results stay exactly if their call does
			if call, ok := r.pairs.call[e.Refs[0]]; ok {
				gone = p.fates[entryOf[call]].gone
			}
		}
		switch {
		case gone && e.Content.Speaker == content.Human:
			words = i
		case gone:
		default:
			if behind == content.AI && words >= 0 && e.Content.Speaker == content.AI {
				p.fates[words].gone = false
			}
			behind, words = e.Content.Speaker, -1
		}
	}
}

// mayRead reports whether a part may have a new text. Words of the model are never rewritten: citations and signatures
// of what follows may refer to them. An empty text is none, because APIs refuse it.
func (r *Request) mayRead(p *Part, at Ref, text string) bool {
	return !p.Value.Empty() && text != "" && utf8.ValidString(text) && !r.Items[at.Item].Pinned &&
		(p.Kind == Response || p.Kind == Text && p.Speaker == content.Human)
}

// blank replaces a result that a strategy removed, if that is shorter and the model has seen the result.
func (r *Request) blank(p *Plan, entry, block int) {
	ref := p.entries[entry].Refs[block]
	v := r.part(ref).Value
	if ref.Item < r.pairs.open && v.End-v.Start > len(blanked)+16 {
		p.fates[entry].set(block, blanked)
		p.fates[entry].differs = true
	}
}
