package transcript

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
	"github.com/thresh-dev/thresh/sdk/turns"
)

const (
	roleSystem    = "system"
	roleDeveloper = "developer"
	roleUser      = "user"
	roleAssistant = "assistant"
)

// turn is one message in the form that providers accept, directly followed by the responses to its calls. Consecutive
// turns may have the same role; the writers join them if a provider demands it.
type turn struct {
	entry   int // the entry that it was made from
	role    string
	blocks  []content.Block // all but responses, in order; a call is a *call
	calls   []*call         // those among blocks
	answers []*answer       // in the order of the history
	name    []byte          // the field "name" of the message, as raw JSON; nil if there is none
	fields  object          // further fields of the message; nil unless exact
	exact   bool            // the entry was added in the form that is written: everything in it is written back
}

// call is a tool call of a turn. It is shared with its answer, so an id changed for the provider changes in both.
type call struct {
	content.ToolCall
	turn  int    // its position in [planner.turns]
	outID string // the written id, unique where it must be
	done  bool   // it has a response
	exact bool   // as in turn
}

// answer is a tool response and its media. It is written behind its call, wherever it was recorded.
type answer struct {
	content.ToolResponse
	call  *call
	media []content.Media
	exact bool // as in turn, of the entry of the response
}

// planner arranges a history for a provider. Provider rules are stricter than real histories: every call must be
// answered in the next message, and every response must have its call. Whatever must be moved, added or left out for
// this is tallied. A planner serves one transcript: [plan], then uniqueIDs, then the writer takes the turns in order
// and adds its own notes to tally.
type planner struct {
	form  Format // that is written
	tally tally
	turns []turn
	match turns.Matcher // its blocks are positions in calls
	calls []*call
	own   map[string]int // blocks of tools that the provider ran, by id; see [planner.countOwn]
}

// missingResult is the result given to an unanswered call, because providers refuse a call without a response. The
// model cannot take it for output of the tool.
const missingResult = "[no result was recorded]"

// plan arranges the entries of a transcript in order. The whole history is written, across compactions: which part a
// model should see is the caller's decision.
func plan(t *Transcript, form Format) *planner {
	p := &planner{form: form}
	for i, c := range t.Entries {
		// For entries that are left out below too: what they hold is lost in any case.
		p.metadata(i, c)
		switch {
		case !c.Speaker.Known():
			p.tally.count(0, i, fmt.Sprintf("entry of the unknown speaker %q left out", clip([]byte(c.Speaker))))
		case len(c.Blocks) == 0:
			p.tally.count(0, i, "entry without blocks left out")
		default:
			p.entry(i, c)
		}
	}
	p.close()
	if n := len(t.Boundaries); n > 0 {
		p.tally.count(0, -1, fmt.Sprintf("list of %d compactions left out; the whole history is written", n))
	}
	for _, f := range t.Extra.All() {
		p.tally.routine(0, -1, fmt.Sprintf("top-level field %q left out", clip([]byte(f.Name))))
	}
	return p
}

// metadata tallies what an entry holds besides its blocks and no provider has a place for. "role" and "name" are
// written.
func (p *planner) metadata(i int, c content.Content) {
	if p.exact(c) {
		return // it has nothing that the provider did not have
	}
	for _, f := range asObject(c.Metadata) {
		if f.name != "role" {
			p.tally.routine(0, i, "entry's metadata (timestamp, model, usage and the like) left out")
			break
		}
	}
	for _, f := range c.Extra.All() {
		if f.Name != "name" {
			p.tally.count(0, i, fmt.Sprintf("field %q of an entry left out", clip([]byte(f.Name))))
		}
	}
}

// entry turns one entry into a turn. Responses move to the turn of their call. An entry that held nothing else makes no
// turn.
func (p *planner) entry(i int, c content.Content) {
	t := turn{entry: i, role: roleUser, name: c.Extra.Get("name"), exact: p.exact(c)}
	if t.exact {
		t.fields = asObject(c.Extra.Get(fieldMessage))
	}
	switch role := Role(c); {
	case c.Speaker == content.AI:
		t.role = roleAssistant
	case c.Speaker == content.Human && (role == roleSystem || role == roleDeveloper):
		t.role = role
	}
	var last *answer // media behind a response belong to it, since APIs have them inside of the result
	for _, block := range c.Blocks {
		switch block := block.(type) {
		case content.ToolCall:
			last = nil
			if c.Speaker != content.AI {
				p.tally.count(0, i, "call in an entry that is not the model's left out")
				continue
			}
			// len(p.turns) is where this turn will be. A turn with a call has a block, so it is always appended below.
			made := &call{ToolCall: block, turn: len(p.turns), exact: t.exact}
			t.calls, t.blocks = append(t.calls, made), append(t.blocks, made)
		case content.ToolResponse:
			// As text of a person: a provider refuses a response without its call, and the model should still see it.
			if last = p.answer(i, block, t.exact); last == nil {
				t.blocks = append(t.blocks, content.Text{Text: "[result of " + block.ToolName + "]\n" +
					resultText(block)})
			}
		case content.Media:
			if last != nil {
				last.media = append(last.media, block)
				continue
			}
			t.blocks = append(t.blocks, block)
		// No provider has such a block; models write and read code in this form.
		case content.Code:
			t.blocks = append(t.blocks, content.Text{Text: "```" + block.Language + "\n" +
				strings.TrimSuffix(block.Code, "\n") + "\n```"})
		default:
			t.blocks = append(t.blocks, block)
		}
	}
	if len(t.blocks) == 0 {
		return // it had only responses, which were put behind their calls
	}
	// Open from the next entry on: a response in the call's own entry does not answer it.
	for _, call := range t.calls {
		p.match.Call(call.ID, call.Name, turns.At{Entry: i, Block: len(p.calls)})
		p.calls = append(p.calls, call)
	}
	p.turns = append(p.turns, t)
}

// answer attaches a response to the call that it answers; nil if there is no open call with its id. A response that
// comes later than the next turn moves up, because providers accept it only there.
func (p *planner) answer(entry int, r content.ToolResponse, exact bool) *answer {
	at, ok := p.match.Response(r.CallID, r.ToolName)
	if !ok {
		p.tally.count(0, entry, "result without a call before it written as user text")
		return nil
	}
	c := p.calls[at.Block]
	if c.turn != len(p.turns)-1 {
		p.tally.count(0, entry, "result moved up to directly follow its call")
	}
	c.done = true
	a := &answer{ToolResponse: r, call: c, exact: exact}
	p.turns[c.turn].answers = append(p.turns[c.turn].answers, a)
	return a
}

// close adds a response to every call that has none. The calls of the last turn are still open if none of them is
// answered: an agent that continues the conversation will add their responses.
func (p *planner) close() {
	for i := range p.turns {
		t := &p.turns[i]
		// Agents add the results of a turn together: if one parallel call is answered, the others will not be.
		running := i == len(p.turns)-1 && len(t.answers) == 0
		for _, c := range t.calls {
			switch {
			case c.done:
			case running:
				p.tally.count(0, t.entry, "call at the end that is not answered yet")
			default:
				p.tally.count(0, t.entry, fmt.Sprintf("call without a result answered with %q", missingResult))
				t.answers = append(
					t.answers, &answer{call: c, ToolResponse: content.ToolResponse{Error: missingResult}},
				)
			}
		}
	}
}

// resultText returns what a model reads of a tool's result: the result, or the error if there is none. A failed tool
// often says more in its result.
func resultText(r content.ToolResponse) string {
	if rawjson.IsNull(r.Result) && r.Failed() {
		return r.Error
	}
	return r.ResultText()
}

// uniqueIDs gives each call the id that is written. Every provider requires different ids within one message. With
// everywhere set, as Anthropic requires, ids differ in the whole conversation and consist of letters, digits, '_' and
// '-'. Otherwise ids are kept as recorded wherever possible.
func (p *planner) uniqueIDs(everywhere bool) {
	// suffix is the last number tried for an id. Without it, a thousand equal ids would be tried half a million times.
	used, suffix := map[string]bool{}, map[string]int{}
	for _, t := range p.turns {
		if !everywhere && len(t.calls) > 0 {
			used, suffix = map[string]bool{}, map[string]int{}
		}
		for _, c := range t.calls {
			id := c.ID
			if everywhere && !c.exact {
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
			c.outID = id
			if id != c.ID {
				p.tally.count(0, t.entry, "call id changed: providers require unique ids of plain characters")
			}
		}
	}
}

func (p *planner) toolName(c *call, entry int) string {
	name := safeName(c.Name)
	if c.exact {
		name = c.Name // the provider itself had it
	}
	if name == "" {
		name = "unknown"
	}
	if name != c.Name {
		p.tally.count(0, entry, "tool name changed: providers accept only letters, digits, '_' and '-'")
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
