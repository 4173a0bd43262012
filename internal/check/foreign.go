package check

import (
	"encoding/json"

	"github.com/thresh-dev/thresh/sdk/content"
)

// foreign maps providers' names for blocks to ours. Each was seen where an agent passed on a provider's message
// unchanged: Anthropic, OpenAI (chat completions and responses), Gemini, the Vercel AI SDK. A missing name costs an
// agent a hint in an error, no more: the block is carried unchanged either way.
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

// Foreign returns the kind that a provider's name for a block probably means here; "" if it is unknown.
func Foreign(kind string) string { return foreign[kind] }

// callIDs are the fields in which providers name the call of a block, other than "id". "id" is read last and only for
// known kinds, as blocks of any kind may have an id of their own.
var callIDs = []string{"callId", "call_id", "toolCallId", "tool_call_id", "tool_use_id"}

// OpaqueCall reports whether a block of unknown kind looks like a tool call or a response, and returns the call's id;
// "" if it carries none. The host warns of such a block, because its pairing cannot be checked.
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
