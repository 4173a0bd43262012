package shell

import (
	"encoding/json"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Use says what a call reads, writes and runs, as a strategy learns it. The parameters that the taxonomy names are read
// as for any tool; a command line adds what [Effects] finds in it.
func Use(call content.ToolCall, t *tools.Taxonomy) tools.Use {
	call, _ = annotated(call, t)
	return t.UseCall(call)
}

// Annotated returns an entry in which each call of a shell tool says what its command reads and writes, in
// [tools.FilesField]. The entry itself stays as it is; it is returned if nothing is known. It is done on the host's
// side, so that a strategy needs no parser of shells, and plugins in any language see the same.
func Annotated(c content.Content, t *tools.Taxonomy) content.Content {
	if c.Speaker != content.AI {
		return c
	}
	copied := false
	for i, b := range c.Blocks {
		call, ok := b.(content.ToolCall)
		if !ok {
			continue
		}
		known, ok := annotated(call, t)
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

// annotated returns a call that says what its command reads and writes; ok is false if nothing is known of it.
func annotated(call content.ToolCall, t *tools.Taxonomy) (known content.ToolCall, ok bool) {
	// Only tools that the taxonomy knows as shells have a command.
	if !t.Runs(call.Name) {
		return call, false
	}
	use := t.Use(call.Name, call.Parameters)
	if use.Command == "" {
		return call, false
	}
	files := Effects(use.Command, use.Dir)
	if len(files.Reads)+len(files.Writes)+len(files.MayWrite) == 0 {
		return call, false
	}
	// The field is in addition to what the agent wrote.
	raw, err := json.Marshal(files)
	if err != nil {
		return call, false
	}
	call.Extra = call.Extra.With(content.Field{Name: tools.FilesField, Value: raw})
	return call, true
}
