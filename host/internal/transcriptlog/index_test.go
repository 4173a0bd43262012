package transcriptlog_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/sdk/content"
)

func exchange(id string) []content.Content {
	return []content.Content{
		{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: id, Name: "run",
			Parameters: json.RawMessage(`{}`)}}},
		{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: id, ToolName: "run"}}},
	}
}

func TestFind(t *testing.T) {
	entries := append(exchange("call_12"), exchange("e2")...)
	for name, test := range map[string]struct {
		ids  []string // as the file gives them
		find string
		want []int
		near []string
	}{
		"an entry": {[]string{"e1", "e2", "e9", "e10"}, "e9", []int{2},
			[]string{"e9", "e1", "e2"}},
		"a call and its response": {[]string{"e1", "e3", "e9", "e10"}, "call_12", []int{0, 1},
			[]string{"call_12"}},
		"an entry before a call": {[]string{"e1", "e2", "e9", "e10"}, "e2", []int{1},
			[]string{"e2", "e1", "e9"}},
		"nothing":                          {[]string{"e1", "e2", "e9", "e10"}, "call_21", nil, []string{"call_12"}},
		"nothing near":                     {[]string{"e1", "e2", "e9", "e10"}, "toolu", nil, nil},
		"no id":                            {[]string{"e1", "", "e9", "e10"}, "", nil, nil},
		"numbered, where the file is bare": {nil, "e4", []int{3}, []string{"e4", "e1", "e2"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := transcriptlog.NewIndex(entries, test.ids)
			if diff := cmp.Diff(test.want, k.Find(test.find)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.near, k.Near(test.find, 3)); diff != "" {
				t.Errorf("near:\n%s", diff)
			}
		})
	}
}
