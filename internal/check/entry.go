package check

import (
	"fmt"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Content returns what keeps c from being a proper entry of a conversation: an unknown speaker, no blocks, a null
// block, a call or response without its id or in the wrong place, raw JSON that is none. A block of a kind that this
// version does not know is no fault. It says nothing about the entry's place among others (see pairs.go), and nothing
// about its size. The error is a sentence for the one who made the entry; it wraps nothing, as callers wrap it in a
// sentinel of their own.
func Content(c content.Content) error { return entry(c, rawjson.Valid) }

// Parsed is [Content] for an entry whose raw JSON was cut out of JSON that was read: it is not read once more.
func Parsed(c content.Content) error { return entry(c, func([]byte) bool { return true }) }

// entry judges an entry; valid tells whether a text is JSON.
func entry(c content.Content, valid func([]byte) bool) error {
	// Known speakers are those that package turns and every transcript format can place. An unknown one would have to
	// be dropped, or guessed at, before the provider sees it.
	if !c.Speaker.Known() {
		return fmt.Errorf("unknown speaker %q: use human, ai or tool", c.Speaker)
	}
	if len(c.Blocks) == 0 {
		return fmt.Errorf("no blocks: an entry has at least one")
	}
	for i, b := range c.Blocks {
		if err := block(c.Speaker, b, valid); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	return nil
}

// block judges one block of an entry.
func block(speaker content.Speaker, b content.Block, valid func([]byte) bool) error {
	switch b := b.(type) {
	// A nil block is a programming error of an author in Go. On the wire it cannot occur.
	case nil:
		return fmt.Errorf("it is nil")
	case content.Opaque:
		return opaque(b)
	case content.ToolCall:
		if speaker != content.AI {
			return fmt.Errorf("a tool_call of speaker %q: only the ai calls tools", speaker)
		}
		// Without an id no response can be matched to the call, and providers refuse the request. Ids need not be
		// unique: recorders repeat them, and package turns pairs such calls by their order.
		if b.ID == "" || b.Name == "" {
			return fmt.Errorf("a tool_call needs id and name")
		}
		// Raw JSON is passed on as it is. Invalid text here would make the whole request invalid, not just this block.
		// Empty means that there are no parameters.
		if len(b.Parameters) > 0 && !valid(b.Parameters) {
			return fmt.Errorf("the parameters of call %q are not JSON", b.ID)
		}
	case content.ToolResponse:
		if speaker != content.Tool {
			return fmt.Errorf("a tool_response of speaker %q: only a tool responds", speaker)
		}
		// ToolName may be empty: only some providers ask for it, and it can be found by the call.
		if b.CallID == "" {
			return fmt.Errorf("a tool_response needs callId")
		}
		if len(b.Result) > 0 && !valid(b.Result) {
			return fmt.Errorf("the result of call %q is not JSON", b.CallID)
		}
	}
	return nil
}

// opaque judges a block that was not understood: of a kind of its own it is welcome, otherwise it is a broken block.
func opaque(b content.Opaque) error {
	switch kind := b.Kind(); kind {
	// A block without a type cannot be told apart from garbage, and no provider accepts one.
	case "":
		return fmt.Errorf("it has no type: %.40s", b.JSON)
	case content.KindText, content.KindToolCall, content.KindToolResponse,
		content.KindMedia, content.KindThinking, content.KindCode:
		return fmt.Errorf("a %s block that lacks a field or has one of the wrong type: %.80s", kind, b.JSON)
	default:
		return nil
	}
}
