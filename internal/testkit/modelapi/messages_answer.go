package modelapi

import (
	"cmp"
)

// answer thinks only before calls, unless [Options.Thinks] says otherwise: blocks[0] is then the thinking with its
// signature, which the next request must bring back unchanged.
func (m messages) answer(s *Server, p prompt, u Usage, says []say) answer {
	var blocks []object
	stop := "end_turn"
	if p.summarizes {
		return m.message(s, p, "compaction", u, nil)
	}
	for i, x := range says {
		if i == 0 {
			blocks = m.thoughts(s, p, x, len(says) > 1)
		}
		if x.name == "" && (x.thought || x.text == "") {
			continue
		}
		if x.name == "" {
			blocks = append(blocks, object{"type": "text", "text": x.text})
			continue
		}
		// One call is enough: the client runs the tools, and the answer goes on in the next request.
		stop = "tool_use"
		call := object{"type": "tool_use", "id": "toolu_" + x.id, "name": x.name, "input": x.args}
		if x.garbled != "" {
			call["input"] = x.garbled
		}
		blocks = append(blocks, call)
	}
	return m.message(s, p, stop, u, blocks)
}

// thoughts are the blocks of thinking before what the model says first; calls: there are calls behind it.
func (m messages) thoughts(s *Server, p prompt, x say, calls bool) (blocks []object) {
	var kinds []string
	switch {
	case x.thought, s.options.Thinks == nil && calls && m.thinks(p.body):
		kinds = []string{"thinking"}
	case s.options.Thinks != nil && m.thinks(p.body) && !p.compacts && len(p.tools) > 0:
		s.thoughts++
		kinds = s.options.Thinks(s.thoughts)
		if calls && len(kinds) == 0 && text(obj(p.body["thinking"])["type"]) == "enabled" {
			kinds = []string{"thinking"}
		}
	}
	thought := "Decide what to do: " + x.text
	for _, kind := range kinds {
		proof := s.issue(thought)
		if kind == "thinking" {
			blocks = append(blocks, object{"type": kind, "thinking": thought, "signature": proof})
			continue
		}
		blocks = append(blocks, object{"type": kind, "data": proof})
	}
	return blocks
}

// message is an answer, whole and as events.
func (m messages) message(s *Server, p prompt, stop string, u Usage, blocks []object) answer {
	// input_tokens is what was neither read from the cache nor written to it; the three together are the prompt.
	counted := object{"input_tokens": u.Input, "cache_read_input_tokens": u.Cached,
		"cache_creation_input_tokens": u.Written, "output_tokens": u.Output}
	if p.summarizes {
		blocks, counted = m.summarize(s, p, u)
	}
	m.bind(s, p, blocks)
	stop = cmp.Or(p.reply.Finish, stop)
	if blocks == nil {
		blocks = []object{}
	}
	model := cmp.Or(p.reply.Model, text(p.body["model"]))
	message := object{"id": s.id("msg_"), "type": "message", "role": "assistant", "model": model,
		"content": blocks, "stop_reason": stop, "stop_sequence": nil, "usage": counted}
	if p.tells {
		message["input_transformations"] = append([]any{}, anys(p.dropped)...)
	}
	if p.body["thread"] != nil {
		p.body["messages"] = append(list(p.body["messages"]), object{"role": "assistant", "content": anys(blocks)})
		s.threads[text(message["id"])] = p.body
	}
	begin := object{}
	for k, v := range message {
		begin[k] = v
	}
	// The stream begins with the message as it is before its content: clients fill it from the deltas.
	begin["content"], begin["stop_reason"] = []any{}, nil
	events := []event{{"message_start", object{"type": "message_start", "message": begin}},
		// Real streams have pings at any place; a client or a proxy must pass over them.
		{"ping", object{"type": "ping"}}}
	for i, b := range blocks {
		events = append(events, messageBlock(i, b, p.reply.Chunk)...)
	}
	closing := len(events)
	if n := len(blocks); n > 0 && blocks[n-1]["type"] == "text" {
		closing-- // the block's own end
	}
	// The final counts; clients add nothing up.
	events = append(events, event{"message_delta", object{"type": "message_delta",
		"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": counted}},
		event{"message_stop", object{"type": "message_stop"}})
	return answer{message, events, closing}
}

// messageBlock is a block as events. Start, deltas and stop, as the API demands; a text comes in pieces of 12 bytes and
// the parameters of a call in pieces of 40, so that clients meet values that are cut anywhere.
func messageBlock(i int, b object, size int) []event {
	delta := func(d object) event {
		return event{"content_block_delta", object{"type": "content_block_delta", "index": i, "delta": d}}
	}
	var begin object
	var deltas []event
	switch text(b["type"]) {
	case "text":
		begin = object{"type": "text", "text": ""}
		for _, c := range chunks(text(b["text"]), size) {
			deltas = append(deltas, delta(object{"type": "text_delta", "text": c}))
		}
	case "thinking":
		begin = object{"type": "thinking", "thinking": "", "signature": ""}
		for _, c := range chunks(text(b["thinking"]), max(size, 40)) {
			deltas = append(deltas, delta(object{"type": "thinking_delta", "thinking": c}))
		}
		deltas = append(deltas, delta(object{"type": "signature_delta", "signature": b["signature"]}))
	case "redacted_thinking", "compaction": // whole, without deltas
		begin = b
	default:
		begin = object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": object{}}
		input, garbled := b["input"].(string)
		if !garbled {
			input = encoded(b["input"])
		}
		for _, c := range chunks(input, 40) {
			deltas = append(deltas, delta(object{"type": "input_json_delta", "partial_json": c}))
		}
	}
	out := []event{{"content_block_start", object{"type": "content_block_start", "index": i, "content_block": begin}}}
	return append(append(out, deltas...),
		event{"content_block_stop", object{"type": "content_block_stop", "index": i}})
}

// anys is a list as JSON has it.
func anys(list []object) (out []any) {
	for _, v := range list {
		out = append(out, v)
	}
	return out
}
