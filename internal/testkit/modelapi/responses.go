package modelapi

import (
	"net/http"
	"slices"
	"strings"
)

// responses is OpenAI's Responses API. It is the one API here that can keep conversations on the server, so that a
// request may hold only what is new.
type responses struct{}

// The form is that of the Chat API.
func (responses) fail(status int, kind, code, message string) any {
	return chat{}.fail(status, kind, code, message)
}

// judge puts the items of a stored response in front of those of the request, and judges them together: rules of pairs
// hold across the border. The cache needs no markers.
func (r responses) judge(s *Server, _ *http.Request, body object) (prompt, error) {
	p := prompt{body: body, stream: truth(body["stream"]), auto: true}
	for _, v := range list(body["tools"]) {
		p.segments = append(p.segments, segmentOf(v))
	}
	p.tools = responsesTools(list(body["tools"]), "")
	// A segment of its own, in front of the items, as the server caches it.
	if i := text(body["instructions"]); i != "" {
		p.segments = append(p.segments, segment{text: []byte(i)})
	}
	// The stored items count as the client's own, and it pays for them again.
	if id := text(body["previous_response_id"]); id != "" {
		before, ok := s.stored[id]
		if !ok {
			return p, badRequest("Previous response with id '%s' not found.", id)
		}
		p.items = append(p.items, before...)
	}
	if in, ok := body["input"].(string); ok {
		p.items = append(p.items, object{"type": "message", "role": "user", "content": in})
	}
	for _, v := range list(body["input"]) {
		p.items = append(p.items, obj(v))
	}
	if len(p.items) == 0 {
		return p, badRequest("Missing required parameter: 'input'.")
	}
	for _, item := range p.items {
		p.segments = append(p.segments, segmentOf(item))
		if text(item["type"]) == "additional_tools" {
			p.tools = append(p.tools, responsesTools(list(item["tools"]), "")...)
		}
	}
	last := p.items[len(p.items)-1]
	// Codex asks for a summary in one of two ways: with an item for the provider to compact, or in words.
	p.compacts = text(last["type"]) == "compaction_trigger" || summary(last["content"])
	// The trigger is not part of the conversation, so that it is neither judged nor stored.
	if text(last["type"]) == "compaction_trigger" {
		p.items = p.items[:len(p.items)-1]
	}
	return p, r.items(s, p.items)
}

// responsesTools reads a list of tools. Codex offers its own and those of MCP servers in namespaces.
func responsesTools(all []any, space string) (out []tool) {
	for _, v := range all {
		t := obj(v)
		switch kind := text(t["type"]); kind {
		case "function":
			out = append(out, tool{name: text(t["name"]), space: space, schema: obj(t["parameters"])})
		case "custom": // it takes text by a grammar, as apply_patch does, and has no schema
			out = append(out, tool{name: text(t["name"]), space: space, kind: kind})
		case "namespace":
			out = append(out, responsesTools(list(t["tools"]), text(t["name"]))...)
		}
	}
	return out
}

// items judges the items of a conversation. The error is the first rule that does not hold, in OpenAI's words. The lock
// is held.
func (responses) items(s *Server, items []object) error {
	// Calls without a result, and all calls in their order, so that the error names the same one each time.
	open := map[string]bool{}
	var order []string
	have := map[string]bool{} // ids of reasoning
	// In one pass: a call needs its reasoning before it, reasoning needs what follows it, and at the end no call is
	// open.
	for i, item := range items {
		id := text(item["id"])
		switch kind := text(item["type"]); kind {
		// A message may come without a type.
		case "", "message":
			if r := text(item["role"]); !slices.Contains([]string{"user", "assistant", "system", "developer"}, r) {
				return badRequest("Invalid value: '%s'. Supported values are: 'assistant', 'system', "+
					"'developer', and 'user'.", r)
			}
			if c := encoded(item["content"]); c == "[]" || c == "null" {
				return badRequest("Invalid 'input[%d].content': empty array.", i)
			}
		case "agent_message":
			if text(item["author"]) == "" || text(item["recipient"]) == "" || len(list(item["content"])) == 0 {
				return badRequest("Invalid 'input[%d]': agent_message takes an author, a recipient and content.", i)
			}
			for _, c := range list(item["content"]) {
				if _, ours := s.issued[text(obj(c)["encrypted_content"])]; text(obj(c)["type"]) == "encrypted_content" && !ours {
					return badRequest("The encrypted content of item %s could not be verified.", id)
				}
			}
		case "additional_tools":
			if text(item["role"]) != "developer" || len(list(item["tools"])) == 0 {
				return badRequest("Invalid 'input[%d]': additional_tools takes the role 'developer' and tools.", i)
			}
		case "reasoning":
			have[id] = true
			if _, ok := item["summary"].([]any); !ok {
				return badRequest("Missing required parameter: 'input[%d].summary'.", i)
			}
			// Encrypted reasoning is bound to the id of its item. Without it the server would look in its store; this
			// one lets it pass.
			if proof := text(item["encrypted_content"]); proof != "" && s.issued[proof] != id {
				return badRequest("The encrypted content for item %s could not be verified. Reason: Encrypted "+
					"content could not be "+
					"decrypted or parsed.", id)
			}
			// Reasoning belongs to the item that the server sent after it. A proxy that removes the one must remove the
			// other.
			if i+1 == len(items) || s.follows[id] != "" && text(items[i+1]["id"]) != s.follows[id] {
				return badRequest("Item '%s' of type 'reasoning' was provided without its required following item.", id)
			}
		case "function_call", "custom_tool_call":
			// The same rule from the other side: a call that came with reasoning may not come back without.
			for reasoning, follower := range s.follows {
				if follower == id && id != "" && !have[reasoning] {
					return badRequest("Item '%s' of type '%s' was provided without its required 'reasoning' "+
						"item: '%s'.", id, kind,
						reasoning)
				}
			}
			call := text(item["call_id"])
			open[call], order = true, append(order, call)
		case "function_call_output", "custom_tool_call_output":
			call := text(item["call_id"])
			// A second result for a call passes here: only a call that does not exist is refused.
			if !slices.Contains(order, call) {
				return badRequest("No tool call found for function call output with call_id %s.", call)
			}
			if item["output"] == nil {
				return badRequest("Missing required parameter: 'input[%d].output'.", i)
			}
			delete(open, call)
		case "compaction":
			if s.issued[text(item["encrypted_content"])] != id {
				return badRequest("The encrypted content for item %s could not be verified.", id)
			}
		case "web_search_call", "file_search_call", "code_interpreter_call", "mcp_call": // the server ran them
		case "tool_search_call":
			call := text(item["call_id"])
			open[call], order = true, append(order, call)
		case "tool_search_output":
			call := text(item["call_id"])
			if !slices.Contains(order, call) {
				return badRequest("No tool search call found for tool search output with call_id %s.", call)
			}
			delete(open, call)
		default:
			return badRequest("Invalid value: '%s' at 'input[%d].type'.", kind, i)
		}
	}
	// Nothing in the middle of the conversation may be left open, so that this waits until the end.
	for _, call := range order {
		if open[call] {
			return badRequest("No tool output found for function call %s.", call)
		}
	}
	return nil
}

// answer stores what it sends, whether the client asked for it or not. The lock is held.
func (responses) answer(s *Server, p prompt, u Usage, says []say) answer {
	var out []object
	// For a trigger the answer is one opaque item that stands for the conversation, and nothing else.
	if p.compacts && text(obj(list(p.body["input"])[len(list(p.body["input"]))-1])["type"]) == "compaction_trigger" {
		id := s.id("cmp_")
		proof := s.issue(id)
		out, says = []object{{"type": "compaction", "id": id, "encrypted_content": proof}}, nil
	}
	for _, x := range says {
		switch {
		case x.name == "" && len(says) > 1:
			// Without reasoning in the request the model's text before its calls is left out.
			if p.body["reasoning"] == nil {
				continue
			}
			id := s.id("rs_")
			item := object{"id": id, "type": "reasoning", "summary": []any{object{"type": "summary_text",
				"text": x.text}}}
			// Clients that keep the conversation themselves ask for it; to others the server's copy suffices.
			if strings.Contains(encoded(p.body["include"]), "reasoning.encrypted_content") {
				item["encrypted_content"] = s.issue(id)
			}
			out = append(out, item)
		case x.name == "":
			out = append(out, object{"id": s.id("msg_"), "type": "message", "status": "completed", "role": "assistant",
				"content": []any{object{"type": "output_text", "text": x.text, "annotations": []any{},
					"logprobs": []any{}}}})
		case x.kind == "custom":
			item := object{"id": s.id("ctc_"), "type": "custom_tool_call", "status": "completed", "call_id": x.id,
				"name": x.name, "input": x.input}
			if x.space != "" {
				item["namespace"] = x.space
			}
			out = append(out, item)
		default:
			item := object{"id": s.id("fc_"), "type": "function_call", "status": "completed", "call_id": x.id,
				"name": x.name, "arguments": encoded(x.args)}
			if x.space != "" {
				item["namespace"] = x.space
			}
			out = append(out, item)
		}
		// From now on the two belong together, and items holds the client to it.
		if n := len(out); n > 1 && text(out[n-2]["type"]) == "reasoning" {
			s.follows[text(out[n-2]["id"])] = text(out[n-1]["id"])
		}
	}
	id := s.id("resp_")
	s.stored[id] = append(slices.Clone(p.items), out...)
	base := func(status string, output any, counted any) object {
		return object{"id": id, "object": "response", "created_at": 1, "status": status, "model": p.body["model"],
			"output": output, "usage": counted, "error": nil, "incomplete_details": nil, "instructions": nil,
			"parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "metadata": object{},
			"temperature": 1, "top_p": 1}
	}
	// Unlike Anthropic's, these input tokens include the cached ones.
	counted := object{"input_tokens": u.Input + u.Cached, "input_tokens_details": object{"cached_tokens": u.Cached},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": u.Input + u.Cached + u.Output}
	final := base("completed", out, counted)
	n := 0
	// Events have a number each, without gaps.
	var events []event
	add := func(kind string, fields object) {
		fields["type"], fields["sequence_number"] = kind, n
		n++
		events = append(events, event{kind, fields})
	}
	add("response.created", object{"response": base("in_progress", []any{}, nil)})
	for i, item := range out {
		responseItem(add, i, item)
	}
	add("response.completed", object{"response": final})
	return answer{final, events, len(events) - 1}
}

// responseItem is an item as events. Texts and parameters are cut as for the Messages API. An item of another kind,
// such as reasoning, comes whole. Clients read sequence_number and output_index, so that both must be right.
func responseItem(add func(string, object), i int, item object) {
	at := func(o object) object {
		o["output_index"], o["item_id"] = i, item["id"]
		return o
	}
	// The first event of an item shows it as it is before its content.
	begin := object{}
	for k, v := range item {
		begin[k] = v
	}
	switch text(item["type"]) {
	case "message":
		part := obj(list(item["content"])[0])
		begin["content"], begin["status"] = []any{}, "in_progress"
		add("response.output_item.added", object{"output_index": i, "item": begin})
		add("response.content_part.added", at(object{"content_index": 0,
			"part": object{"type": "output_text", "text": "", "annotations": []any{}, "logprobs": []any{}}}))
		for _, c := range chunks(text(part["text"]), 12) {
			add("response.output_text.delta", at(object{"content_index": 0, "delta": c, "logprobs": []any{}}))
		}
		add("response.output_text.done", at(object{"content_index": 0, "text": part["text"], "logprobs": []any{}}))
		add("response.content_part.done", at(object{"content_index": 0, "part": part}))
	case "function_call":
		begin["arguments"], begin["status"] = "", "in_progress"
		add("response.output_item.added", object{"output_index": i, "item": begin})
		for _, c := range chunks(text(item["arguments"]), 40) {
			add("response.function_call_arguments.delta", at(object{"delta": c}))
		}
		add("response.function_call_arguments.done", at(object{"arguments": item["arguments"]}))
	default:
		add("response.output_item.added", object{"output_index": i, "item": begin})
	}
	add("response.output_item.done", object{"output_index": i, "item": item})
}
