package transcript

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// blockTypes are the blocks of the native form and who may say them; "" is anyone. The editor of an agent's author
// shows the meanings.
var blockTypes = []struct {
	block   content.Block
	speaker content.Speaker
	meaning string
}{
	{content.Text{}, "", "What a speaker said."},
	{content.ToolCall{}, content.AI, "The model asks for a tool to be run."},
	{content.ToolResponse{}, content.Tool, "What a tool returned."},
	{content.Media{}, "", "An image, a document, audio or video."},
	{content.Thinking{}, "", "The model's reasoning."},
	{content.Code{}, "", "A piece of code."},
}

// fieldMeanings says what the fields of blocks mean, if the name does not.
var fieldMeanings = map[string]string{
	"tool_call.id":           "Pairs the call with its response. Ids may repeat in a session.",
	"tool_call.name":         "The tool.",
	"tool_call.parameters":   "The call's parameters, usually an object.",
	"tool_response.callId":   "The call's id.",
	"tool_response.toolName": "The tool.",
	"tool_response.result":   "The tool result, usually a string.",
	"tool_response.error":    "Why the call failed; absent or empty if it did not.",
	"media.mimeType":         "Such as image/png.",
	"media.data":             "Base64 or a URL, as encoding says.",
	"media.encoding":         "base64 or url.",
	"thinking.signature":     "The provider's proof of the thought.",
}

// EntrySchema returns the JSON Schema of an entry of the native form, as history.add takes it. It is made from the
// encoder of blocks: what an empty block has is required, what a full one has in addition is optional.
func EntrySchema() json.RawMessage {
	// The encoder sorts keys, so the schema is the same in every run.
	type schema = map[string]any
	// One form for each kind, and one for all others. An entry with a block that is almost of a known kind fits none.
	var blocks []schema
	var kinds []string
	placed := []schema{} // which blocks only one speaker has
	for _, t := range blockTypes {
		kind := t.block.Kind()
		kinds = append(kinds, kind)
		// An agent that leaves out what the encoder always writes would get another block back.
		required, all := fieldNames(t.block), fieldNames(filled(t.block))
		properties := schema{}
		for _, f := range all {
			properties[f.name] = fieldSchema(kind, f)
		}
		var names []string
		for _, f := range required {
			names = append(names, f.name)
		}
		blocks = append(blocks, schema{"type": "object", "title": kind, "description": t.meaning,
			"required": names, "properties": properties})
		// A rule next to the forms: an editor then says that the block is in the wrong entry, not that it is no block.
		if t.speaker != "" {
			placed = append(placed, schema{
				"if": schema{"properties": schema{"speaker": schema{"not": schema{"const": t.speaker}}}},
				"then": schema{"properties": schema{"blocks": schema{"items": schema{
					"properties": schema{"type": schema{"not": schema{"const": kind}}}}}}},
			})
		}
	}
	blocks = append(blocks, schema{"type": "object", "title": "opaque", "required": []string{"type"},
		"description": "A block of another type, which is carried as it is. history.add wants opaque: true for it.",
		"properties":  schema{"type": schema{"type": "string", "not": schema{"enum": kinds}}}})
	raw, err := json.MarshalIndent(schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "An entry of a history", "type": "object",
		"required": []string{"speaker", "blocks"},
		"properties": schema{
			"speaker": schema{"enum": []content.Speaker{content.Human, content.AI, content.Tool}},
			"blocks":  schema{"type": "array", "minItems": 1, "items": schema{"anyOf": blocks}},
			"metadata": schema{"type": "object", "description": "Anything; no model sees it.", "properties": schema{
				"pinned": schema{"type": "boolean",
					"description": "Keeps the entry, whatever a strategy would remove."},
			}},
		},
		"allOf": placed,
	}, "", "  ")
	if err != nil {
		panic(err) // it holds plain values only
	}
	return append(raw, '\n')
}

// filled returns a block in which every field has a value. It uses reflection, so a new field of a block is in the
// schema at once.
func filled(b content.Block) content.Block {
	v := reflect.New(reflect.TypeOf(b)).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Kind() == reflect.String:
			f.SetString("x")
		case f.Type() == reflect.TypeFor[json.RawMessage]():
			f.SetBytes([]byte("{}"))
		}
	}
	return v.Interface().(content.Block)
}

func fieldNames(b content.Block) object { return asObject(content.AppendBlock(nil, b)) }

// fieldSchema returns the schema of one field; its value in a filled block tells its type: a string, or any JSON.
func fieldSchema(kind string, f field) map[string]any {
	out := map[string]any{}
	key := kind + "." + f.name
	if meaning := fieldMeanings[key]; meaning != "" {
		out["description"] = meaning
	}
	switch {
	case f.name == "type":
		out["const"] = kind
	case f.value[0] == '"':
		out["type"] = "string"
		if slices.Contains([]string{"tool_call.id", "tool_call.name", "tool_response.callId"}, key) {
			out["minLength"] = 1 // what pairs calls and responses is never empty
		}
	// A new type of field in a block needs a case here. Tests write the schema, so no user meets this panic.
	case f.value[0] != '{':
		panic(fmt.Sprintf("transcript: %s is of a type that has no schema", key))
	}
	return out // any JSON
}
