package modelapi

import (
	"net/http"
	"slices"
	"strings"
)

// How a request of the Messages API asks for thinking, and which thinking the turn in progress must have.

// thinks reports whether the model may think. Those that bind thinking do where nothing is said.
func (messages) thinks(body object) bool {
	kind := text(obj(body["thinking"])["type"])
	return kind == "enabled" || kind == "adaptive" || kind == "" && binding.MatchString(text(body["model"]))
}

// asksToThink judges how a request asks for thinking. Models that bind it decide by themselves when they think
// (platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting).
func (messages) asksToThink(r *http.Request, body object) error {
	if text(obj(body["thinking"])["type"]) == "enabled" && binding.MatchString(text(body["model"])) {
		return badRequest("\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and " +
			"\"output_config.effort\" to control thinking behavior.")
	}
	if blockBinding(body) != nil && !beta(r, bindingBeta) {
		return badRequest("thinking.block_binding: Extra inputs are not permitted")
	}
	return nil
}

// finalThinks: with thinking enabled, a message of the model whose tools were just run begins with its thinking. Only
// the last message of the model counts; in earlier ones thinking may be missing. The final message of the conversation
// is the user's, with the results, so that the search begins before it.
func (messages) finalThinks(all []any) error {
	for i := len(all) - 2; i > 0; i-- {
		if text(obj(all[i])["role"]) != "assistant" {
			continue
		}
		blocks := contentBlocks(obj(all[i])["content"])
		// Redacted thinking counts as well.
		if first := text(blocks[0]["type"]); strings.Contains(encoded(blocks), `"tool_use"`) &&
			!strings.Contains(first, "thinking") {
			return badRequest("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but "+
				"found `%s`. When "+
				"`thinking` is enabled, a final `assistant` message must start with a thinking block", i, first)
		}
		return nil
	}
	return nil
}

// latest refuses a last message of the model with some of its thinking: all that were issued together come back, or
// none. The lock is held.
func (messages) latest(s *Server, all []any) error {
	for i := len(all) - 1; i >= 0; i-- {
		if text(obj(all[i])["role"]) != "assistant" {
			continue
		}
		var has []string
		at := 0
		for j, b := range contentBlocks(obj(all[i])["content"]) {
			if id := thinkingID(b); id != "" {
				has, at = append(has, id), j
			}
		}
		if len(has) == 0 {
			return nil
		}
		if run := s.runs[has[0]]; !slices.Equal(run, has[:min(len(run), len(has))]) {
			return badRequest("messages.%d.content.%d: `thinking` or `redacted_thinking` blocks in the latest assistant "+
				"message cannot be modified. These blocks must remain as they were in the original response.", i, at)
		}
		return nil
	}
	return nil
}
