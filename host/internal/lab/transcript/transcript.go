package transcript

import (
	"cmp"
	"encoding/json"
	"path"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Transcript is one recorded conversation. Readers fill it completely; callers that build one need only Entries. It
// does not refer to the file's buffers.
type Transcript struct {
	Format Format
	// ID is the recorder's id of the session; "" if there is none.
	ID string
	// Dir is the absolute path of the directory in which the recorded agent worked; "" if unknown. Relative paths in
	// tool calls start from there: see [Transcript.Root].
	Dir string
	// System is what the provider takes as system prompt or instructions, in blocks of text. It is no part of the
	// history: no strategy sees it, and every request holds it. A leading message of another role than "system", such
	// as "developer", has that role in a field "role" of its first block.
	System  []content.Block
	Entries []content.Content
	// Lines holds the line of each entry in the file, counted from 1; nil for a transcript that was not read.
	Lines []int
	// Boundaries are the recorder's compactions, in order.
	Boundaries []Boundary
	// Usage holds the provider's token counts of each request that the recorder reported, in the order of the entries;
	// nil if the file has none. It continues across Boundaries.
	Usage []Usage
	// CountsReads says that the usage counts what was read from the prompt cache, and CountsWrites what was written to it,
	// also where that was nothing: it then was nothing, and is not unknown.
	CountsReads, CountsWrites bool
	// Elsewhere is how many requests are another session's, whose conversation this one repeats: they are in no Usage and
	// in no [Transcript.Requests].
	Elsewhere int
	// Plan is what was used of the windows of the user's plan while the session ran, by all that used it; nil if the
	// file does not say.
	Plan []provider.Part
	// Model is the model that answered last, by the recorder's name; "" if unknown.
	Model string
	// ContextLimit is what the recorder took for the model's context limit, in tokens; 0 if unknown.
	ContextLimit int
	// Tools are the file's tool schemas, as raw JSON in the provider's form; nil if there were none.
	Tools json.RawMessage
	// Bare is set if a native history was a plain list, without an object around it. [Write] then writes a list again.
	Bare bool
	// Extra holds the other fields of the object around a native history, in their order.
	Extra content.Fields
	// Notes say what was left out, not understood, or odd. If all are [Note.Routine], the transcript is complete.
	Notes []Note

	answers []answered // in the order of the entries

	// understood is the share of the conversation that the format explained, from 0 to 1.
	understood float64
}

// Root returns the directory that relative paths in tool calls start from: the recorded one, else fallback, the setting
// workspace.root.
func (t *Transcript) Root(fallback string) string { return cmp.Or(t.Dir, fallback) }

// window notes the context limit. The last one counts: the model may have changed.
func (t *Transcript) window(raw []byte) {
	if n, ok := ordered.Whole(raw); ok && n > 0 {
		t.ContextLimit = n
	}
}

// workedIn notes the agent's directory. The first one counts: an agent that changes its directory still began there.
func (t *Transcript) workedIn(dir string) {
	if t.Dir == "" && path.IsAbs(dir) {
		t.Dir = path.Clean(dir)
	}
}

const (
	// BoundaryCompact is a compaction of Claude Code: the entries from Index on begin with its summary.
	BoundaryCompact = "compact_boundary"
	// BoundaryMicrocompact is Claude Code clearing old tool results; the conversation continues without a summary.
	BoundaryMicrocompact = "microcompact_boundary"
	// BoundaryCompacted is a compaction of Codex: the entries from Index on begin with the context that replaced
	// everything before.
	BoundaryCompacted = "compacted"
	// BoundaryCompaction is a compaction of another agent: the entries from Index on begin with its summary, and may
	// repeat entries that it kept.
	BoundaryCompaction = "compaction"
)

type Boundary struct {
	// Index is the first entry after it; it may be the number of entries.
	Index int `json:"index"`
	// Kind is one of the constants above, or what a native file said.
	Kind string `json:"kind"`
	// Meta is what the recorder said about it, for example the tokens before; nil if nothing.
	Meta json.RawMessage `json:"meta,omitempty"`
}

// Replaces reports whether the entries before the boundary left the model's context. A microcompaction only clears
// results. Unknown kinds of native files count as compactions.
func (b Boundary) Replaces() bool { return b.Kind != BoundaryMicrocompact }

// Note is a remark for people about what was read or written.
type Note = messages.Note

// Role returns metadata.role, which marks entries that are no ordinary turns of the conversation: "system", "developer"
// and other roles of a recorder; "" for ordinary ones.
func Role(c content.Content) string { return rawjson.FieldText(c.Metadata, "role") }
