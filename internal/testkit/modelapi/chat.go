package modelapi

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// chat is OpenAI's Chat Completions API. It has no reasoning that must come back, so that pairs of calls and results
// are what there is to judge.
type chat struct{}

// reasons finds OpenAI's first reasoning models.
var reasons = regexp.MustCompile(`^o\d`)

// fail has one type for all statuses, as clients of this API decide by the status.
func (chat) fail(_ int, kind, code, message string) any {
	e := object{"message": message, "type": cmp.Or(kind, "invalid_request_error"), "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	return object{"error": e}
}

// judge demands that the results of a message's calls follow it at once, all of them, in any order.
func (chat) judge(s *Server, _ *http.Request, body object) (prompt, error) {
	p := prompt{body: body, stream: truth(body["stream"]), auto: true}
	for _, t := range list(body["tools"]) {
		f := obj(obj(t)["function"])
		p.tools = append(p.tools, tool{name: text(f["name"]), schema: obj(f["parameters"])})
		p.segments = append(p.segments, segmentOf(t))
	}
	most, isNumber := cmp.Or(body["max_completion_tokens"], body["max_tokens"]).(float64)
	all := list(body["messages"])
	switch {
	case text(body["model"]) == "":
		return p, badRequest("you must provide a model parameter")
	case body["max_tokens"] != nil && body["max_completion_tokens"] != nil:
		return p, badRequest("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case body["max_tokens"] != nil && reasons.MatchString(text(body["model"])):
		return p, badRequest("Unsupported parameter: 'max_tokens' is not supported with this model. Use " +
			"'max_completion_tokens' instead.")
	case isNumber && most < 1:
		return p, badRequest("Invalid 'max_tokens': integer below minimum value. Expected a value >= 1.")
	case len(all) == 0:
		return p, badRequest("Invalid 'messages': empty array.")
	}
	p.compacts = summary(all[len(all)-1])
	// Calls of the last assistant message that have no result yet.
	var open []string
	before := "" // the role of the message before
	for i, v := range all {
		m := obj(v)
		p.segments = append(p.segments, segmentOf(v))
		role := text(m["role"])
		if s.options.Alternates && role == before && role != "tool" {
			return p, badRequest("Conversation roles must alternate user/assistant/user/assistant/...")
		}
		before = role
		if role == "tool" {
			id := text(m["tool_call_id"])
			at := slices.Index(open, id)
			if at < 0 {
				return p, badRequest("Invalid parameter: messages with role 'tool' must be a response to a " +
					"preceeding message " +
					"with 'tool_calls'.")
			}
			if m["content"] == nil {
				return p, badRequest("Invalid value for 'content': expected a string, got null.")
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return p, badRequest("An assistant message with 'tool_calls' must be followed by tool messages "+
				"responding to each "+
				"'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open,
				", "))
		}
		switch role {
		case "assistant":
			for _, c := range list(m["tool_calls"]) {
				open = append(open, text(obj(c)["id"]))
			}
			// Content may be missing only where calls take its place.
			if m["content"] == nil && len(open) == 0 {
				return p, badRequest("Invalid value for 'content' of messages[%d]: expected a string, got null.", i)
			}
		case "user", "system", "developer":
			if c, ok := m["content"].(string); ok && strings.TrimSpace(c) == "" || !ok && list(m["content"]) == nil ||
				encoded(m["content"]) == "[]" {
				return p, badRequest("Invalid value for 'content' of messages[%d]: expected a string, got null.", i)
			}
		default:
			return p, badRequest("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', "+
				"'tool'.", role)
		}
	}
	if len(open) > 0 {
		return p, badRequest("An assistant message with 'tool_calls' must be followed by tool messages "+
			"responding to each "+
			"'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
	}
	return p, nil
}

// answer sends a call in one chunk: clients put the arguments together by the index, and one chunk is a legal division
// of them.
func (chat) answer(s *Server, p prompt, u Usage, says []say) answer {
	// There is one text only: a script's turn begins with one, and its calls follow.
	var content, thought string
	var calls []any
	for _, x := range says {
		if x.thought {
			thought = x.text
			continue
		}
		if x.name == "" {
			content = x.text
			continue
		}
		calls = append(calls, object{"index": len(calls), "id": x.id, "type": "function",
			"function": object{"name": x.name, "arguments": cmp.Or(x.garbled, encoded(x.args))}})
	}
	stop := "stop"
	if calls != nil {
		stop = "tool_calls"
	}
	stop = cmp.Or(p.reply.Finish, stop)
	prompt := u.Input + u.Cached + u.Written
	counted := object{"prompt_tokens": prompt, "completion_tokens": u.Output, "total_tokens": prompt + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.Cached, "cache_write_tokens": u.Written}}
	id := s.id("chatcmpl-") // clients may take two answers with one id for the same message
	base := func(kind string) object {
		return object{"id": id, "object": kind, "created": 1, "model": cmp.Or(p.reply.Model, text(p.body["model"]))}
	}
	whole := base("chat.completion")
	message := object{"role": "assistant", "content": content, "refusal": nil}
	if calls != nil {
		message["tool_calls"] = calls
	}
	if thought != "" { // as vLLM, DeepSeek and others have it
		message["reasoning_content"] = thought
	}
	// One choice: agents do not ask for more.
	whole["choices"] = []any{object{"index": 0, "message": message, "finish_reason": stop, "logprobs": nil}}
	whole["usage"] = counted
	var events []event
	// delta adds one chunk. finish is nil in all but the last.
	delta := func(d object, finish any) {
		c := base("chat.completion.chunk")
		c["choices"] = []any{object{"index": 0, "delta": d, "finish_reason": finish, "logprobs": nil}}
		events = append(events, event{"", c})
	}
	// The role comes with the first chunk alone, as OpenAI sends it.
	delta(object{"role": "assistant", "content": ""}, nil)
	for _, c := range chunks(thought, p.reply.Chunk) {
		delta(object{"reasoning_content": c}, nil)
	}
	for _, c := range chunks(content, p.reply.Chunk) {
		delta(object{"content": c}, nil)
	}
	for _, c := range calls {
		delta(object{"tool_calls": []any{c}}, nil)
	}
	closing := len(events)
	delta(object{}, stop)
	// Streams report usage only on request, in a last chunk without choices. Clients that index choices[0] fail on it,
	// which is why it must be here.
	if truth(obj(p.body["stream_options"])["include_usage"]) {
		c := base("chat.completion.chunk")
		c["choices"], c["usage"] = []any{}, counted
		events = append(events, event{"", c})
	}
	return answer{whole, append(events, event{"", "[DONE]"}), closing}
}
