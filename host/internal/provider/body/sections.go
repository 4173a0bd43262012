package body

import (
	"bytes"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Where instructions may stand within a conversation, for forms with sections: a run of them follows the user, or the
// model where its message ends with the result of a tool that the provider ran, and the model follows, or nothing. They
// never move and never go, so that what stands around them has to be right. Those without content, which set the effort,
// may stand anywhere, but for those in a row with others; those that change the tools follow the user only.

// placed reports whether all instructions stand where the API takes them.
func (r *Request) placed() bool {
	for i := 0; r.form.Sections && i < len(r.Items); i++ {
		start, says, tools := i, false, false
		for ; i < len(r.Items) && r.Items[i].Pinned; i++ {
			says, tools = says || len(r.Items[i].Parts) > 0, tools || r.changesTools(i)
		}
		if says && (start == 0 || r.leads(start-1) < demanded(tools) ||
			i < len(r.Items) && r.speaker(i) != content.AI) {
			return false
		}
	}
	return true
}

// lead is what may follow an item: no instructions, those that change no tools, or all.
type lead byte

const (
	nothing lead = iota
	noTools
	anything
)

func demanded(tools bool) lead {
	if tools {
		return anything
	}
	return noTools
}

// leads returns what may follow an item that is no instruction itself.
func (r *Request) leads(item int) lead {
	if r.speaker(item) != content.AI {
		return anything
	}
	last := r.Items[item].Parts[len(r.Items[item].Parts)-1]
	if !last.Alone && strings.HasSuffix(r.tape.str(r.tape.get(last.node, "type")), "_tool_result") {
		return noTools
	}
	return nothing
}

// changesTools reports whether an instruction makes tools known, or takes them back.
func (r *Request) changesTools(item int) bool {
	return slices.ContainsFunc(r.Items[item].Parts, func(p Part) bool {
		return !p.Alone && strings.HasPrefix(r.tape.str(r.tape.get(p.node, "type")), "tool_")
	})
}

// unsaid stands where somebody has to have spoken before or behind instructions.
const unsaid = "[what was said here was removed]"

// keepSections keeps the last words of a person that stood before instructions if nothing else does behind which these
// may stand, and writes a line of the model where nothing that it said is left behind them. Everything else of the plan
// is settled.
func (r *Request) keepSections(p *Plan) {
	if !r.form.Sections || !slices.ContainsFunc(r.Items[r.lead:], func(i Item) bool { return i.Pinned }) || !r.placed() {
		return
	}
	stays, says, last := make([]bool, len(r.Items)), make([]int, len(r.Items)), make([]int, len(r.Items))
	for i := range r.Items { // says has the entry with a person's words, and last the last one, of an item; -1 for none
		stays[i], says[i], last[i] = len(r.Items[i].Parts) == 0, -1, -1
	}
	for i, e := range p.entries {
		for _, ref := range e.Refs {
			stays[ref.Item], last[ref.Item] = stays[ref.Item] || !p.fates[i].gone, i
			if e.Content.Speaker == content.Human {
				says[ref.Item] = i
			}
		}
	}
	entries := p.made
	p.made = nil
	// Of what stays so far: led is what may follow it, words are the last words of a person that go
	// behind it, answered and since that an entry of the model was made behind it, or behind the words. section is the
	// last entry of the instructions that stand last; -1 for none. tools: they change them.
	led, words, answered, since, section, tools := nothing, -1, false, false, -1, false
	line := func(by content.Speaker) {
		text := []content.Block{content.Text{Text: unsaid}}
		p.made = append(p.made, made{section, content.Content{Speaker: by, Blocks: text}, true})
	}
	settle := func(answers bool) {
		if section < 0 {
			return
		}
		switch {
		case led >= demanded(tools):
		case words >= 0:
			p.fates[words].gone, answered = false, since
		default:
			line(content.Human)
		}
		if !answers && !answered {
			line(content.AI)
		}
		section, tools = -1, false
	}
	for i := r.lead; i <= len(r.Items); i++ {
		for len(entries) > 0 && (i == len(r.Items) || r.behind(p, entries[0]) <= i) {
			if entries[0].entry.Speaker == content.AI {
				answered, since = true, true
			} else {
				led = anything
			}
			p.made, entries = append(p.made, entries[0]), entries[1:]
		}
		switch {
		case i == len(r.Items):
			settle(true)
		case r.Items[i].Pinned:
			section, tools = max(section, last[i]), tools || r.changesTools(i)
		case stays[i]:
			settle(r.speaker(i) == content.AI)
			led, words, answered, since = r.leads(i), -1, false, false
		case section < 0 && says[i] >= 0:
			words, since = says[i], false
		}
	}
}

// behind returns the item before which an entry that was made stands.
func (r *Request) behind(p *Plan, m made) int {
	if m.behind < 0 {
		return r.first()
	}
	refs := p.entries[m.behind].Refs
	return refs[len(refs)-1].Item + 1
}

// first returns the item before which what a strategy puts first stands: not before the provider's summary, where it
// would not be read.
func (r *Request) first() int {
	at := r.lead
	if r.fenced {
		for at = 1; at < len(r.Items) && r.speaker(at) == content.Tool; at++ {
		}
	}
	return at
}

// beside returns the place of an entry that was made: before an item that stays, or the end. Between instructions and
// what they belong to there is none: a person's words go before them, the model's behind them.
func (d *draft) beside(at int, by content.Speaker) int {
	r := d.request
	if by != content.AI {
		at = d.section(at)
	}
	for at < len(r.Items) && (d.gone[at] || by == content.AI && r.form.Sections && r.Items[at].Pinned) {
		at++
	}
	return at
}

// section returns where the instructions that end before an item that stays begin; the item if there are none.
func (d *draft) section(at int) int {
	from := at
	for i := at - 1; d.request.form.Sections && i >= d.request.lead && (d.gone[i] || d.request.Items[i].Pinned); i-- {
		if !d.gone[i] {
			from = i
		}
	}
	return from
}

// samePinned reports whether instructions are byte for byte as they were.
func (r *Request) samePinned(was *Request) bool {
	of := func(r *Request) (all [][]byte) {
		for _, i := range r.Items {
			if i.Pinned {
				all = append(all, r.Raw[i.Start:i.End])
			}
		}
		return all
	}
	return slices.EqualFunc(of(r), of(was), bytes.Equal)
}
