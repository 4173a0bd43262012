package transcript

import (
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// checkMessage returns what keeps a message from being one of the form, and the part that is to blame; -1 is the whole
// message. It asks only for what the reader needs: what a provider adds to its form must pass. The errors are for
// authors of agents: they name the JSON field and what was expected, with at most 40 bytes of what was found.
func checkMessage(f Format, o object) (part int, err error) {
	if f == OpenAIResponses {
		return checkItem(o)
	}
	role := o.text("role")
	switch {
	case o.raw("role") == nil && o.raw("speaker") != nil:
		return -1, errors.New("it is an entry of the native form, which is added as one of entries, without format")
	case role == "":
		return -1, errors.New(`"role" is missing`)
	}
	if f == AnthropicMessages {
		return checkAnthropic(role, o)
	}
	return checkChat(role, o)
}

// checkAnthropic judges a message of the Anthropic API. The API has no role "system" in messages, but agents send it to
// servers that accept it: it is read as an instruction, and given back unchanged.
func checkAnthropic(role string, o object) (part int, err error) {
	if !slices.Contains([]string{"user", "assistant", "system"}, role) {
		return -1, fmt.Errorf("unknown role %q; want user or assistant", clip([]byte(role)))
	}
	// The usual mistake: messages of one library, and the format of another. Reading on would lose the calls.
	if o.has("tool_calls") {
		return -1, errors.New(`"tool_calls" is of the form openai-chat`)
	}
	// The rules that pair calls and results: the provider would refuse the next request with an error that does not say
	// where it came from. Everything else about a part is between the agent and its provider.
	return checkParts(o.raw("content"), func(kind string, part object) error {
		switch {
		case kind == "tool_use" && role != "assistant":
			return fmt.Errorf("a tool_use in a message of the role %s: only the assistant calls tools", role)
		case kind == "tool_use" && (part.text("id") == "" || part.text("name") == ""):
			return errors.New("a tool_use needs id and name")
		case kind == "tool_use" && part.has("input") && rawjson.New(part.raw("input")).Kind() != '{':
			return fmt.Errorf("the input of a tool_use is %s, not an object", clip(part.raw("input")))
		case kind == "tool_result" && role != "user":
			return fmt.Errorf("a tool_result in a message of the role %s: results are the user's", role)
		case kind == "tool_result" && part.text("tool_use_id") == "":
			return errors.New("a tool_result needs tool_use_id")
		}
		return nil
	})
}

// checkChat judges a message of the OpenAI chat API, which has a role for tools, and their calls outside of content.
func checkChat(role string, o object) (part int, err error) {
	switch role {
	case roleSystem, roleDeveloper, roleUser:
	case roleAssistant:
		if o.has("function_call") {
			return -1, errors.New(`"function_call" is the old form of tool_calls, which is not read`)
		}
		if o.has("tool_calls") {
			if err := checkCalls(o.raw("tool_calls")); err != nil {
				return -1, err
			}
		}
		// Next to calls, a refusal or sound, the API has null.
		if !o.has("content") {
			return -1, nil
		}
	case "tool":
		if o.text("tool_call_id") == "" {
			return -1, errors.New("a message of the role tool needs tool_call_id")
		}
	default:
		return -1, fmt.Errorf("unknown role %q; want system, developer, user, assistant or tool", clip([]byte(role)))
	}
	return checkParts(o.raw("content"), func(kind string, _ object) error {
		switch kind {
		case "tool_use", "tool_result", "thinking":
			return fmt.Errorf("%q is of the form anthropic", kind)
		}
		return nil
	})
}

// checkCalls judges the tool calls of a chat message. Tools that take text have "custom" in place of "function".
func checkCalls(raw []byte) error {
	calls, ok := elements(raw)
	if !ok {
		return fmt.Errorf("tool_calls is %s, not a list", clip(raw))
	}
	for i, raw := range calls {
		o := asObject(raw)
		// Without an id the response could not be paired, and the call would be open for ever.
		if o.text("id") == "" || calledFunction(o).text("name") == "" {
			return fmt.Errorf("call %d of tool_calls needs id and a function with a name", i)
		}
	}
	return nil
}

// checkItem judges an item of the Responses API. Items of unknown types pass.
func checkItem(o object) (part int, err error) {
	switch t := o.text("type"); {
	case t == "message" || t == "" && o.has("role"):
		switch role := o.text("role"); role {
		case roleSystem, roleDeveloper, roleUser, roleAssistant:
		default:
			return -1, fmt.Errorf("unknown role %q; want system, developer, user or assistant", clip([]byte(role)))
		}
		return checkParts(o.raw("content"), func(kind string, _ object) error {
			if !isResponsesPart(kind) {
				return fmt.Errorf("%q is no part of the form openai-responses, which has input_text, output_text and "+
					"so on",
					clip([]byte(kind)))
			}
			return nil
		})
	case t == "":
		return -1, errors.New(`"type" is missing`)
	// Calls of other types may be run by the provider, and then have no call_id.
	case t == "function_call" || t == "custom_tool_call":
		if o.text("call_id") == "" || o.text("name") == "" {
			return -1, fmt.Errorf("a %s needs call_id and name", t)
		}
	case t == "function_call_output" || t == "custom_tool_call_output":
		if o.text("call_id") == "" {
			return -1, fmt.Errorf("a %s needs call_id", t)
		}
	}
	return -1, nil
}

// checkParts judges the content of a message, a string or a list of typed parts, by the rules that all forms share;
// check has those of a role or a form.
func checkParts(raw []byte, check func(kind string, part object) error) (part int, err error) {
	if _, ok := rawjson.Text(raw); ok {
		return -1, nil
	}
	// No provider takes a message without parts.
	parts, ok := elements(raw)
	switch {
	case rawjson.IsNull(raw):
		return -1, errors.New(`"content" is missing`)
	case !ok:
		return -1, fmt.Errorf("content is %s, neither text nor a list of parts", clip(raw))
	case len(parts) == 0:
		return -1, errors.New("content has no parts")
	}
	for i, raw := range parts {
		o := asObject(raw)
		kind := o.text("type")
		switch {
		case o == nil:
			return i, fmt.Errorf("it is %s, not an object", clip(raw))
		case kind == "":
			return i, errors.New(`"type" is missing`)
		}
		// A native block of these kinds that cannot be read would be refused with words about the native form.
		if _, ok := rawjson.Text(o.raw("text")); kind == "text" && !ok {
			return i, errors.New(`a text part needs "text"`)
		}
		if _, ok := rawjson.Text(o.raw("thinking")); kind == "thinking" && !ok {
			return i, errors.New(`a thinking part needs "thinking"`)
		}
		if err := check(kind, o); err != nil {
			return i, err
		}
	}
	return -1, nil
}
