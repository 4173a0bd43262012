package shell

import (
	"encoding/json"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Use says what a call reads, writes and runs, by the taxonomy and, for a command line, [Effects].
func Use(call content.ToolCall, t *tools.Taxonomy) tools.Use {
	call, _ = annotated(call, t, Place{})
	return t.UseCall(call)
}

// Annotated returns an entry in which each call of a shell tool says what its command reads and writes, in
// [tools.FilesField]; c is not changed. The host does this, so strategies in any language need no shell parser.
// at is where its commands begin, see [Dirs].
func Annotated(c content.Content, t *tools.Taxonomy, at Place) content.Content {
	if c.Speaker != content.AI {
		return c
	}
	copied := false
	for i, b := range c.Blocks {
		call, ok := b.(content.ToolCall)
		if !ok {
			continue
		}
		known, ok := annotated(call, t, at)
		if i < len(c.Blocks)-1 {
			if _, moves := after(call, t, at); moves {
				at = Place{Lost: true} // for what runs beside it
			}
		}
		if !ok {
			continue
		}
		// The blocks of a history are shared.
		if !copied {
			c.Blocks, copied = slices.Clone(c.Blocks), true
		}
		c.Blocks[i] = known
	}
	return c
}

// annotated returns a call with what its command reads and writes; ok is false if nothing is known.
func annotated(call content.ToolCall, t *tools.Taxonomy, at Place) (known content.ToolCall, ok bool) {
	if !t.Runs(call.Name) {
		return call, false
	}
	use := t.Use(call.Name, call.Parameters)
	if use.Command == "" {
		return call, false
	}
	if use.Dir != "" || use.Directory == tools.DirectoryOwn {
		at = Place{Dir: use.Dir}
	}
	files := EffectsAt(use.Command, at)
	if len(files.Reads)+len(files.Writes)+len(files.MayWrite) == 0 {
		return call, false
	}
	raw, err := json.Marshal(files)
	if err != nil {
		return call, false
	}
	call.Extra = call.Extra.With(content.Field{Name: tools.FilesField, Value: raw})
	return call, true
}
