package anthropic

import (
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/sdk/content"
)

// parts are the kinds of content blocks.
var parts = []provider.Kind{
	{Type: "text", Is: provider.Text, Value: "text", Citing: "citations"},
	{Type: "tool_use", Is: provider.Call, By: content.AI, ID: "id", Name: "name", Value: "input"},
	{Type: "tool_result", Is: provider.Result, By: content.Human, ID: "tool_use_id", Value: "content", Failed: "is_error",
		Loads: "content", LoadsName: "tool_name"},
	{Type: "tool_reference", Is: provider.Fixed, Inner: true},
	{Type: "thinking", Is: provider.Bound, By: content.AI, Value: "thinking", Unmarked: true, Sealed: true},
	{Type: "redacted_thinking", Is: provider.Bound, By: content.AI, Unmarked: true, Sealed: true},
	{Type: "image", Is: provider.Media, Mime: "source.media_type", Usual: "image/*"},
	{Type: "document", Is: provider.Media, Mime: "source.media_type"},
	{Type: "search_result", Is: provider.Media, Usual: "text/plain"},
	{Type: "container_upload", Is: provider.Media},
	{Type: "server_tool_use", Is: provider.Own, By: content.AI, ID: "id"},
	{Type: "web_search_tool_result", Is: provider.Own, By: content.AI, ID: "tool_use_id"},
	{Type: "web_fetch_tool_result", Is: provider.Own, By: content.AI, ID: "tool_use_id"},
	{Type: "code_execution_tool_result", Is: provider.Own, By: content.AI, ID: "tool_use_id"},
	{Type: "bash_code_execution_tool_result", Is: provider.Own, By: content.AI, ID: "tool_use_id"},
	{Type: "text_editor_code_execution_tool_result", Is: provider.Own, By: content.AI, ID: "tool_use_id"},
	{Type: "advisor_tool_result", Is: provider.Own, By: content.AI, ID: "tool_use_id"},
	{Type: "tool_search_tool_result", Is: provider.Own, By: content.AI, ID: "tool_use_id",
		Loads: "content.tool_references", LoadsName: "tool_name"},
	{Type: "mcp_tool_use", Is: provider.Own, By: content.AI, ID: "id"},
	{Type: "mcp_tool_result", Is: provider.Own, By: content.AI, ID: "tool_use_id"},
	{Type: "compaction", Is: provider.Fence, By: content.AI, Value: "content"},
}
