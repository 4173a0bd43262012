package check

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk/content"
)

// kinds are the kinds of blocks that this version knows.
var kinds = []string{
	content.KindText, content.KindToolCall, content.KindToolResponse, content.KindMedia, content.KindThinking,
	content.KindCode,
}

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

// Known returns an error for the first block of a kind that this version does not know, with what was probably meant.
// No strategy can read such a block, and a call or response in it is paired with nothing.
func Known(c content.Content) error {
	for i, b := range c.Blocks {
		o, unknown := b.(content.Opaque)
		if !unknown || o.Kind() == "" {
			continue
		}
		kind := o.Kind()
		meant := meant(kind)
		if meant == "" {
			return fmt.Errorf("block %d: unknown type %.40q; want one of: %s", i, kind, strings.Join(kinds, ", "))
		}
		return fmt.Errorf("block %d: unknown type %.40q, did you mean %q?", i, kind, meant)
	}
	return nil
}

// meant is the known kind that was probably meant by an unknown one; "" if there is none.
func meant(kind string) string {
	if known, ok := foreign[kind]; ok {
		return known
	}
	return text.Nearest(kind, kinds)
}

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
	if known := meant(b.Kind()); known == content.KindToolCall || known == content.KindToolResponse {
		id, _ := fields["id"].(string)
		return id, true
	}
	return "", false
}
