package body

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/sdk/content"
)

// The last check before an edited body is sent. It compares the two bodies as a stranger would, without the plan, so
// that a mistake in the plan or the edits is found here and costs savings only.

// Validate checks an edited body against the request that it was made from: that it is a request which the API accepts
// if it accepts the original, and that what must stay byte for byte has stayed. now was read from the edited bytes: a
// mistake in making edits must be seen here. The edits only say where a part of was should stand in now, because a
// model repeats itself: the text of a call does not say which call it is. The error says what does not hold. An edit
// that fails here is a mistake of this package; the client's bytes are sent instead.
func Validate(was *Request, edits []Edit, now *Request) error {
	if now.Reason != was.Reason {
		return fmt.Errorf("the edited request is %q", now.Reason)
	}
	if !bytes.Equal(was.before(), now.before()) ||
		!bytes.Equal(was.Raw[was.list.End:], now.Raw[now.list.End:]) {
		return errors.New("something outside of the conversation changed")
	}
	if err := sameFixed(was, edits, now); err != nil {
		return err
	}
	if now.markers() > was.markers() { // Anthropic takes four in one request, those outside of the conversation included
		return errors.New("the edited request has more cache markers")
	}
	return now.order(was)
}

// before is what stands before the conversation, together with what the provider does not read of it.
func (r *Request) before() []byte {
	if n := len(r.dropped); n > 0 {
		return r.Raw[:r.dropped[n-1].End]
	}
	return r.Raw[:r.list.Start]
}

// markers counts the cache markers of the conversation. Those outside are not counted, because they are compared byte
// for byte.
func (r *Request) markers() int {
	n := 0
	for i := range r.Items {
		for _, p := range r.Items[i].Parts {
			if n += p.inner; !p.marker.Empty() && p.inner == 0 {
				n++
			}
		}
	}
	return n
}

// sameFixed checks that each part that may not change is as it was, in its place; that reasoning is followed by what
// followed it; that of one turn of the model all such parts are left or none; and that nothing of that kind was made.
func sameFixed(was *Request, edits []Edit, now *Request) error {
	left := now.bound()
	kept := map[int]bool{} // turns of the model, and whether their first part was kept
	moved := newMoves(edits)
	for _, b := range was.bound() {
		at, stays := moved.to(b.Span)
		switch {
		case b.out && stays:
			return errors.New("thinking stays behind a change")
		case b.out:
			continue
		case !stays && !b.mayGo:
			return errors.New("a part that must stay is gone or changed")
		case !stays:
		case len(left) == 0 || left[0].Start != at || !bytes.Equal(left[0].text, b.text) ||
			!bytes.Equal(left[0].next, b.next):
			return errors.New("reasoning or an unknown part is not as it was")
		default:
			left = left[1:]
		}
		if before, ok := kept[b.turn]; ok && before != stays && b.mayGo {
			return errors.New("a turn of the model was taken apart")
		}
		kept[b.turn] = stays
	}
	if len(left) > 0 {
		return errors.New("a part that only the model or the provider makes was not there before")
	}
	return nil
}

// moves tell where bytes of a body stand after edits.
type moves struct {
	edits []Edit
	by    []int // how far bytes behind the first edits move; one more than there are edits
}

func newMoves(edits []Edit) moves {
	m := moves{edits, make([]int, len(edits)+1)}
	for i, e := range edits {
		m.by[i+1] = m.by[i] + len(e.New) - (e.End - e.Start)
	}
	return m
}

// to returns where a span begins after the edits; stays is false if one of them takes all of it out.
func (m moves) to(s Span) (start int, stays bool) {
	n := sort.Search(len(m.edits), func(i int) bool { return m.edits[i].End > s.Start })
	if n < len(m.edits) && m.edits[n].Start <= s.Start && m.edits[n].End >= s.End {
		return 0, false
	}
	return s.Start + m.by[n], true
}

// boundPart is a part that is kept byte for byte, the part behind it if it is reasoning, and the number of its turn.
// mayGo: it may go together with its whole turn.
type boundPart struct {
	Span
	text, next []byte
	mayGo      bool
	out        bool // it goes alone
	turn       int
}

// bound returns the parts that are kept byte for byte: reasoning, unknown parts, instructions, and calls, which may
// have signatures. They are in the order of the body. Cache markers are left out, because these may move.
func (r *Request) bound() []boundPart {
	var out []boundPart
	turn := 0
	for i := range r.Items {
		if r.speaker(i) != content.AI {
			turn++
		}
		parts := r.Items[i].Parts
		for j := range parts {
			p := &parts[j]
			if p.Kind == Text && !r.Items[i].Pinned || p.Kind == Response || p.Kind == Media {
				continue
			}
			b := boundPart{Span: p.Span, text: r.withoutMarker(p), turn: turn,
				mayGo: !p.stays() && !r.Items[i].Pinned}
			if p.Speaker != content.AI {
				b.turn = -1 - i // instructions are in no turn of the model
			}
			if p.Kind == Bound {
				b.next, b.out = r.following(i, j), p.out
			}
			out = append(out, b)
		}
	}
	return out
}

// withoutMarker returns a part's bytes without its cache marker, which may move. A marker that is the first member
// stays: it is then found in both or in none.
func (r *Request) withoutMarker(p *Part) []byte {
	if p.marker.Empty() || p.inner > 0 {
		return r.Raw[p.Start:p.End]
	}
	text := append([]byte(nil), r.Raw[p.Start:p.marker.Start]...)
	i := bytes.LastIndex(text, []byte(`,"cache_control"`))
	if i < 0 {
		return r.Raw[p.Start:p.End]
	}
	return append(text[:i], r.Raw[p.marker.End:p.End]...)
}

// following returns the part of the model behind another one that does not go alone, nil if something else follows. It goes on over the border
// of items, because the Responses API has reasoning and its call in two items.
func (r *Request) following(item, part int) []byte {
	for part++; item < len(r.Items); item, part = item+1, 0 {
		if part < len(r.Items[item].Parts) {
			p := &r.Items[item].Parts[part]
			switch {
			case p.Speaker != content.AI:
				return nil
			case !p.out:
				return r.withoutMarker(p)
			}
		}
	}
	return nil
}

// order checks the order of items that each API demands. Pairing was checked by [Index]. Rules that the client's own
// request breaks are not demanded of the edited one: the provider may take what is not known here.
func (r *Request) order(was *Request) error {
	if r.lead == len(r.Items) {
		return errors.New("nothing of the conversation is left")
	}
	if !r.samePinned(was) {
		return errors.New("instructions are not as they were")
	}
	if was.placed() && !r.placed() {
		return errors.New("instructions stand where the API does not take them")
	}
	if first := r.Items[0]; !was.form.PinnedFirst && first.Pinned && len(first.Parts) > 0 && !was.Items[0].Pinned {
		return errors.New("the conversation begins with instructions")
	}
	if was.form.BeginsWithUser && was.startsHuman() && !r.startsHuman() {
		return errors.New("the conversation does not begin with a person")
	}
	if was.form.CallsFollowUser && r.callsBehindModel() && !was.callsBehindModel() {
		return errors.New("a call stands behind another item of the model")
	}
	for i := range r.Items {
		if len(r.Items[i].Parts) == 0 && !r.Items[i].parts.Empty() && !was.hasEmpty() {
			return fmt.Errorf("item %d is empty", i)
		}
	}
	return r.adjacent()
}

// adjacent checks that results stand where the API looks for them: behind the calls of their turn, before anything else
// but other results.
func (r *Request) adjacent() error {
	for ref, call := range r.pairs.call {
		for i := call.Item + 1; i < ref.Item && !r.form.Flat; i++ { // there, anywhere behind the call
			if r.Items[i].Pinned {
				continue // it stood there before
			}
			if by := r.speaker(i); by == content.Human || by == content.AI && r.form.CallsIn != "" {
				return fmt.Errorf("item %d stands between a call and its result", i)
			}
		}
	}
	return nil
}

// startsHuman reports whether the conversation begins with words of a person. Instructions before it do not count.
// false if there is nothing else.
func (r *Request) startsHuman() bool {
	return r.lead < len(r.Items) && r.speaker(r.lead) == content.Human
}

// callsBehindModel reports whether a call stands behind an item of the model with words, and without reasoning that led
// to the call. Gemini takes the parts of one turn in several items, and no call behind another turn of the model.
func (r *Request) callsBehindModel() bool {
	said := false
	for i := range r.Items {
		if said = said && r.speaker(i) == content.AI; said && r.calls(i) {
			return true
		}
		has := func(k provider.Is) bool {
			return slices.ContainsFunc(r.Items[i].Parts, func(p Part) bool { return p.Kind == k })
		}
		said = said || r.speaker(i) == content.AI && has(Text) && !has(Bound)
	}
	return false
}

// hasEmpty reports whether an item has no parts. An API that took one once takes it again.
func (r *Request) hasEmpty() bool {
	for i := range r.Items {
		if len(r.Items[i].Parts) == 0 {
			return true
		}
	}
	return false
}
