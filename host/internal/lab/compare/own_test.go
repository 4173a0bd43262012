package compare

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// What the agent said and wrote counts as lost when it leaves the request. What failed, what was written over and what
// a result shows does not.
func TestOwnIsWhatTheAgentSaidAndWrote(t *testing.T) {
	taxonomy, err := tools.ForPresets([]string{"claude-code"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ai := func(blocks ...content.Block) content.Content {
		return content.Content{Speaker: content.AI, Blocks: blocks}
	}
	call := func(name string, params map[string]string) content.Content {
		raw, _ := json.Marshal(params)
		return ai(content.ToolCall{ID: "c", Name: name, Parameters: raw})
	}
	answer := func(name, text string) content.Content {
		r := content.ToolResponse{CallID: "c", ToolName: name, Result: content.String(text)}
		return content.Content{Speaker: content.Tool, Blocks: []content.Block{r}}
	}
	write := func(text string) content.Content {
		return call("Write", map[string]string{"file_path": "/a", "content": text})
	}
	edit := func(before, after string) content.Content {
		return call("Edit", map[string]string{"file_path": "/a", "old_string": before, "new_string": after})
	}
	history := []content.Content{
		{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: "Do it, please."}}},
		ai(content.Thinking{Thought: "thought-1"}, content.Text{Text: "saying-12"}),
		write("written-1\nwritten-2"), answer("Write", "ok"),
		edit("written-2", "written-3"), answer("Edit", "ok"),
		edit("written-1", "written-4"), answer("Edit", "<tool_use_error>no such text</tool_use_error>"),
	}
	for name, tt := range map[string]struct {
		gone  []int
		later []content.Content
		want  float64
	}{
		"all is there":            {nil, nil, 1},
		"the failed edit went":    {[]int{6, 7}, nil, 1},
		"what was said went":      {[]int{1}, nil, 0.5},
		"the current edit went":   {[]int{4, 5}, nil, 0.75},
		"a result shows it":       {[]int{4, 5}, []content.Content{call("Read", nil), answer("Read", "  7→written-3")}, 1},
		"it was written over":     {[]int{4, 5}, []content.Content{write("written-1"), answer("Write", "ok")}, 1},
		"all that was said again": {[]int{1}, []content.Content{ai(content.Text{Text: "thought-1\nsaying-12"})}, 1},
	} {
		entries := slices.Concat(history, tt.later)
		r := &recording{
			Recording: &replay.Recording{
				Transcript: &transcript.Transcript{Entries: entries},
				Requests:   []replay.Request{{Request: transcript.Request{Entry: len(entries)}}},
			},
			taxonomy: taxonomy, pairs: turns.Pair(entries), lines: map[string]int32{}, sizes: map[int32]int32{},
		}
		changes := r.findOwn()
		h := newHeld(r, newOwnShare(r))
		h.send(entries, 0)
		sent := slices.Clone(entries)
		for i, at := range tt.gone {
			sent = slices.Delete(sent, at-i, at-i+1)
		}
		h.send(sent, 0)
		if got, ok := h.own.turn(changes[0], h); !ok || got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
