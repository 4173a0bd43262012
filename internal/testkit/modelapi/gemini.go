package modelapi

import (
	"net/http"
	"slices"
	"strings"
)

// gemini is generateContent and streamGenerateContent. Which of the two it is stands in the address, not in the body.
// lax: a model before Gemini 3, which demands no signatures.
type gemini struct{ stream, lax bool }

// fail has the status of a bad request for all, which is what clients of these tests look at.
func (gemini) fail(status int, _, _, message string) any {
	return object{"error": object{"code": status, "message": message, "status": "INVALID_ARGUMENT"}}
}

// judge pairs calls and results by their number, because Gemini's parts need no ids: a turn of calls must be followed
// by as many results, and come after a user's turn or after results.
func (g gemini) judge(s *Server, _ *http.Request, body object) (prompt, error) {
	p := prompt{body: body, stream: g.stream, auto: true}
	first := body // what has the tools
	if name := text(body["cachedContent"]); name != "" {
		if first = s.threads[name]; first == nil || body["tools"] != nil || body["systemInstruction"] != nil {
			return p, badRequest("CachedContent can not be used with GenerateContent request setting " +
				"system_instruction, tools or tool_config.")
		}
	}
	p.tools, p.segments = g.cacheable(first)
	for _, v := range list(first["contents"]) {
		if text(body["cachedContent"]) != "" {
			p.segments = append(p.segments, segmentOf(v))
		}
	}
	all := list(body["contents"])
	if len(all) == 0 {
		return p, badRequest("* GenerateContentRequest.contents: contents is not specified")
	}
	p.compacts = summary(all[len(all)-1])
	// Contents of one role that follow each other are one turn: Google's client sends each part of a streamed answer as
	// one, LangChain each result.
	before, open := "", 0 // the role and the calls of the turn before
	for i := 0; i < len(all); {
		role := text(obj(all[i])["role"])
		if role != "user" && role != "model" && role != "function" {
			return p, badRequest("Please use a valid role: user, model.")
		}
		calls, results, said := 0, 0, false
		for ; i < len(all) && text(obj(all[i])["role"]) == role; i++ {
			p.segments = append(p.segments, segmentOf(all[i]))
			parts := list(obj(all[i])["parts"])
			if len(parts) == 0 {
				return p, badRequest("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
			}
			c, n, err := g.parts(s, i, calls, parts)
			if err != nil {
				return p, err
			}
			// A proxy that removes a person's turn alone makes such a history, or one that begins with calls.
			if c > 0 && (before == "" || said) {
				return p, badRequest("Please ensure that function call turn comes immediately after a user turn " +
					"or after a function response turn.")
			}
			calls, results = calls+c, results+n
			has := func(thought bool) bool {
				return slices.ContainsFunc(parts, func(v any) bool {
					return text(obj(v)["text"]) != "" && truth(obj(v)["thought"]) == thought
				})
			}
			said = said || role == "model" && has(false) && !has(true)
		}
		// All or none: Gemini has no results that come later.
		if results != open {
			return p, badRequest("Please ensure that the number of function response parts is equal to the " +
				"number of function call parts of the function call turn.")
		}
		before, open = role, calls
	}
	// The model is not asked while its calls wait.
	if open > 0 {
		return p, badRequest("Please ensure that the number of function response parts is equal to the number " +
			"of function call " +
			"parts of the function call turn.")
	}
	return p, nil
}

// cacheable returns the tools of a request or of cached contents, and what comes before the contents.
func (gemini) cacheable(body object) (tools []tool, segments []segment) {
	all := list(body["tools"])
	if one := obj(body["tools"]); one != nil { // goose sends one for a list, which the API takes
		all = []any{one}
	}
	for _, t := range all {
		segments = append(segments, segmentOf(t))
		for _, f := range list(obj(t)["functionDeclarations"]) {
			// Clients send either: JSON schema, or the older subset of OpenAPI.
			schema := obj(obj(f)["parametersJsonSchema"])
			if schema == nil {
				schema = obj(obj(f)["parameters"])
			}
			tools = append(tools, tool{name: text(obj(f)["name"]), schema: schema})
		}
	}
	if v := body["systemInstruction"]; v != nil {
		segments = append(segments, segmentOf(v))
	}
	return tools, segments
}

// cached keeps contents for requests that name them. The lock is held.
func (g gemini) cached(s *Server, body object) object {
	name := s.id("cachedContents/c")
	s.threads[name] = body
	_, segments := g.cacheable(body)
	for _, v := range list(body["contents"]) {
		segments = append(segments, segmentOf(v))
	}
	input, read, _ := s.cache.request(strings.TrimPrefix(text(body["model"]), "models/"), segments, true)
	return object{"name": name, "model": body["model"], "usageMetadata": object{"totalTokenCount": input + read}}
}

// parts counts calls and results of a content, before which its turn had some calls, and checks signatures: that of the
// first call of a turn is demanded. One that is present must be that issued for the same arguments. The lock is held.
func (g gemini) parts(s *Server, i, before int, parts []any) (calls, results int, err error) {
	for j, v := range parts {
		part := obj(v)
		// A turn without calls needs no signature.
		proof := text(part["thoughtSignature"])
		if call := obj(part["functionCall"]); call != nil {
			if proof == "" && calls+before == 0 && !g.lax {
				return 0, 0, badRequest("Function call is missing a thought_signature in functionCall parts. "+
					"(contents[%d])", i)
			}
			if proof != "" && s.issued[proof] != encoded(call["args"]) {
				return 0, 0, badRequest("Thought signature is not valid (contents[%d].parts[%d])", i, j)
			}
			calls++
		}
		if r := obj(part["functionResponse"]); r != nil {
			// The API takes an object only; a plain text must be wrapped, as in {"output": …}.
			if obj(r["response"]) == nil {
				return 0, 0, badRequest("* contents[%d].parts[%d].function_response.response: must be an object", i, j)
			}
			results++
		}
	}
	return calls, results, nil
}

// answer signs the first call of a turn alone, as Gemini 3 does. Parallel calls have no signature.
func (g gemini) answer(s *Server, p prompt, u Usage, says []say) answer {
	var parts []any
	for _, x := range says {
		if x.name == "" {
			part := object{"text": x.text}
			// A text before calls is the model's reasoning, a text alone is its answer.
			if len(says) > 1 {
				part["thought"] = true
			}
			parts = append(parts, part)
			continue
		}
		part := object{"functionCall": object{"id": x.id, "name": x.name, "args": x.args}}
		// The first call: the thought is in front of it.
		if len(parts) == 1 {
			part["thoughtSignature"] = s.issue(encoded(x.args))
		}
		parts = append(parts, part)
	}
	// promptTokenCount includes what was cached, unlike Anthropic's input_tokens.
	counted := object{"promptTokenCount": u.Input + u.Cached, "cachedContentTokenCount": u.Cached,
		"candidatesTokenCount": u.Output, "totalTokenCount": u.Input + u.Cached + u.Output}
	// One part an event, in order.
	id := s.id("r")
	response := func(parts []any, last bool) object {
		c := object{"content": object{"role": "model", "parts": parts}, "index": 0}
		if last {
			c["finishReason"] = "STOP"
		}
		return object{"candidates": []any{c}, "usageMetadata": counted, "modelVersion": "test", "responseId": id}
	}
	var events []event
	for i, part := range parts {
		// Each event is a whole response with one part. There is no end marker: finishReason ends the stream.
		events = append(events, event{"", response([]any{part}, i == len(parts)-1)})
	}
	return answer{response(parts, true), events, len(events) - 1}
}
