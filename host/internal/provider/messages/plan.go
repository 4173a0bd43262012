package messages

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Turn is one message in the form that providers accept, directly followed by the responses to its calls. Consecutive
// turns may have the same role; the writers join them if a provider demands it.
type Turn struct {
	Entry   int // the entry that it was made from
	Role    string
	Blocks  []content.Block // all but responses, in order; a call is a *Call
	Calls   []*Call         // those among the blocks
	Answers []*Answer       // in the order of the history
	Name    []byte          // the field "name" of the message, as raw JSON; nil if there is none
	Fields  ordered.Object  // further fields of the message; nil unless Exact
	Exact   bool            // the entry was added in the form that is written: everything in it is written back
}

// Call is a tool call of a turn. It is shared with its answer, so an id changed for the provider changes in both.
type Call struct {
	content.ToolCall
	OutID string // the written id, unique where it must be
	Exact bool   // as in Turn
	turn  int    // its position in [Plan.Turns]
	done  bool   // it has a response
}

// Item returns the further fields of a call of the form that is written; those of another provider's would make this
// one refuse the request.
func (c *Call) Item(name string) ordered.Object {
	if !c.Exact {
		return nil
	}
	return ordered.Of(c.Extra.Get(name))
}

// Answer is a tool response and its media. It is written behind its call, wherever it was recorded.
type Answer struct {
	content.ToolResponse
	Call  *Call
	Media []content.Media
	Exact bool // as in Turn, of the entry of the response
}

// Fields returns the fields of the response that are the provider's.
func (a *Answer) Fields() content.Fields { return Without(a.Extra, fieldParts) }

// Plan is a history that is arranged for a provider. Provider rules are stricter than real histories: every call must be
// answered in the next message, and every response must have its call. Whatever must be moved, added or left out for
// this is tallied. The writer takes the turns in order and adds its own notes to the tally.
type Plan struct {
	API   *API
	Tally Tally
	Turns []Turn
	match turns.Matcher // its blocks are positions in calls
	calls []*Call
	own   map[string]int // blocks of tools that the provider ran, by id
}

// missingResult is the result given to an unanswered call, because providers refuse a call without a response. The
// model cannot take it for output of the tool.
const missingResult = "[no result was recorded]"

// plan arranges entries in order. The whole history is written, across compactions: which part a model should see is the
// caller's decision.
func plan(a *API, entries []content.Content) *Plan {
	p := &Plan{API: a, own: map[string]int{}}
	for i, c := range entries {
		// For entries that are left out below too: what they hold is lost in any case.
		p.metadata(i, c)
		switch {
		case !c.Speaker.Known():
			p.Tally.Count(0, i, fmt.Sprintf("entry of the unknown speaker %q left out", ordered.Clip([]byte(c.Speaker))))
		case len(c.Blocks) == 0:
			p.Tally.Count(0, i, "entry without blocks left out")
		default:
			p.entry(i, c)
		}
	}
	p.close()
	return p
}

func (p *Plan) exact(c content.Content) bool {
	return len(c.Metadata) > 0 && rawjson.FieldText(c.Metadata, FieldFormat) == p.API.Name
}

// metadata tallies what an entry holds besides its blocks and no provider has a place for. "role" and "name" are
// written.
func (p *Plan) metadata(i int, c content.Content) {
	if p.exact(c) {
		return // it has nothing that the provider did not have
	}
	for _, f := range ordered.Of(c.Metadata) {
		if f.Name != FieldRole {
			p.Tally.Routine(0, i, "entry's metadata (timestamp, model, usage and the like) left out")
			break
		}
	}
	for _, f := range c.Extra.All() {
		if f.Name != "name" {
			p.Tally.Count(0, i, fmt.Sprintf("field %q of an entry left out", ordered.Clip([]byte(f.Name))))
		}
	}
}

// entry turns one entry into a turn. Responses move to the turn of their call. An entry that held nothing else makes no
// turn.
func (p *Plan) entry(i int, c content.Content) {
	t := Turn{Entry: i, Role: User, Name: c.Extra.Get("name"), Exact: p.exact(c)}
	if t.Exact {
		t.Fields = ordered.Of(c.Extra.Get(FieldMessage))
	}
	switch role := rawjson.FieldText(c.Metadata, FieldRole); {
	case c.Speaker == content.AI:
		t.Role = Assistant
	case c.Speaker == content.Human && Instruction(role):
		t.Role = role
	}
	var last *Answer // media behind a response belong to it, since APIs have them inside of the result
	for _, block := range c.Blocks {
		switch block := block.(type) {
		case content.ToolCall:
			last = nil
			if c.Speaker != content.AI {
				p.Tally.Count(0, i, "call in an entry that is not the model's left out")
				continue
			}
			// len(p.Turns) is where this turn will be. A turn with a call has a block, so it is always appended below.
			made := &Call{ToolCall: block, turn: len(p.Turns), Exact: t.Exact}
			t.Calls, t.Blocks = append(t.Calls, made), append(t.Blocks, made)
		case content.ToolResponse:
			// As text of a person: a provider refuses a response without its call, and the model should still see it.
			if last = p.answer(i, block, t.Exact); last == nil {
				t.Blocks = append(t.Blocks, content.Text{Text: "[result of " + block.ToolName + "]\n" +
					resultText(block)})
			}
		case content.Media:
			if last != nil {
				last.Media = append(last.Media, block)
				continue
			}
			t.Blocks = append(t.Blocks, block)
		// No provider has such a block; models write and read code in this form.
		case content.Code:
			t.Blocks = append(t.Blocks, content.Text{Text: "```" + block.Language + "\n" +
				strings.TrimSuffix(block.Code, "\n") + "\n```"})
		case content.Opaque:
			if k := p.API.Form.Part(block.Kind()); k != nil && k.Is == provider.Own {
				p.own[rawjson.FieldText(block.JSON, k.ID)]++
			}
			t.Blocks = append(t.Blocks, block)
		default:
			t.Blocks = append(t.Blocks, block)
		}
	}
	if len(t.Blocks) == 0 {
		return // it had only responses, which were put behind their calls
	}
	// Open from the next entry on: a response in the call's own entry does not answer it.
	for _, call := range t.Calls {
		p.match.Call(call.ID, call.Name, turns.At{Entry: i, Block: len(p.calls)})
		p.calls = append(p.calls, call)
	}
	p.Turns = append(p.Turns, t)
}

// answer attaches a response to the call that it answers; nil if there is no open call with its id. A response that
// comes later than the next turn moves up, because providers accept it only there.
func (p *Plan) answer(entry int, r content.ToolResponse, exact bool) *Answer {
	at, ok := p.match.Response(r.CallID, r.ToolName)
	if !ok {
		p.Tally.Count(0, entry, "result without a call before it written as user text")
		return nil
	}
	c := p.calls[at.Block]
	if c.turn != len(p.Turns)-1 {
		p.Tally.Count(0, entry, "result moved up to directly follow its call")
	}
	c.done = true
	a := &Answer{ToolResponse: r, Call: c, Exact: exact}
	p.Turns[c.turn].Answers = append(p.Turns[c.turn].Answers, a)
	return a
}

// close adds a response to every call that has none. The calls of the last turn are still open if none of them is
// answered: an agent that continues the conversation will add their responses.
func (p *Plan) close() {
	for i := range p.Turns {
		t := &p.Turns[i]
		// Agents add the results of a turn together: if one parallel call is answered, the others will not be.
		running := i == len(p.Turns)-1 && len(t.Answers) == 0
		for _, c := range t.Calls {
			switch {
			case c.done:
			case running:
				p.Tally.Count(0, t.Entry, "call at the end that is not answered yet")
			default:
				p.Tally.Count(0, t.Entry, fmt.Sprintf("call without a result answered with %q", missingResult))
				t.Answers = append(
					t.Answers, &Answer{Call: c, ToolResponse: content.ToolResponse{Error: missingResult}},
				)
			}
		}
	}
}

// UniqueIDs gives each call the id that is written. Every provider requires different ids within one message. With
// everywhere set, ids differ in the whole conversation. With plain set, as Anthropic requires, they consist of letters,
// digits, '_' and '-'. Otherwise ids are kept as recorded wherever possible.
func (p *Plan) UniqueIDs(everywhere, plain bool) {
	// suffix is the last number tried for an id. Without it, a thousand equal ids would be tried half a million times.
	used, suffix := map[string]bool{}, map[string]int{}
	for _, t := range p.Turns {
		if !everywhere && len(t.Calls) > 0 {
			used, suffix = map[string]bool{}, map[string]int{}
		}
		for _, c := range t.Calls {
			id := c.ID
			if plain && !c.Exact {
				id = safeName(id)
			}
			if id == "" {
				id = "call"
			}
			base := id
			for used[id] {
				suffix[base] = max(suffix[base], 1) + 1
				id = fmt.Sprintf("%s_%d", base, suffix[base])
			}
			used[id] = true
			c.OutID = id
			if id != c.ID {
				p.Tally.Count(0, t.Entry, "call id changed: providers require unique ids of plain characters")
			}
		}
	}
}

// ToolName returns a call's name as the provider takes it.
func (p *Plan) ToolName(c *Call, entry int) string {
	name := safeName(c.Name)
	if c.Exact {
		name = c.Name // the provider itself had it
	}
	if name == "" {
		name = "unknown"
	}
	if name != c.Name {
		p.Tally.Count(0, entry, "tool name changed: providers accept only letters, digits, '_' and '-'")
	}
	return name
}

// safeName replaces every character that Anthropic or OpenAI would refuse in a name or an id.
func safeName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		default:
			return '_'
		}
	}, s)
}
