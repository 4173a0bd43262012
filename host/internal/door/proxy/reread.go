package proxy

import (
	"encoding/json"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Some agents do not read a file again that has not changed since: they answer the model's call themselves, with a
// reference to the earlier result. Where that result is no longer sent, the model would be referred to nothing, as
// often as it asks. So the result itself takes the place of the reference.

// resolved returns the contents of new entries, with the results that they refer to where these are not sent any more.
// edited are the positions that differ from what the client sent.
func (b *branch) resolved(fresh []body.Entry) (contents []content.Content, edited []int) {
	contents = make([]content.Content, len(fresh))
	named := map[string]bool{} // whose results are referred to
	for i, e := range fresh {
		contents[i] = e.Content
		for _, block := range e.Content.Blocks {
			if r, ok := block.(content.ToolResponse); ok && tools.Refers(r) {
				named[r.ToolName] = true
			}
		}
	}
	if len(named) == 0 {
		return contents, nil
	}
	sent := map[string]content.Content{} // what the last request had, by the ids of entries
	for _, s := range b.view {
		sent[s.ID] = s.Content
	}
	last := results{tools: named, of: map[string]result{}}
	for i, e := range b.entries {
		for _, block := range e.Content.Blocks {
			last.read(i, e.ID, block)
		}
	}
	for i, e := range fresh {
		for j, block := range e.Content.Blocks {
			r, found := last.read(len(b.entries)+i, e.ID, block)
			if found.Result == nil || shows(sent[found.entry], found.ToolResponse) {
				continue
			}
			r.Result = found.Result
			if n := len(edited); n == 0 || edited[n-1] != i {
				edited = append(edited, i)
				contents[i].Blocks = slices.Clone(contents[i].Blocks)
			}
			contents[i].Blocks[j] = r
		}
	}
	return contents, edited
}

// results are the last results of some tools, by what was asked.
type results struct {
	tools map[string]bool
	match turns.Matcher
	asked []string // by the calls, as match numbers their blocks; "" of other tools
	of    map[string]result
}

type result struct {
	content.ToolResponse
	entry string // its id; "" for a new one
}

// read takes in the next block of the entry at a position. If it refers to an earlier result, it returns the block, and
// the result if there is one.
func (l *results) read(at int, entry string, block content.Block) (reference content.ToolResponse, found result) {
	switch block := block.(type) {
	case content.ToolCall:
		asked := ""
		var arguments any
		if l.tools[block.Name] && json.Unmarshal(block.Parameters, &arguments) == nil {
			same, _ := json.Marshal(arguments) // the same for all that mean the same
			asked = block.Name + " " + string(same)
		}
		l.match.Call(block.ID, block.Name, turns.At{Entry: at, Block: len(l.asked)})
		l.asked = append(l.asked, asked)
	case content.ToolResponse:
		call, ok := l.match.Response(block.CallID, block.ToolName)
		if !ok || l.asked[call.Block] == "" {
			break
		}
		switch asked := l.asked[call.Block]; {
		case tools.Refers(block):
			return block, l.of[asked]
		case block.Error == "" && tools.ReadingOf(block) != tools.ReadNothing:
			l.of[asked] = result{block, entry}
		}
	}
	return reference, result{}
}

// shows reports whether an entry as it was sent has a result as it was.
func shows(sent content.Content, r content.ToolResponse) bool {
	return slices.ContainsFunc(sent.Blocks, func(block content.Block) bool { return content.Equal(block, r) })
}

// equalOrResolved reports whether a stored entry is what a client sent, perhaps with results in the place of references.
func equalOrResolved(sent, stored content.Content) bool {
	if sent.Equal(stored) {
		return true
	}
	if len(sent.Blocks) != len(stored.Blocks) {
		return false
	}
	sent.Blocks = slices.Clone(sent.Blocks)
	for i, block := range sent.Blocks {
		was, ok := stored.Blocks[i].(content.ToolResponse)
		if r, isResult := block.(content.ToolResponse); ok && isResult && tools.Refers(r) {
			r.Result = was.Result
			sent.Blocks[i] = r
		}
	}
	return sent.Equal(stored)
}
