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
	p := content.Apart(b)
	switch {
	// Programming errors of an author in Go; they cannot occur on the wire.
	case b == nil:
		return "", fmt.Errorf("it is nil")
	case p.Number == 0:
		return "", fmt.Errorf("it is a %T: use a plain value of package content", b)
	case p.Type == "":
		return opaque(b.(content.Opaque))
	case p.Speaker != "" && p.Speaker != speaker:
		return "", fmt.Errorf("a %s belongs to speaker %q, not %q", p.Type, p.Speaker, speaker)
	}
	for i, f := range p.Fields {
		switch value := p.Values[i]; {
		case value == "" && f.Required():
			return f.Name, fmt.Errorf("a %s block needs %s, a string that is not empty", p.Type, f.Name)
		// Invalid raw JSON would make the whole request invalid. None is needed.
		case value != "" && f.JSON() && !valid(p.JSON(i)):
			return f.Name, fmt.Errorf("the field %s of a %s is not JSON", f.Name, p.Type)
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
