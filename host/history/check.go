package history

import (
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/sdk/content"
)

// CheckContent returns what keeps c from being a proper entry of a conversation: an unknown speaker, no blocks, a null
// block, a call or response without its id or in the wrong place, raw JSON that is none. A block of a kind that this
// version does not know is no fault.
func CheckContent(c content.Content) error {
	if !c.Speaker.Known() {
		return fmt.Errorf("unknown speaker %q: use human, ai or tool", c.Speaker)
	}
	if len(c.Blocks) == 0 {
		return fmt.Errorf("no blocks: an entry has at least one")
	}
	for i, b := range c.Blocks {
		if err := checkBlock(b); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
		switch b.(type) {
		case content.ToolCall:
			if c.Speaker != content.AI {
				return fmt.Errorf("block %d: a tool_call of speaker %q: only the ai calls tools", i, c.Speaker)
			}
		case content.ToolResponse:
			if c.Speaker != content.Tool {
				return fmt.Errorf("block %d: a tool_response of speaker %q: only a tool responds", i, c.Speaker)
			}
		}
	}
	return nil
}

func checkBlock(b content.Block) error {
	switch b := b.(type) {
	case nil:
		return fmt.Errorf("it is nil")
	case content.Opaque:
		if b.Kind() == "" {
			return fmt.Errorf("it has no type: %.40s", b.JSON)
		}
		switch b.Kind() {
		case content.KindText, content.KindToolCall, content.KindToolResponse, content.KindMedia, content.KindThinking, content.KindCode:
			return fmt.Errorf("a %s block that lacks a field or has one of the wrong type: %.80s", b.Kind(), b.JSON)
		}
	case content.ToolCall:
		if b.ID == "" || b.Name == "" {
			return fmt.Errorf("a tool_call needs id and name")
		}
		if len(b.Parameters) > 0 && !json.Valid(b.Parameters) {
			return fmt.Errorf("parameters of call %q are not JSON", b.ID)
		}
	case content.ToolResponse:
		if b.CallID == "" {
			return fmt.Errorf("a tool_response needs callId")
		}
		if len(b.Result) > 0 && !json.Valid(b.Result) {
			return fmt.Errorf("result of call %q is not JSON", b.CallID)
		}
	}
	return nil
}
