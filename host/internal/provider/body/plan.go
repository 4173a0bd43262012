package body

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/internal/check"
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
	// out are the blocks of sealed thinking that go although their entry stays.
	out []int
}

// made is an entry that a strategy made, and the entry of the request that it stands behind: -1 for the beginning.
// added: the view lacks it, and the API demands that something stands there.
type made struct {
	behind int
	entry  content.Content
	added  bool
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
//     signatures with the calls that they are for. A call that should go alone stays, and its result is blanked. Sealed
//     thinking goes alone, unless the provider does that itself.
//   - Results go exactly if their call goes.
//   - Tools that the provider ran are the model's own, and go with its turn: a call and its result together.
//   - Parts of unknown kinds, summaries of the provider and instructions stay, and with them the turn that they are in;
//     further results of a call stay, and with them that call.
//   - What made a tool known to the model stays, unless something later did so again.
//   - What is left begins with words of a person: the last before it stay. Where roles alternate, words of a person stay
//     between two turns of the model.
//   - Instructions stay where the API takes them: between words of a person, or results, and the model. What the model
//     said there is a line, if all of it goes.
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
			p.made = append(p.made, made{behind: behind, entry: s.Content})
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
	p.recount()
	r.unseal(p)
	return p, nil
}

// Differs calls f for each entry that is not sent as the view has it, with its position and what both have of it: nil if
// the view lacks it, or if it goes. The position is -1 for an entry that the request did not have. What is sent is what
// counts.
func (p *Plan) Differs(f func(entry int, sent, shown *content.Content)) {
	for i := range p.made {
		if p.made[i].added {
			f(-1, &p.made[i].entry, nil)
		}
	}
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
func (p *Plan) Whole(entry int) bool {
	f := &p.fates[entry]
	return !f.gone && len(f.texts) == 0 && len(f.out) == 0
}

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
	for _, block := range slices.Backward(p.fates[entry].out) {
		c.Blocks = slices.Delete(c.Blocks, block, block+1)
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
		rest := e.Content.Blocks[i:]
		aligned := len(rest) == len(now.Blocks)-next
		if next < len(now.Blocks) && same(was, now.Blocks[next], aligned) && (aligned || !another(rest, now.Blocks[next])) {
			if text, changed := changedText(was, now.Blocks[next]); changed {
				f.set(i, text)
			}
			next++
			continue
		}
		switch was := was.(type) {
		case content.Thinking:
			if was.Signature != "" {
				f.out = append(f.out, i)
				continue
			}
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

// another reports whether now is a call or a response of which the first of the blocks has only the id, which a later
// one has too.
func another(from []content.Block, now content.Block) bool {
	id, ok := content.CallID(now)
	if !ok || content.Equal(from[0], now) || check.Less(from[0], now) {
		return false // without a look at the others: most blocks stay as they are
	}
	return slices.ContainsFunc(from[1:], func(b content.Block) bool { other, _ := content.CallID(b); return other == id })
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
