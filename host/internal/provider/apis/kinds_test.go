package apis_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/apis"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Each row has a type of its own, and what its kind needs.
func TestRowsAreComplete(t *testing.T) {
	for _, f := range apis.All() {
		for _, rows := range [][]provider.Kind{f.Parts, f.Items} {
			seen := map[string]bool{}
			for _, k := range rows {
				paired := k.Is == provider.Call || k.Is == provider.Result
				switch {
				case k.Type == "" || seen[k.Type]:
					t.Errorf("%s: %q is there twice", f.API, k.Type)
				case paired && (k.ID == "" || k.Value == ""), k.Is == provider.Call && k.Name == "" && k.Called == "":
					t.Errorf("%s: %s has no id, name or value", f.API, k.Type)
				case (k.Loads == "") != (k.LoadsName == ""):
					t.Errorf("%s: %s: the tools that it loads have no name", f.API, k.Type)
				}
				seen[k.Type] = true
			}
		}
	}
}

func TestWhatAProvidersNameMeans(t *testing.T) {
	for kind, want := range map[string]string{
		"tool_use": content.KindToolCall, "server_tool_use": content.KindToolCall, "mcp_tool_use": content.KindToolCall,
		"function_call": content.KindToolCall, "function": content.KindToolCall, "functionCall": content.KindToolCall,
		"web_search_call": content.KindToolCall, "tool_result": content.KindToolResponse, "mcp_tool_result": content.KindToolResponse,
		"function_call_output": content.KindToolResponse, "functionResponse": content.KindToolResponse,
		"tool_search_output": content.KindToolResponse, "input_text": content.KindText, "image_url": content.KindMedia,
		"redacted_thinking": content.KindThinking, "reasoning": content.KindThinking, "tool-call": content.KindToolCall,
		"hologram": "", "": "", "text": "",
	} {
		if got := apis.Means(kind); got != want {
			t.Errorf("%s means %q, want %q", kind, got, want)
		}
	}
}
