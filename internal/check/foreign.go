package check

import (
	"encoding/json"

	"github.com/thresh-dev/thresh/sdk/content"
)

// foreign says what providers' names for blocks are here. Each of them was seen where an agent passed on a provider's
// message as it was. The names are those of Anthropic, OpenAI (chat completions and responses), Gemini and the Vercel
// AI SDK. A name that is missing here costs an agent a hint in an error, and nothing more: the block is carried
// unchanged either way.
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

// Foreign returns the kind that a provider's name for a block means here; "" if it is none that is known. The host
// puts it into the error for an unknown kind, as what was probably meant.
func Foreign(kind string) string { return foreign[kind] }

// callIDs are the fields in which providers name the call of a block, other than "id". "id" is asked last and only for
// known kinds, because blocks of any kind may have an id of their own.
var callIDs = []string{"callId", "call_id", "toolCallId", "tool_call_id", "tool_use_id"}

// OpaqueCall reports whether a block that this version does not know looks like a tool call or a response, and returns
// the id of the call, as far as it has one. The host warns of such a block: it is sent as it is, but its
// pairing with other blocks cannot be checked. An empty id with ok means a call that carries none.
func OpaqueCall(b content.Opaque) (id string, ok bool) {
	var fields map[string]any
	// Not an object, so there is no field to look at.
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
