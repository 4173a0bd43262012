package history

import (
	"bytes"
	"slices"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// View is a history as it is safe to send: no entry of the AI that says nothing, every tool response behind its call,
// every call with a response unless it is still being waited for.
type View struct {
	// Entries are those of the history and those that were made for the view. The latter have no ID and no lasting identity.
	Entries []*Entry
	Tokens  int
	// Pending are the ids of calls at the end that still wait for their responses. The agent adds those before it sends.
	Pending  []string
	Problems []outcome.Problem
	// Revision of the history that the view was made from, and its epoch, which counts rewrites.
	Revision, Epoch uint64
	// Owned is how many entries the history had then.
	Owned int

	settled, settledTokens int // the beginning that only a rewrite changes
}

// Contents returns what is safe to send: the entries' contents, in order.
func (v View) Contents() []content.Content { return contents(v.Entries) }

// Shared returns how many entries at the beginning of v stood there in an earlier view of the same history too, and their
// tokens. It looks at all of v only if the history was rewritten in between.
func (v View) Shared(earlier View) (entries, tokens int) {
	if v.Epoch == earlier.Epoch {
		entries, tokens = earlier.settled, earlier.settledTokens
	}
	for ; entries < min(len(v.Entries), len(earlier.Entries)) && same(v.Entries[entries], earlier.Entries[entries]); entries++ {
		tokens += v.Entries[entries].Tokens
	}
	return entries, tokens
}

// same reports whether two records are sent alike: what is made for a view is made anew for the next.
func same(a, b *Entry) bool {
	return a == b || a.ID == b.ID && a.Tokens == b.Tokens && a.Content.Speaker == b.Content.Speaker && sameBlocks(a.Content.Blocks, b.Content.Blocks)
}

func sameBlocks(a, b []content.Block) bool {
	return slices.EqualFunc(a, b, func(x, y content.Block) bool {
		return bytes.Equal(content.AppendBlock(nil, x), content.AppendBlock(nil, y))
	})
}

// unansweredError is what a call is answered with that never got a response.
const unansweredError = "no result was recorded: the call was interrupted"

// view is the part of the [View] that no later entry can change. Building on it costs what is new, not what is there.
type view struct {
	out      []*Entry
	tokens   int
	problems []outcome.Problem
	next     int // the first entry that is not in it
}

func (v *view) reset() { *v = view{} }

// View returns the history as it is safe to send. count counts the few entries that have to be made for it.
func (h *History) View(count func(content.Content) int) View {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.view.settle(h.entries, count) {
	}
	b := viewBuilder{count: count, view: h.view}
	b.out, b.problems = slices.Clip(b.out), slices.Clone(b.problems)
	pending := b.exchange(h.entries[b.next:], false)
	return View{
		Entries: b.out, Tokens: b.tokens, Pending: pending, Problems: b.problems,
		Revision: h.revision, Epoch: h.epoch, Owned: len(h.entries), settled: len(h.view.out), settledTokens: h.view.tokens,
	}
}

// settle takes the next entry or the next finished exchange into v. It returns false when what is left is an exchange that
// may still go on.
func (v *view) settle(entries []*Entry, count func(content.Content) int) bool {
	if v.next >= len(entries) {
		return false
	}
	b := viewBuilder{count: count, view: *v}
	e := entries[v.next]
	if e.Content.Speaker != content.AI || !hasCalls(e.Content) {
		b.single(e)
		b.next++
		*v = b.view
		return true
	}
	end := exchangeEnd(entries[v.next:])
	if v.next+end == len(entries) {
		return false
	}
	b.exchange(entries[v.next:v.next+end], true)
	b.next += end
	*v = b.view
	return true
}

// exchangeEnd returns how many entries belong to the exchange that begins at entries[0]: entries of the AI, then whatever
// comes until the AI speaks again.
func exchangeEnd(entries []*Entry) int {
	i := 0
	for i < len(entries) && entries[i].Content.Speaker == content.AI {
		i++
	}
	for i < len(entries) && entries[i].Content.Speaker != content.AI {
		i++
	}
	return i
}

type viewBuilder struct {
	view
	count func(content.Content) int
}

func (b *viewBuilder) emit(e *Entry) {
	b.out = append(b.out, e)
	b.tokens += e.Tokens
}

func (b *viewBuilder) problem(kind outcome.ProblemKind, e *Entry, callID string) {
	b.problems = append(b.problems, outcome.Problem{Kind: kind, EntryID: e.ID, CallID: callID})
}

// single adds an entry that belongs to no exchange.
func (b *viewBuilder) single(e *Entry) {
	switch e.Content.Speaker {
	case content.Human:
		b.emit(e)
	case content.AI:
		if !e.Content.Blank() {
			b.emit(e)
		}
	case content.Tool:
		b.responses(e, nil)
	default:
		b.problem(outcome.UnknownSpeaker, e, "")
	}
}

// exchange adds entries that begin with an entry of the AI that calls tools: the calls, their responses, then what people
// said meanwhile. It returns the calls that still wait if the exchange is not over.
func (b *viewBuilder) exchange(entries []*Entry, over bool) (pending []string) {
	if len(entries) == 0 {
		return nil
	}
	type call struct {
		entry *Entry
		at    turns.At
		content.ToolCall
	}
	var calls []call
	var match turns.Matcher // of this exchange alone: to a provider, calls before it are none
	i := 0
	for ; i < len(entries) && entries[i].Content.Speaker == content.AI; i++ {
		if entries[i].Content.Blank() {
			continue
		}
		b.emit(entries[i])
		for j, block := range entries[i].Content.Blocks {
			if c, ok := block.(content.ToolCall); ok {
				at := turns.At{Entry: i, Block: j}
				match.Call(c.ID, at)
				calls = append(calls, call{entries[i], at, c})
			}
		}
	}
	answered := make(map[turns.At]bool, len(calls))
	var others []*Entry
	for ; i < len(entries); i++ {
		if entries[i].Content.Speaker != content.Tool {
			others = append(others, entries[i])
			over = over || entries[i].Content.Speaker == content.Human
			continue
		}
		b.responses(entries[i], func(id string) bool {
			call, ok := match.Response(id)
			answered[call] = ok
			return ok
		})
	}
	made := content.Content{Speaker: content.Tool}
	for _, c := range calls {
		switch {
		case answered[c.at]:
		case over:
			b.problem(outcome.UnansweredCall, c.entry, c.ID)
			made.Blocks = append(made.Blocks, content.ToolResponse{CallID: c.ID, ToolName: c.Name, Error: unansweredError})
		default:
			pending = append(pending, c.ID)
		}
	}
	if made.Blocks != nil {
		b.emit(&Entry{Content: made, Count: Count{Tokens: b.count(made)}})
	}
	for _, e := range others {
		b.single(e)
	}
	return pending
}

// responses adds an entry of a tool without the responses that answer nothing. answers claims the call of a response.
func (b *viewBuilder) responses(e *Entry, answers func(id string) bool) {
	blocks := e.Content.Blocks
	kept := make([]content.Block, 0, len(blocks))
	for _, block := range blocks {
		r, ok := block.(content.ToolResponse)
		if ok && (answers == nil || !answers(r.CallID)) {
			b.problem(outcome.OrphanedResponse, e, r.CallID)
			continue
		}
		kept = append(kept, block)
	}
	if len(kept) == len(blocks) {
		b.emit(e)
		return
	}
	c := e.Content
	c.Blocks = kept
	if c.HasContent() {
		b.emit(&Entry{ID: e.ID, Content: c, Count: Count{Tokens: b.count(c)}})
	}
}

func hasCalls(c content.Content) bool {
	return slices.ContainsFunc(c.Blocks, func(b content.Block) bool { _, call := b.(content.ToolCall); return call })
}

// Curate returns the entries without those of the AI that say nothing: what a Compress is given (REQ-HD-002.9).
func Curate(entries []*Entry) []*Entry {
	blank := func(e *Entry) bool { return e.Content.Blank() }
	if !slices.ContainsFunc(entries, blank) {
		return entries
	}
	out := make([]*Entry, 0, len(entries))
	for _, e := range entries {
		if !blank(e) {
			out = append(out, e)
		}
	}
	return out
}
