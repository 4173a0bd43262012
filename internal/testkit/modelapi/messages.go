package modelapi

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// messages is Anthropic's Messages API. counting: the request is one of count_tokens, which needs no max_tokens.
// supposed: it was never sent, so that no thinking was issued behind it. The rules and the words of its errors are the
// API's.
type messages struct{ counting, supposed bool }

func (messages) fail(status int, kind, _, message string) any {
	kind = cmp.Or(kind, usual[status][0], "api_error")
	return object{"type": "error", "error": object{"type": kind, "message": message}}
}

// judge adds segments in the order in which Anthropic caches a prompt: tools, system, messages. A marker in one of them
// covers all that is before it.
func (m messages) judge(s *Server, r *http.Request, body object) (prompt, error) {
	p := prompt{body: body, stream: truth(body["stream"])}
	// A thread is kept here: what is new comes behind it.
	if thread := obj(body["thread"]); text(thread["type"]) == "continue" {
		before := s.threads[text(thread["previous_message_id"])]
		if before == nil || body["system"] != nil || body["tools"] != nil {
			return p, badRequest("thread: the thread does not exist, or has a system prompt and tools")
		}
		body["messages"] = slices.Concat(list(before["messages"]), list(body["messages"]))
		body["system"], body["tools"] = before["system"], before["tools"]
	}
	if text(body["model"]) == "" {
		return p, badRequest("model: Field required")
	}
	if body["max_tokens"] == nil && !m.counting {
		return p, badRequest("max_tokens: Field required")
	}
	if err := m.asksToThink(r, body); err != nil {
		return p, err
	}
	var err error
	if p.summarizes, err = asksForSummary(r, body); err != nil {
		return p, err
	}
	// Over the whole request.
	marks, short, mixed := 0, false, false
	add := func(v any) {
		v, inner := m.within(v)
		g := segmentOf(v)
		if own := obj(v)["cache_control"]; own != nil {
			inner = append(inner, own)
		}
		for _, mark := range inner {
			marks++
			hour := text(obj(mark)["ttl"]) == "1h"
			mixed, short = mixed || hour && short, short || !hour
		}
		g.mark = len(inner) > 0
		p.segments = append(p.segments, g)
	}
	for _, t := range list(body["tools"]) {
		add(t)
		// Tools that the provider runs have another type and no schema; the script cannot call them.
		if kind := text(obj(t)["type"]); kind == "" || kind == "custom" {
			p.tools = append(p.tools, tool{name: text(obj(t)["name"]), schema: obj(obj(t)["input_schema"])})
		}
	}
	// Both forms of a system prompt are one segment a block.
	if sys, ok := body["system"].(string); ok {
		add(sys)
	}
	for _, b := range list(body["system"]) {
		add(b)
	}
	all := list(body["messages"])
	if len(all) == 0 {
		return p, badRequest("messages: at least one message is required")
	}
	if err := m.roles(all); err != nil {
		return p, err
	}
	if err := m.sections(r, body, all); err != nil {
		return p, err
	}
	behind, dropped, unbound := m.behind(s, r, body)
	p.behind = behind
	var open []string // calls of the last message of the model
	for i, v := range all {
		blocks := contentBlocks(obj(v)["content"])
		if len(blocks) == 0 && directive(obj(v)) {
			continue
		}
		if len(blocks) == 0 {
			return p, badRequest("messages.%d: all messages must have non-empty content", i)
		}
		role := text(obj(v)["role"])
		// The role too, or a message of the user would be found in the cache as one of the model.
		if !cleared(all, i) {
			p.segments = append(p.segments, segment{text: []byte(role)})
		}
		calls, err := m.blocks(s, r, i, role, blocks, open)
		if err != nil {
			return p, err
		}
		// Results answer the message of the model before them, with instructions in between or not.
		if role != "system" {
			open = calls
		}
		for j, b := range blocks {
			switch {
			case text(b["type"]) == "tool_addition", text(b["type"]) == "tool_removal":
				if err := p.change(i, j, b, list(body["tools"])); err != nil {
					return p, err
				}
			case dropped[[2]int{i, j}]:
				p.dropped = append(p.dropped, object{"type": "thinking_dropped",
					"path": fmt.Sprintf("messages.%d.content.%d", i, j), "reason": "prefix_binding_mismatch"})
				continue
			}
			if !cleared(all, i) {
				add(b)
			}
		}
		// The last message decides: a client that compacts asks for the summary with a message of the user.
		p.compacts = p.summarizes || role == "user" && summary(blocks)
	}
	if unbound != nil && !m.supposed {
		return p, unbound
	}
	if err := m.latest(s, all); err != nil {
		return p, err
	}
	p.tells = beta(r, bindingBeta)
	// The results of the last calls must be there, or the model would be asked to speak before its tools have.
	if len(open) > 0 {
		return p, unanswered(len(all)-1, open)
	}
	// The limit is of a request, over tools, system and messages together. A proxy that adds a marker must move one.
	if marks > 4 {
		return p, badRequest("A maximum of 4 blocks with cache_control may be provided. Found %d.", marks)
	}
	if mixed {
		return p, badRequest("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
	}
	// Adaptive thinking does not demand it: the model may have decided not to think.
	if m.thinks(body) && text(obj(body["thinking"])["type"]) == "enabled" {
		if err := m.finalThinks(all); err != nil {
			return p, err
		}
	}
	return p, nil
}

// within takes the markers off the parts of a result, which are markers of the result. One part of text is the text.
func (messages) within(v any) (bare any, marks []any) {
	parts := list(obj(v)["content"])
	if text(obj(v)["type"]) != "tool_result" || len(parts) == 0 {
		return v, nil
	}
	result, content := maps.Clone(obj(v)), make([]any, len(parts))
	for i, part := range parts {
		own := maps.Clone(obj(part))
		if mark := own["cache_control"]; mark != nil {
			marks = append(marks, mark)
			delete(own, "cache_control")
		}
		content[i] = own
	}
	if result["content"] = content; len(parts) == 1 && text(obj(parts[0])["type"]) == "text" {
		result["content"] = obj(parts[0])["text"]
	}
	return result, marks
}

// i is the index of the message with the calls; ids are those that have no result.
func unanswered(i int, ids []string) error {
	return badRequest("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: "+
		"%s. Each "+
		"`tool_use` block must have a corresponding `tool_result` block in the next message.", i, strings.Join(ids,
		", "))
}

// Two messages of the same role may follow each other; the API joins them. A message of the model is first only where it
// begins with the summary of what was before. Those of the system have rules of their own.
func (messages) roles(all []any) error {
	first := true
	for i, v := range all {
		switch role := text(obj(v)["role"]); role {
		case "system":
			continue
		case "user":
		case "assistant":
			blocks := contentBlocks(obj(v)["content"])
			if first && (len(blocks) == 0 || text(blocks[0]["type"]) != "compaction") {
				return badRequest("messages: first message must use the \"user\" role")
			}
		default:
			return badRequest("messages.%d.role: Input should be 'user', 'assistant' or 'system'", i)
		}
		first = false
	}
	return nil
}

// contentBlocks is a message's content as blocks. A plain text is one text block; an empty one is no block at all, so
// that the caller refuses it.
func contentBlocks(v any) []object {
	if s, ok := v.(string); ok {
		if s == "" {
			return nil
		}
		return []object{{"type": "text", "text": s}}
	}
	var out []object
	for _, b := range list(v) {
		out = append(out, obj(b))
	}
	return out
}

// blocks judges the blocks of a message and returns the ids of its calls. open are those of the message before. The
// error says which rule does not hold. The lock is held, because signatures are looked up.
func (messages) blocks(s *Server, r *http.Request, i int, role string, blocks []object, open []string) ([]string,
	error) {
	var calls []string
	// What the message has to answer; results take their ids out of it.
	left := map[string]bool{}
	for _, id := range open {
		left[id] = true
	}
	for j, b := range blocks {
		id := text(b["id"])
		switch text(b["type"]) {
		case "text":
			if strings.TrimSpace(text(b["text"])) == "" {
				return nil, badRequest("messages: text content blocks must contain non-whitespace text")
			}
		case "tool_use":
			// Within one message. The same id may come again in a later one.
			for _, c := range calls {
				if c == id {
					return nil, badRequest("messages.%d.content.%d: `tool_use` ids must be unique", i, j)
				}
			}
			calls = append(calls, id)
		case "tool_result":
			if id := text(b["tool_use_id"]); !left[id] {
				return nil, badRequest("messages.%d.content.%d: unexpected `tool_use_id` found in "+
					"`tool_result` blocks: %s. "+
					"Each `tool_result` block must have a corresponding `tool_use` block in the previous "+
					"message.", i, j, id)
			}
			// A text in front of a result separates it from its call, which real servers refuse.
			if j > 0 && text(blocks[j-1]["type"]) != "tool_result" {
				return nil, badRequest("messages.%d: `tool_result` blocks must come first in the content", i)
			}
			delete(left, text(b["tool_use_id"]))
		case "thinking":
			// Both must be as they were issued: thinking must not be edited, shortened or signed by another.
			if s.issued[text(b["signature"])] != text(b["thinking"]) || text(b["signature"]) == "" {
				return nil, badRequest("messages.%d.content.%d: Invalid `signature` in `thinking` block", i, j)
			}
			if b["cache_control"] != nil {
				return nil, badRequest("messages.%d.content.%d.thinking.cache_control: Extra inputs are not "+
					"permitted", i, j)
			}
			// Thinking belongs to what it led to. A proxy that removes a call must remove its thinking too.
			if j == len(blocks)-1 {
				return nil, badRequest("messages.%d: The final block in an assistant message cannot be `thinking`.", i)
			}
		case "compaction":
			if err := compacted(s, r, i, j, b); err != nil {
				return nil, err
			}
		// Not judged: what they hold is the client's or the provider's business.
		case "image", "document", "redacted_thinking", "server_tool_use", "tool_addition", "tool_removal":
		default:
			if serverResult(text(b["type"])) {
				continue
			}
			return nil, badRequest("messages.%d.content.%d: Input tag '%s' is not known", i, j, text(b["type"]))
		}
	}
	// A message of instructions leaves the calls open; the one after it may answer them.
	if role != "system" && len(left) > 0 {
		var ids []string
		for id := range left {
			ids = append(ids, id)
		}
		return nil, unanswered(i-1, ids)
	}
	return calls, nil
}
