package llmtest

import (
	"fmt"
	"net/http"
)

// object is a JSON object.
type object = map[string]any

// created is the time of every answer, so that answers are reproducible.
const created = 1700000000

// fail sends an error that is not part of a stream.
func (openAI) fail(w http.ResponseWriter, f failure) {
	writeJSON(w, f.status, object{"error": openAIError(f)})
}

// openAIError is the error object. param and code are always present, null if they do not apply, as OpenAI sends
// them.
func openAIError(f failure) object {
	e := object{"message": f.message, "type": f.kind, "param": nil, "code": nil}
	if f.code != "" {
		e["code"] = f.code
	}
	return e
}

// whole is an answer that is not streamed.
func (openAI) whole(req Request, reply Reply) any {
	message := object{"role": "assistant", "content": reply.Text, "refusal": nil}
	if reply.Thinking != "" {
		message["reasoning_content"] = reply.Thinking
	}
	return object{"id": openAIID(req), "object": "chat.completion", "created": created, "model": reply.model(req),
		"choices": []object{{"index": 0, "message": message, "logprobs": nil, "finish_reason": reply.finish("stop")}},
		"usage":   openAIUsage(reply.usage(req))}
}

// openAIID is the id of an answer: the same in all chunks of a stream, different for each request.
func openAIID(req Request) string { return fmt.Sprintf("chatcmpl-%d", req.Number) }

// openAIUsage includes cached tokens in the prompt tokens, as OpenAI does and Anthropic does not.
func openAIUsage(u Usage) object {
	input := u.Input + u.CacheRead + u.CacheWrite
	return object{"prompt_tokens": input, "completion_tokens": u.Output, "total_tokens": input + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite,
			"audio_tokens": 0},
		"completion_tokens_details": object{"reasoning_tokens": 0, "audio_tokens": 0}}
}

// openAIChunk is one event of a stream. With include_usage, all chunks but the last have a usage of null.
func openAIChunk(req Request, model string, delta object, finish any) event {
	chunk := object{"id": openAIID(req), "object": "chat.completion.chunk", "created": created, "model": model,
		"choices": []object{{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}}
	if req.IncludeUsage {
		chunk["usage"] = nil
	}
	return event{data: chunk}
}

// The first chunk holds the role and no text.
func (openAI) open(req Request, reply Reply) []event {
	return []event{openAIChunk(req, reply.model(req), object{"role": "assistant", "content": ""}, nil)}
}

// thinking uses the field of vLLM, DeepSeek and others; OpenAI itself does not show the reasoning.
func (openAI) thinking(req Request, reply Reply, pieces []string) []event {
	var events []event
	for _, text := range pieces {
		events = append(events, openAIChunk(req, reply.model(req), object{"reasoning_content": text}, nil))
	}
	return events
}

// openText sends nothing: the protocol has no events for the start of a block.
func (openAI) openText(Reply) []event { return nil }

// Every chunk repeats id and model, so that clients need not remember the first.
func (openAI) text(req Request, reply Reply, text string) event {
	return openAIChunk(req, reply.model(req), object{"content": text}, nil)
}

// closing sends the finish reason and, if the client asked for it, the usage as a chunk without choices.
func (openAI) closing(req Request, reply Reply) []event {
	events := []event{openAIChunk(req, reply.model(req), object{}, reply.finish("stop"))}
	if req.IncludeUsage {
		events = append(events, event{data: object{"id": openAIID(req), "object": "chat.completion.chunk",
			"created": created,
			"model":   reply.model(req), "choices": []object{}, "usage": openAIUsage(reply.usage(req))}})
	}
	return append(events, event{data: "[DONE]"})
}

// trouble is an error in the middle of a stream: an error object where a chunk is expected.
func (openAI) trouble(f failure) []event { return []event{{data: object{"error": openAIError(f)}}} }
