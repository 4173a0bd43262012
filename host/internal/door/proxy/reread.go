package proxy

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/door/proxy/body"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Some agents do not read a file again that has not changed since: they answer the model's call themselves, with a
// reference to the earlier result. Where that result is no longer sent, the model would be referred to nothing, as
// often as it asks. So the result itself takes the place of the reference.

// references are how the results begin with which agents refer to an earlier one: the words of Claude Code, which had
// others before, and of qwen-code, which names the file before them.
var references = []string{"Wasted call — file unchanged since your last Read.", "File unchanged since last read. The content"}

const reference, leastReference = " unchanged since last read in this session — the full content was provided earlier", 2000

// refers reports whether a result is a reference to an earlier one.
func refers(r content.ToolResponse) bool {
	if len(r.Result) > leastReference {
		return false
	}
	text := r.ResultText()
	return slices.ContainsFunc(references, func(begins string) bool { return strings.HasPrefix(text, begins) }) ||
		strings.HasPrefix(text, "[File ") && strings.Contains(text, reference)
}

// resolved returns the contents of new entries, with the results that they refer to where these are not sent any more.
// edited are the positions that differ from what the client sent.
func (b *branch) resolved(fresh []body.Entry) (contents []content.Content, edited []int) {
	contents = make([]content.Content, len(fresh))
	var all []body.Entry
	for i, e := range fresh {
		contents[i] = e.Content
		for j, block := range e.Content.Blocks {
			r, ok := block.(content.ToolResponse)
			if !ok || !refers(r) {
				continue
			}
			if all == nil {
				all = slices.Concat(b.entries, fresh)
			}
			found, entry := b.referent(all[:len(b.entries)+i], r.CallID)
			if found.Result == nil || b.shows(entry.ID, found) {
				continue
			}
			r.Result = found.Result
			contents[i].Blocks = slices.Clone(contents[i].Blocks)
			contents[i].Blocks[j] = r
			if n := len(edited); n == 0 || edited[n-1] != i {
				edited = append(edited, i)
			}
		}
	}
	return contents, edited
}

// referent returns the last result of a call that asked the same as the last call with an id, and its entry; a zero
// response if there is none.
func (b *branch) referent(entries []body.Entry, id string) (content.ToolResponse, body.Entry) {
	var asked content.ToolCall
	results, in := map[string]content.ToolResponse{}, map[string]body.Entry{} // by the ids of their calls
	for _, e := range slices.Backward(entries) {
		for _, block := range slices.Backward(e.Content.Blocks) {
			switch block := block.(type) {
			case content.ToolResponse:
				if block.CallID != id && block.Error == "" && !refers(block) && asked.Name != "" {
					results[block.CallID], in[block.CallID] = block, e
				}
			case content.ToolCall:
				if block.ID == id && asked.Name == "" {
					asked = block
				} else if r, ok := results[block.ID]; ok && block.Name == asked.Name &&
					equalJSON(block.Parameters, asked.Parameters) {
					return r, in[block.ID]
				}
			}
		}
	}
	return content.ToolResponse{}, body.Entry{}
}

// shows reports whether the last request had a result as it was.
func (b *branch) shows(entry string, r content.ToolResponse) bool {
	for _, s := range b.view {
		if s.ID != entry {
			continue
		}
		return slices.ContainsFunc(s.Content.Blocks, func(block content.Block) bool { return content.Equal(block, r) })
	}
	return false
}

// equalJSON reports whether two values mean the same.
func equalJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
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
		if r, isResult := block.(content.ToolResponse); ok && isResult && refers(r) {
			r.Result = was.Result
			sent.Blocks[i] = r
		}
	}
	return sent.Equal(stored)
}
