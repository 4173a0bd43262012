// Package responses is OpenAI's Responses API. Its items are flat: what other APIs call a message of the model is a run
// of reasoning, messages and calls.
package responses

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Form describes the API.
var Form = provider.Form{
	API: provider.Responses, List: "input", Skip: []string{"tools", "instructions", "client_metadata", "text"},
	Continued: []string{"previous_response_id", "conversation"},
	MaxOutput: []string{"max_output_tokens"}, SessionAt: "prompt_cache_key",
	Roles: []provider.Role{{Name: "user", Speaker: content.Human}, {Name: "assistant", Speaker: content.AI},
		{Name: "system", Speaker: content.Human, Pinned: true}, {Name: "developer", Speaker: content.Human, Pinned: true}},
	Content: "content", ContentText: true, MayBeEmpty: true, Parts: parts,
	Items: items, MessageTypes: []string{"message", "agent_message"},
	Flat: true, PinnedFirst: true, Assistant: "assistant",
	TextType: func(by content.Speaker) string {
		if by == content.AI { // the API insists on it
			return "output_text"
		}
		return "input_text"
	},
	Counts: counts, Calls: calls, Plan: plan, PlanEvent: planEvent, TooLong: chat.TooLong,
}

// parts are the kinds of parts of a message's content.
var parts = []provider.Kind{
	{Type: "input_text", Is: provider.Text, Value: "text"},
	{Type: "output_text", Is: provider.Text, Value: "text", Keep: true}, // annotations and signatures may refer to it
	{Type: "input_image", Is: provider.Media, Usual: "image/*"},
	{Type: "input_file", Is: provider.Media},
	{Type: "input_audio", Is: provider.Media, Usual: "audio/*"},
	{Type: "refusal", Is: provider.Media, Usual: "text/plain"},
}

// items are the kinds of items that are no messages. References to items, summaries that the provider encrypted, and
// what is not known yet, are fixed.
var items = []provider.Kind{
	{Type: "function_call", Is: provider.Call, ID: "call_id", Name: "name", Value: "arguments", Quoted: true},
	{Type: "function_call_output", Is: provider.Result, ID: "call_id", Value: "output"},
	{Type: "reasoning", Is: provider.Bound, Value: "summary"},
	{Type: "custom_tool_call", Is: provider.Call, ID: "call_id", Name: "name", Value: "input"},
	{Type: "custom_tool_call_output", Is: provider.Result, ID: "call_id", Value: "output"},
	{Type: "local_shell_call", Is: provider.Call, ID: "call_id", Called: "local_shell", Value: "action"},
	{Type: "local_shell_call_output", Is: provider.Result, ID: "call_id", Value: "output", Keep: true},
	{Type: "shell_call", Is: provider.Call, ID: "call_id", Called: "shell", Value: "action"},
	{Type: "shell_call_output", Is: provider.Result, ID: "call_id", Value: "output", Keep: true},
	{Type: "apply_patch_call", Is: provider.Call, ID: "call_id", Called: "apply_patch", Value: "operation"},
	{Type: "apply_patch_call_output", Is: provider.Result, ID: "call_id", Value: "output", Keep: true},
	{Type: "computer_call", Is: provider.Call, ID: "call_id", Called: "computer", Value: "action"},
	{Type: "computer_call_output", Is: provider.Result, ID: "call_id", Value: "output", Keep: true},
	{Type: "web_search_call", Is: provider.Own},
	{Type: "file_search_call", Is: provider.Own},
	{Type: "code_interpreter_call", Is: provider.Own},
	{Type: "image_generation_call", Is: provider.Own},
	{Type: "mcp_call", Is: provider.Own},
	{Type: "mcp_approval_request", Is: provider.Own, ID: "id"},
	{Type: "mcp_approval_response", Is: provider.Own, ID: "approval_request_id"},
	{Type: "mcp_list_tools", Is: provider.Own, Loads: "tools", LoadsName: "name"},
	{Type: "tool_search_call", Is: provider.Own, ID: "call_id"},
	{Type: "tool_search_output", Is: provider.Own, ID: "call_id", Loads: "tools", LoadsName: "name"},
}

// counts are in a whole answer, and in the response at the end of a stream.
var counts = &provider.Counts{
	At: []string{"usage", "response.usage"}, Prompt: []string{"input_tokens"}, Output: []string{"output_tokens"},
	Read: []string{"input_tokens_details.cached_tokens"},
}

// calls are in a whole answer, and in the event that ends each item of a stream.
func calls(answer []byte) (all []provider.Piece) {
	type item struct {
		Type, Name, Arguments, Input string
		ID                           string `json:"call_id"`
	}
	var a struct {
		Type   string
		Item   item
		Output []item
	}
	_ = json.Unmarshal(answer, &a) // members of other types belong to what is no call
	if a.Type == "response.output_item.done" {
		a.Output = []item{a.Item}
	}
	for _, c := range a.Output {
		if c.Type == "function_call" || c.Type == "custom_tool_call" {
			all = append(all, provider.Piece{ID: c.ID, Name: c.Name, Arguments: c.Arguments + c.Input})
		}
	}
	return all
}

// plan reads the headers that subscriptions of ChatGPT have, with which Codex works: percentages, minutes, and seconds
// since 1970.
func plan(header func(name string) string) (all []provider.Window) {
	for _, name := range []string{"X-Codex-Primary-", "X-Codex-Secondary-"} {
		minutes, _ := strconv.Atoi(header(name + "Window-Minutes")) // 0 where there is no such window
		if w, ok := provider.ReadWindow(time.Duration(minutes)*time.Minute, header(name+"Used-Percent"), 100,
			header(name+"Reset-At")); ok {
			all = append(all, w)
		}
	}
	return all
}

// planEvent reads the event in which they may say the same.
func planEvent(event []byte) []provider.Window {
	if rawjson.FieldText(event, "type") != "codex.rate_limits" {
		return nil
	}
	return Limits(rawjson.Field(event, "rate_limits"))
}

// Limits reads the windows of a plan as events have them, and as Codex records them.
func Limits(limits []byte) (all []provider.Window) {
	for _, name := range []string{"primary", "secondary"} {
		w := rawjson.Field(limits, name)
		minutes, _ := strconv.Atoi(string(rawjson.Field(w, "window_minutes")))
		reset := cmp.Or(string(rawjson.Field(w, "reset_at")), string(rawjson.Field(w, "resets_at"))) // recorded
		if told, ok := provider.ReadWindow(time.Duration(minutes)*time.Minute, string(rawjson.Field(w, "used_percent")), 100,
			reset); ok {
			all = append(all, told)
		}
	}
	return all
}
