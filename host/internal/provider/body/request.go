package body

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/apis"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A body with what its API calls items and parts, which reader.go maps to the same few kinds for each API.

// Reason says why a request is forwarded as it came. Reasons are labels of counters: they never hold text of a request.
type Reason string

// The reasons that follow from the body alone.
const (
	// Single: a request without tools in which the model has said nothing yet, such as one for a title.
	Single Reason = "single-question"
	// Compaction: the client asks for a summary of the history in order to begin a new one. The model should see all of
	// that history, if it fits.
	Compaction Reason = "compaction"
	// Continued: the provider keeps the history (previous_response_id, conversation, thread), and the request has only
	// what is new.
	Continued Reason = "continued"
	// OpenTools: a call still waits for its result. Only the provider knows what to make of such a request.
	OpenTools Reason = "open-tools"
	// Unpaired: a result answers no call before it.
	Unpaired Reason = "unpaired"
	// Unknown: the body does not have the API's form as it is known here.
	Unknown Reason = "unknown-form"
)

// The kinds of parts, as forms have them.
const (
	Text     = provider.Text
	Call     = provider.Call
	Response = provider.Result
	Media    = provider.Media
	Bound    = provider.Bound
	Own      = provider.Own
	Fence    = provider.Fence
	Fixed    = provider.Fixed
	Extra    = provider.Extra
)

// Part is a piece of an item that becomes one block of an entry. Its span is that of the whole value, or of the whole
// item where it is alone.
type Part struct {
	Kind    provider.Is
	Speaker content.Speaker
	Span
	// Alone: the part is all of its item, and there is no array of parts around it.
	Alone bool
	// Value is the JSON value that an edit replaces; empty if nothing may.
	Value Span
	// marker is the value of the part's cache_control, and may be set only if takesMarker is true. inner is how many
	// markers stand within the part's result instead, of which marker is the last.
	marker      Span
	takesMarker bool
	inner       int
	loads       []string       // the tools that it makes known
	out         bool           // sealed thinking that a plan takes out of an entry that stays
	kind        *provider.Kind // nil for a text without a part around it
	node        int32          // the part
	text        int32          // of a text
}

// Item is an element of a request's conversation: a message, or an item of the Responses API.
type Item struct {
	Span
	Parts []Part
	// parts is the array that the parts are elements of; empty if there is none.
	parts Span
	// Pinned: instructions within the conversation. They are never changed.
	Pinned bool
	node   int32
}

// Request is an indexed body.
type Request struct {
	API provider.API
	Raw []byte
	// Model is "" where it stands in the address.
	Model string
	// Stream: the client asked for events.
	Stream bool
	// Tools: the model may call tools.
	Tools bool
	// Reason is why the request is to be forwarded as it came; "" if it may be edited.
	Reason Reason
	// SessionID is the client's own name of the conversation, "" if the body has none.
	SessionID string
	// Completion is the number of tokens that the client asks for at most; 0 if it does not say.
	Completion int
	// DropsThinking: the provider itself leaves out sealed thinking that stands behind a change. ManualThinking: it wants
	// back the thinking that led to the calls which were just answered.
	DropsThinking, ManualThinking bool
	// Trigger: the request asks the provider to make a summary of the history by itself.
	Trigger bool
	// Items are those that count: from a summary of the provider's on, if there is one. What stands before it is in
	// dropped, which the provider does not read, and is never changed.
	Items   []Item
	dropped []Item
	fenced  bool // Items begin with the summary
	// lead is how many items are instructions before anything was said: outside of the history, like a system prompt.
	lead  int
	form  form
	list  Span // the array of items
	tape  *tape
	pairs pairs
	// unpaired is the item with the result that answers no call, with that Reason.
	unpaired int
	chain    []Sum // once [Request.Chain] was called
}

// ErrForm: a body is not of the API's form.
var ErrForm = errors.New("the body does not have the form of the API")

// Index reads a body. The error says why it cannot be read; such a body is forwarded as it came. The request refers to
// raw, which must not change. A request with a Reason is readable, but is forwarded as it came too.
func Index(api provider.API, raw []byte) (*Request, error) {
	return IndexWithin(api, raw, func(int) error { return nil })
}

// IndexWithin is Index for a caller that has to find memory for a turn of so many values. An error of room is returned.
func IndexWithin(api provider.API, raw []byte, room func(values int) error) (*Request, error) {
	f := form{apis.Of(api)}
	t, err := parse(raw, f.Skip)
	if err != nil {
		return nil, err
	}
	if err := room(len(t.nodes)); err != nil {
		return nil, err
	}
	list := t.get(0, f.List)
	r := &Request{API: api, Raw: raw, form: f, list: t.span(list), tape: t}
	f.top(r)
	if t.kind(list) != '[' {
		return nil, ErrForm
	}
	r.Items = make([]Item, 0, min(t.count(list), len(raw)/64)) // shorter ones are of no conversation
	for n := range t.children(list) {
		item, err := f.item(r, n)
		if err != nil {
			return nil, err
		}
		item.Span, item.node = t.span(n), n
		r.Items = append(r.Items, item)
	}
	r.fence()
	for r.lead < len(r.Items) && r.Items[r.lead].Pinned {
		r.lead++
	}
	r.Tools = r.hasTools()
	// As late as this, because odd is set while fields are looked up.
	if t.odd || len(r.Items) == 0 {
		return nil, ErrForm
	}
	if r.Reason != Continued {
		r.Reason = r.shape()
	}
	return r, nil
}

// fence leaves out what stands before the last summary that the provider made.
func (r *Request) fence() {
	for i, item := range slices.Backward(r.Items) {
		if slices.ContainsFunc(item.Parts, func(p Part) bool { return p.Kind == Fence }) {
			r.dropped, r.Items, r.fenced = r.Items[:i:i], r.Items[i:], true
			return
		}
	}
}

// shape returns why the conversation must not be changed, "" if it may. A request holds a conversation if the model may
// call tools or has said something: no field tells that in all clients, and loops without tools have conversations too.
func (r *Request) shape() Reason {
	why := r.pair()
	answered := slices.ContainsFunc(r.Items, func(i Item) bool {
		return slices.ContainsFunc(i.Parts, func(p Part) bool { return p.Speaker == content.AI })
	})
	switch {
	case r.Reason == Compaction: // it says so
		return Compaction
	case !r.Tools && !answered:
		return Single
	case r.compacts():
		return Compaction
	}
	return why
}

// compacts reports whether what stands behind the last words of the model and its tools asks for a summary of the
// history. Clients put reminders behind it. Earlier items may quote a summary that was asked for before.
func (r *Request) compacts() bool {
	for _, item := range slices.Backward(r.Items) {
		for _, p := range item.Parts {
			if p.Speaker != content.Human {
				return false
			}
			if p.Kind == Text && !item.Pinned && compacting(r.tape.str(p.text)) {
				return true
			}
		}
	}
	return false
}

// Editable reports whether the conversation can be changed, whatever Reason there is not to: which result answers which
// call is known.
func (r *Request) Editable() bool { return r.pairs.call != nil }

// compactions begin or end the last message with which clients ask for a summary of the history. They are words of the
// clients' own prompts, and must be looked at again when a client changes them.
var compactions = []string{
	"Respond with TEXT ONLY", "create a detailed summary of the conversation so far", // Claude Code
	"CONTEXT CHECKPOINT COMPACTION",                   // Codex
	"detailed prompt for continuing our conversation", // opencode
	"in your scratchpad. Then, generate the",          // gemini-cli, qwen-code
	"Create a structured context checkpoint summary",  // pi
	"running out of context window",                   // cline
}

// compacting reports whether a message asks for a summary of the history. A person who quotes such a message costs
// nothing but one request that is not pruned.
func compacting(text string) bool {
	return slices.ContainsFunc(compactions, func(words string) bool { return strings.Contains(text, words) })
}

// Unpaired returns the position of the item with the result that answers no call; false if there is none.
func (r *Request) Unpaired() (item int, is bool) { return r.unpaired, r.Reason == Unpaired }

// First returns the position of the first item that is no instruction; 0 if there is none.
func (r *Request) First() int {
	if r.lead == len(r.Items) {
		return 0
	}
	return r.lead
}

// Rest returns what a request holds besides its conversation: everything before and behind the array of items, and the
// instructions at its beginning. Its size is what a turn needs beyond the history. The slice is a copy.
func (r *Request) Rest() []byte {
	before, behind := r.rest()
	return slices.Concat(before, behind)
}

// RestSum identifies [Request.Rest] without copying it.
func (r *Request) RestSum() [sha256.Size]byte {
	before, behind := r.rest()
	h := sha256.New()
	h.Write(before)
	h.Write(behind)
	return [sha256.Size]byte(h.Sum(nil))
}

// rest returns what is before and behind the conversation, as parts of the body.
func (r *Request) rest() (before, behind []byte) {
	start := r.list.Start
	if r.lead > 0 {
		start = r.Items[r.lead-1].End
	}
	return r.Raw[:start], r.Raw[r.list.End:]
}

// hasTools reports whether a request names tools: at its top, or in the instructions at the beginning, where Codex has
// them for its newer models.
func (r *Request) hasTools() bool {
	// Skipped arrays are not told apart; an empty one has at most white space between its brackets.
	lists := func(of int32) bool {
		s := r.tape.span(r.tape.get(of, "tools"))
		return bytes.IndexByte(r.Raw[s.Start:s.End], '{') >= 0
	}
	return lists(0) || slices.ContainsFunc(r.Items[:r.lead], func(i Item) bool { return lists(i.node) })
}

// integer returns a value as a non-negative integer, 0 if it is none. A number that is far too large counts as none, so
// that sums cannot overflow.
func (r *Request) integer(value int32) int {
	n := 0
	for _, c := range r.tape.text(value) {
		if c < '0' || c > '9' || n > 1<<30 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
