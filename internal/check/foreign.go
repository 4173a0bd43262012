package check

import (
	"encoding/json"

	"github.com/thresh-dev/thresh/sdk/content"
)

// foreign says what providers' names for blocks are here. Each of them was seen where an agent passed on a provider's
// message as it was.
var foreign = map[string]string{
	"tool_use": content.KindToolCall, "server_tool_use": content.KindToolCall, "mcp_tool_use": content.KindToolCall,
	"function_call": content.KindToolCall, "custom_tool_call": content.KindToolCall, "tool-call": content.KindToolCall,
	"functionCall": content.KindToolCall, "function": content.KindToolCall,
	"tool_result": content.KindToolResponse, "function_call_output": content.KindToolResponse,
	"custom_tool_call_output": content.KindToolResponse, "tool-result": content.KindToolResponse,
	"functionResponse": content.KindToolResponse, "mcp_tool_result": content.KindToolResponse,
	"web_search_tool_result": content.KindToolResponse,
	"input_text":             content.KindText, "output_text": content.KindText,
	"image": content.KindMedia, "image_url": content.KindMedia, "input_image": content.KindMedia,
	"document": content.KindMedia, "file": content.KindMedia, "input_file": content.KindMedia,
	"input_audio": content.KindMedia,
	"reasoning":   content.KindThinking, "redacted_thinking": content.KindThinking,
}

// Foreign returns the kind that a provider's name for a block means here; "" if it is none that is known.
func Foreign(kind string) string { return foreign[kind] }

// callIDs are the fields in which providers name the call of a block, other than "id".
var callIDs = []string{"callId", "call_id", "toolCallId", "tool_call_id", "tool_use_id"}

// OpaqueCall reports whether a block that this version does not know looks like a tool call or a response, and returns
// the id of the call, as far as it has one.
func OpaqueCall(b content.Opaque) (id string, ok bool) {
	var fields map[string]any
	if json.Unmarshal(b.JSON, &fields) != nil {
		return "", false
	}
	for _, name := range callIDs {
		if id, _ := fields[name].(string); id != "" {
			return id, true
		}
	}
	if known := foreign[b.Kind()]; known == content.KindToolCall || known == content.KindToolResponse {
		id, _ := fields["id"].(string)
		return id, true
	}
	return "", false
}
