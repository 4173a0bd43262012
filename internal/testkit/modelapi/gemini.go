package modelapi

import "net/http"

// gemini is generateContent and streamGenerateContent. Which of the two it is stands in the address, not in the body.
type gemini struct{ stream bool }

// fail has the status of a bad request for all, which is what clients of these tests look at.
func (gemini) fail(status int, message string) any {
	return object{"error": object{"code": status, "message": message, "status": "INVALID_ARGUMENT"}}
}

// judge pairs calls and results by their number, because Gemini's parts need no ids: a turn of calls must be followed
// by as many results, and come after a user's turn or after results.
func (g gemini) judge(s *Server, _ *http.Request, body object) (prompt, error) {
	p := prompt{body: body, stream: g.stream, auto: true}
	for _, t := range list(body["tools"]) {
		p.segments = append(p.segments, segmentOf(t))
		for _, f := range list(obj(t)["functionDeclarations"]) {
			// Clients send either: JSON schema, or the older subset of OpenAPI.
			schema := obj(obj(f)["parametersJsonSchema"])
			if schema == nil {
				schema = obj(obj(f)["parameters"])
			}
			p.tools = append(p.tools, tool{name: text(obj(f)["name"]), schema: schema})
		}
	}
	if v := body["systemInstruction"]; v != nil {
		p.segments = append(p.segments, segmentOf(v))
	}
	all := list(body["contents"])
	if len(all) == 0 {
		return p, badRequest("* GenerateContentRequest.contents: contents is not specified")
	}
	p.compacts = summary(all[len(all)-1])
	// Only the turn directly before may have open calls.
	open := 0 // calls of the turn before
	for i, v := range all {
		p.segments = append(p.segments, segmentOf(v))
		role, parts := text(obj(v)["role"]), list(obj(v)["parts"])
		if len(parts) == 0 {
			return p, badRequest("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
		}
		if role != "user" && role != "model" && role != "function" {
			return p, badRequest("Please use a valid role: user, model.")
		}
		calls, results, err := g.parts(s, i, parts)
		if err != nil {
			return p, err
		}
		// All or none: Gemini has no results that come later.
		if results != open {
			return p, badRequest("Please ensure that the number of function response parts is equal to the " +
				"number of function " +
				"call parts of the function call turn.")
		}
		// A call that follows a model's turn would have no cause. A proxy that removes a user's turn alone makes such a
		// history.
		if calls > 0 && (i == 0 || text(obj(all[i-1])["role"]) == "model") {
			return p, badRequest("Please ensure that function call turn comes immediately after a user turn " +
				"or after a function " +
				"response turn.")
		}
		open = calls
	}
	// The model is not asked while its calls wait.
	if open > 0 {
		return p, badRequest("Please ensure that the number of function response parts is equal to the number " +
			"of function call " +
			"parts of the function call turn.")
	}
	return p, nil
}

// parts counts calls and results, and checks signatures: those of the first call of a turn are demanded. A signature
// that is present must be the one issued for the same arguments. The lock is held.
func (gemini) parts(s *Server, i int, parts []any) (calls, results int, err error) {
	for j, v := range parts {
		part := obj(v)
		// A turn without calls needs no signature.
		proof := text(part["thoughtSignature"])
		if call := obj(part["functionCall"]); call != nil {
			if proof == "" && calls == 0 {
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
func (g gemini) answer(s *Server, p prompt, u usage, says []say) answer {
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
	counted := object{"promptTokenCount": u.input + u.cached, "cachedContentTokenCount": u.cached,
		"candidatesTokenCount": u.output, "totalTokenCount": u.input + u.cached + u.output}
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
	return answer{response(parts, true), events}
}
