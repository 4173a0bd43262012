package modelapi

import (
	"net/http"
)

// Compaction on demand (platform.claude.com/docs/en/build-with-claude/compaction-on-demand): a request with the field
// compaction is answered with a block that stands for all its messages, and is sent first from then on.

const compactBeta = "compact-2026-09-04"

// asksForSummary reports whether a request has the field; the error says what it must not have besides.
func asksForSummary(r *http.Request, body object) (bool, error) {
	if body["compaction"] == nil {
		return false, nil
	}
	if !beta(r, compactBeta) {
		return false, badRequest("compaction: Extra inputs are not permitted")
	}
	if kind := text(obj(body["compaction"])["type"]); kind != "summarize" {
		return false, badRequest("compaction: Input tag '%s' found using 'type' does not match any of the expected "+
			"tags: 'summarize'", kind)
	}
	choice := text(obj(body["tool_choice"])["type"])
	for field, set := range map[string]bool{"context_management": body["context_management"] != nil,
		"stop_sequences": body["stop_sequences"] != nil, "tool_choice": choice == "any" || choice == "tool",
		"output_config.format": obj(body["output_config"])["format"] != nil} {
		if set {
			return false, badRequest("%s: not supported with `compaction`", field)
		}
	}
	return true, nil
}

// compacted judges a block that stands for messages. The lock is held.
func compacted(s *Server, r *http.Request, i, j int, b object) error {
	switch _, ok := s.summaries[text(b["signature"])]; {
	case !beta(r, compactBeta):
		return badRequest("messages.%d.content.%d: 'compaction' is not one of the expected content block types", i, j)
	case i > 0 || j > 0:
		return badRequest("`compaction` block must be sent first, in place of the messages it summarizes; remove those " +
			"messages")
	case !ok || s.issued[text(b["signature"])] != text(b["content"]):
		return badRequest("messages.%d.content.%d: Invalid `signature` in `compaction` block", i, j)
	}
	return nil
}

// summarize answers a request for a summary. The summarizer's own usage is in iterations, and nothing beside it. The
// lock is held.
func (messages) summarize(s *Server, p prompt, u Usage) (blocks []object, usage object) {
	block := object{"type": "compaction", "content": sideAnswer, "signature": s.issue(sideAnswer)}
	s.summaries[text(block["signature"])] = p.behind
	return []object{block}, object{"input_tokens": 0, "output_tokens": 0, "iterations": []any{object{
		"type": "compaction", "input_tokens": u.Input, "cache_read_input_tokens": u.Cached,
		"cache_creation_input_tokens": u.Written, "output_tokens": u.Output}}}
}
