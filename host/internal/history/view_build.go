package history

import (
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider/apis"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// unansweredError is the error in a made response. It is true even if a result comes later, which no request can hold.
const unansweredError = "no result came before the conversation went on"

// settle adds the next entry, or the next completed exchange, and returns on how many entries of the history that
// depends; 0 if only an exchange is left that may still continue.
func (b *viewBuilder) settle(entries []*Entry) (needs int) {
	if b.next >= len(entries) {
		return 0
	}
	e := entries[b.next]
	if e.Content.Speaker != content.AI || !hasCalls(e.Content) {
		b.single(e)
		b.next++
		return b.next
	}
	end := exchangeEnd(entries[b.next:])
	// The end of the history may be in the middle of the exchange.
	if b.next+end == len(entries) {
		return 0
	}
	b.exchange(entries[b.next:b.next+end], true)
	b.next += end
	// The entry behind the exchange shows that it is over: the view depends on it too.
	return b.next + 1
}

// exchangeEnd returns how many entries belong to the exchange that begins at entries[0]: entries of the AI, then
// everything until the AI speaks again.
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
	*shown
	place
	// match knows the calls so far, read is the exchange read last, and count counts made responses.
	match  turns.Matcher
	read   exchange
	count  func(content.Content) int
	marker *Marker
}

func (b *viewBuilder) emit(e *Entry) {
	b.put(b.out, b.marked(e))
	b.out++
	for _, block := range e.Content.Blocks {
		if o, opaque := block.(content.Opaque); opaque && !ofProvider(e.Content) {
			if id, call := apis.OpaqueCall(o); call {
				b.problem(outcome.OpaqueCall, e, id)
			}
		}
	}
}

// ofProvider reports whether an entry was added as a provider's message. Its calls were read as such; what else looks
// like one the provider runs itself, and it is sent back unchanged.
func ofProvider(c content.Content) bool { return rawjson.FieldText(c.Metadata, "format") != "" }

// problem records a difference between the view and the history. It drops those after the place: the view continues
// there.
func (b *viewBuilder) problem(kind outcome.ProblemKind, e *Entry, callID string) {
	b.shown.problems = append(b.shown.problems[:b.place.problems],
		outcome.Problem{Kind: kind, EntryID: e.ID, CallID: callID})
	b.place.problems++
}

// single adds an entry that belongs to no exchange. Responses in it answer nothing.
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

// exchange adds entries that begin with an entry of the AI that calls tools, in the order that providers demand: the
// calls, their responses, then what people said in the meantime. It adds a response for each call that can no longer
// get one, and returns the other unanswered calls as pending.
//
// A call can no longer get a response if the exchange is over, because the AI or a person spoke again, or if the AI
// spoke again after the call and one of its later calls was answered: tools run in the order of their calls.
func (b *viewBuilder) exchange(entries []*Entry, over bool) (pending []string) {
	if len(entries) == 0 {
		return nil
	}
	x := &b.read
	x.read(entries, &b.match)
	over = over || x.interrupted
	made := content.Content{Speaker: content.Tool}
	for _, c := range x.callers {
		b.emit(c.entry)
		missing := content.Content{Speaker: content.Tool}
		for _, call := range c.unanswered {
			if !over && c.at >= x.lastAnswered {
				pending = append(pending, call.ID)
				continue
			}
			b.problem(outcome.UnansweredCall, c.entry, call.ID)
			missing.Blocks = append(missing.Blocks,
				content.ToolResponse{CallID: call.ID, ToolName: call.Name, Error: unansweredError})
		}
		if c.at < x.lastAnswered && len(c.answered) == 0 && missing.Blocks != nil {
			// Nothing else answers this entry, so the response is where a provider looks for it: behind the entry.
			b.emit(&Entry{Content: missing, Count: Count{Tokens: b.count(missing)}})
			continue
		}
		made.Blocks = append(made.Blocks, missing.Blocks...)
	}
	next := 0 // of x.matches, which are in the order in which the responses were read
	for _, e := range x.tools {
		b.responses(e, func(content.ToolResponse) bool {
			next++
			return x.matches[next-1]
		})
	}
	if made.Blocks != nil {
		b.emit(&Entry{Content: made, Count: Count{Tokens: b.count(made)}})
	}
	for _, e := range x.others {
		b.single(e)
	}
	return pending
}

// responses adds an entry of a tool without the responses that answer no call. answers tells which do; nil if there are
// no calls.
func (b *viewBuilder) responses(e *Entry, answers func(content.ToolResponse) bool) {
	all := b.marked(e)
	blocks := all.Content.Blocks
	kept, same := blocks, true // nearly always all of them
	for i, block := range blocks {
		r, ok := block.(content.ToolResponse)
		switch {
		case ok && (answers == nil || !answers(r)):
			b.problem(outcome.OrphanedResponse, e, r.CallID)
			if same {
				kept, same = slices.Clone(blocks[:i]), false
			}
		case !same:
			kept = append(kept, block)
		}
	}
	if same {
		b.emit(all)
		return
	}
	c := all.Content
	c.Blocks = kept
	if c.HasContent() {
		b.emit(&Entry{ID: e.ID, Content: c, Count: Count{Tokens: b.count(c)}})
	}
}

func hasCalls(c content.Content) bool {
	return slices.ContainsFunc(c.Blocks, func(b content.Block) bool { _, call := b.(content.ToolCall); return call })
}
