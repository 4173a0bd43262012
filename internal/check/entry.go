package check

import (
	"fmt"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Content returns what keeps c from being a proper entry of a conversation: an unknown speaker, no blocks, a null
// block, a call or response without its id or in the wrong place, invalid raw JSON. A block of unknown kind is no
// fault. It judges neither the entry's place among others (pairs.go) nor its size. The error is a
// [*content.PathError] with a sentence for whoever made the entry: callers wrap it in a sentinel of their own.
func Content(c content.Content) error { return entry(c, rawjson.Valid) }

// Parsed is [Content] for an entry cut out of JSON that was parsed: its raw JSON is not read again.
func Parsed(c content.Content) error { return entry(c, func([]byte) bool { return true }) }

func entry(c content.Content, valid func([]byte) bool) error {
	// A provider's request has no place for an unknown speaker.
	if !c.Speaker.Known() {
		return refused("speaker", "unknown speaker %q: use human, ai or tool", c.Speaker)
	}
	if len(c.Blocks) == 0 {
		return refused("blocks", "no blocks: an entry has at least one")
	}
	for i, b := range c.Blocks {
		if field, err := block(c.Speaker, b, valid); err != nil {
			path := fmt.Sprintf("blocks[%d]", i)
			if field != "" {
				path += "." + field
			}
			return refused(path, "block %d: %w", i, err)
		}
	}
	return nil
}

func refused(path, format string, values ...any) error {
	return &content.PathError{Path: path, Err: fmt.Errorf(format, values...)}
}

func block(speaker content.Speaker, b content.Block, valid func([]byte) bool) (field string, err error) {
	switch b := b.(type) {
	// A programming error of an author in Go; it cannot occur on the wire.
	case nil:
		return "", fmt.Errorf("it is nil")
	case content.Opaque:
		return opaque(b)
	case content.ToolCall:
		if speaker != content.AI {
			return "", fmt.Errorf("a tool_call of speaker %q: only the ai calls tools", speaker)
		}
		// Without an id no response matches the call, and providers refuse the request. Ids need not be unique:
		// recorders repeat them, and package turns pairs such calls by their order.
		if b.ID == "" {
			return "id", fmt.Errorf("a tool_call needs an id")
		}
		if b.Name == "" {
			return "name", fmt.Errorf("a tool_call needs a name")
		}
		// Invalid raw JSON would make the whole request invalid. Empty means no parameters.
		if len(b.Parameters) > 0 && !valid(b.Parameters) {
			return "parameters", fmt.Errorf("the parameters of call %q are not JSON", b.ID)
		}
	case content.ToolResponse:
		if speaker != content.Tool {
			return "", fmt.Errorf("a tool_response of speaker %q: only a tool responds", speaker)
		}
		// ToolName may be empty: only some providers ask for it, and the call has it.
		if b.CallID == "" {
			return "callId", fmt.Errorf("a tool_response needs callId")
		}
		if len(b.Result) > 0 && !valid(b.Result) {
			return "result", fmt.Errorf("the result of call %q is not JSON", b.CallID)
		}
	}
	return "", nil
}

// opaque judges a block that was not understood: a kind of its own is welcome, anything else is a broken block.
func opaque(b content.Opaque) (field string, err error) {
	switch kind := b.Kind(); {
	case kind == "":
		return "type", fmt.Errorf("it has no type: %.40s", b.JSON)
	case content.KindNamed(kind) != nil:
		field = b.Lacks()
		return field, fmt.Errorf("a %s block needs %s, a string: %.80s", kind, field, b.JSON)
	}
	return "", nil
}
