package llmtest

import (
	"fmt"
	"net/http"
)

// fail sends an error that is not part of a stream, with the request id header by which users report problems.
func (anthropic) fail(w http.ResponseWriter, f failure) {
	w.Header().Set("Request-Id", "req_test")
	writeJSON(w, f.status, anthropicError(f))
}

// anthropicError is the body of an error and, with the same fields, the error event of a stream.
func anthropicError(f failure) object {
	return object{"type": "error", "error": object{"type": f.kind, "message": f.message}, "request_id": "req_test"}
}

// anthropicUsage reports tokens read from and written to the cache separately from the input, as Anthropic does.
func anthropicUsage(u Usage, output int) object {
	return object{"input_tokens": u.Input, "output_tokens": output, "cache_read_input_tokens": u.CacheRead,
		"cache_creation_input_tokens": u.CacheWrite}
}

// anthropicMessage is a message as a whole answer or, without content and stop reason, as the start of a stream. The
// start of a stream reports one output token, as the API does, and the final count comes at the end.
func anthropicMessage(req Request, reply Reply, content []object, stop any, output int) object {
	return object{"id": fmt.Sprintf("msg_%d", req.Number), "type": "message", "role": "assistant",
		"model": reply.model(req), "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": anthropicUsage(reply.usage(req), output)}
}

// whole is an answer that is not streamed: the thinking and the text are blocks of one message.
func (anthropic) whole(req Request, reply Reply) any {
	content := []object{}
	if reply.Thinking != "" {
		content = append(content, object{"type": "thinking", "thinking": reply.Thinking, "signature": "sig"})
	}
	if reply.Text != "" {
		content = append(content, object{"type": "text", "text": reply.Text})
	}
	return anthropicMessage(req, reply, content, reply.finish("end_turn"), reply.usage(req).Output)
}

// textBlock is the position of the text among the blocks of a stream: after the thinking, if there is any.
func textBlock(reply Reply) int {
	if reply.Thinking != "" {
		return 1
	}
	return 0
}

// anthropicDelta, anthropicStart and anthropicStop are the events of a content block. Clients route deltas by the
// index of the block.
func anthropicDelta(block int, delta object) event {
	return event{"content_block_delta", object{"type": "content_block_delta", "index": block, "delta": delta}}
}

func anthropicStart(block int, content object) event {
	return event{"content_block_start", object{"type": "content_block_start", "index": block, "content_block": content}}
}

func anthropicStop(block int) event {
	return event{"content_block_stop", object{"type": "content_block_stop", "index": block}}
}

// open announces the message, then sends a ping, which clients must ignore.
func (anthropic) open(req Request, reply Reply) []event {
	return []event{
		{"message_start", object{"type": "message_start", "message": anthropicMessage(req, reply, []object{}, nil, 1)}},
		{"ping", object{"type": "ping"}},
	}
}

// thinking streams the thinking as a block of its own, closed by a signature, which clients must send back unchanged.
func (anthropic) thinking(_ Request, reply Reply, pieces []string) []event {
	events := []event{anthropicStart(0, object{"type": "thinking", "thinking": "", "signature": ""})}
	for _, text := range pieces {
		events = append(events, anthropicDelta(0, object{"type": "thinking_delta", "thinking": text}))
	}
	return append(events, anthropicDelta(0, object{"type": "signature_delta", "signature": "sig"}), anthropicStop(0))
}

// openText starts the text block. An answer without text has no such block.
func (anthropic) openText(reply Reply) []event {
	return []event{anthropicStart(textBlock(reply), object{"type": "text", "text": ""})}
}

// text is one piece of the answer; pieces are cut between characters, but not between tokens.
func (anthropic) text(_ Request, reply Reply, text string) event {
	return anthropicDelta(textBlock(reply), object{"type": "text_delta", "text": text})
}

// closing ends the text, then sends the stop reason together with the final usage.
func (anthropic) closing(req Request, reply Reply) []event {
	var events []event
	if reply.Text != "" {
		events = append(events, anthropicStop(textBlock(reply)))
	}
	usage := reply.usage(req)
	return append(events,
		event{"message_delta", object{"type": "message_delta",
			"delta": object{"stop_reason": reply.finish("end_turn"), "stop_sequence": nil},
			"usage": anthropicUsage(usage, usage.Output)}},
		event{"message_stop", object{"type": "message_stop"}})
}

// trouble is an error after the stream has begun: the status is already 200, so only the event tells.
func (anthropic) trouble(f failure) []event { return []event{{"error", anthropicError(f)}} }
