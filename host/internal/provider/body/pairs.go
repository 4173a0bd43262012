package body

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Which result answers which call. An agent's history in which that is not clear must not be edited: removing one of
// a pair makes a request that providers refuse.

// Ref names a part of a request. It holds for one request, and for longer ones that begin with the same items.
type Ref struct{ Item, Part int }

// pairs say which response answers which call.
type pairs struct {
	// call is the call that a response answers.
	call map[Ref]Ref
	// extra is the call that a further result is of; nil if there is none. byID are the calls of the first items, as
	// many as named says.
	extra map[Ref]Ref
	byID  map[string]Ref
	named int
	// open is the first item of the exchange at the end, whose results the model has not seen yet; the number of items
	// if there is none.
	open int
}

// pair finds the call of each response. It returns why the request must not be changed: because a result answers no
// call, or a call has no result. A history with such a gap would be refused by the provider, or mean something that is
// not known here.
func (r *Request) pair() Reason {
	var match turns.Matcher
	r.pairs = pairs{call: make(map[Ref]Ref, len(r.Items)/2), open: len(r.Items)} // mostly, each second item is a response
	calls := 0
	for i := range r.Items {
		for j := range r.Items[i].Parts {
			p := &r.Items[i].Parts[j]
			switch p.Kind {
			case Call:
				id, name := r.callID(p)
				match.Call(id, name, turns.At{Entry: i, Block: j})
				calls++
			case Response:
				id, name := r.responseID(p)
				at, ok := match.Response(id, name)
				if !ok && r.more(Ref{i, j}, id) {
					continue
				}
				if !ok {
					r.pairs, r.unpaired = pairs{}, i
					return Unpaired
				}
				r.pairs.call[Ref{i, j}] = Ref{at.Entry, at.Block}
			}
		}
	}
	// As many as there are calls: no two responses have the same call.
	if len(r.pairs.call) != calls {
		r.pairs = pairs{}
		return OpenTools
	}
	r.pairs.open = r.lastExchange()
	return ""
}

// more makes a part a further result if the call with an id was answered before. It reports whether that is so.
func (r *Request) more(at Ref, id string) bool {
	if !r.form.Flat || id == "" {
		return false
	}
	p := &r.pairs
	if p.extra == nil {
		p.extra, p.byID = map[Ref]Ref{}, map[string]Ref{}
	}
	for ; p.named < at.Item; p.named++ {
		for j := range r.Items[p.named].Parts {
			if part := &r.Items[p.named].Parts[j]; part.Kind == Call {
				id, _ := r.callID(part)
				p.byID[id] = Ref{p.named, j}
			}
		}
	}
	call, ok := p.byID[id]
	if ok {
		p.extra[at] = call
		r.part(at).Kind = Extra
	}
	return ok
}

// lastExchange returns the first item of the exchange at the end: the model's run of items with calls that nothing of
// the model follows, or with which the conversation ends, as where the provider still runs a tool. len(r.Items) if it
// does neither.
func (r *Request) lastExchange() int {
	end := len(r.Items)
	for end > 0 && r.speaker(end-1) != content.AI {
		end--
	}
	start := end
	for start > 0 && r.speaker(start-1) == content.AI {
		start--
	}
	if end == len(r.Items) {
		return start
	}
	for i := start; i < end; i++ {
		if r.calls(i) {
			return start
		}
	}
	return len(r.Items)
}

// calls reports whether an item makes calls.
func (r *Request) calls(item int) bool {
	return slices.ContainsFunc(r.Items[item].Parts, func(p Part) bool { return p.Kind == Call })
}

// speaker returns who an item is from: the speaker of its first part. An item without parts counts as a person's, so
// that it ends a run of the model.
func (r *Request) speaker(item int) content.Speaker {
	if len(r.Items[item].Parts) == 0 {
		return content.Human
	}
	return r.Items[item].Parts[0].Speaker
}

// callID returns a call's id and the name of its tool. The id is "" where the API allows a call without one.
func (r *Request) callID(p *Part) (id, name string) {
	if name = p.kind.Called; name == "" {
		name = r.tape.str(r.tape.at(p.node, p.kind.Name))
	}
	return r.tape.str(r.tape.at(p.node, p.kind.ID)), name
}

// responseID returns the id of the call that a response answers, and the name of the tool if it says one.
func (r *Request) responseID(p *Part) (id, name string) {
	return r.tape.str(r.tape.at(p.node, p.kind.ID)), r.tape.str(r.tape.at(p.node, p.kind.Name))
}
