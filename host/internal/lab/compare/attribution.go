package compare

import (
	"cmp"
	"slices"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/shell"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// attribution finds out which tool and file a change of the history belongs to, and adds it to sum. One belongs to
// one replay and is used by its goroutine only; the recording is shared and read-only.
type attribution struct {
	rec      *recording
	taxonomy *tools.Taxonomy
	root     string
	sum      *prunings
	// Only recorded entries are in it; what a strategy made has no tool.
	index map[string]int // id of an entry in the current session's history → position of the recorded entry
}

// newAttribution takes the tool taxonomy from the variant's settings, and the directory of relative paths from the
// recording, so files are named as the strategy sees them in the replay. Where the recording has none, it is the
// workspace root of the settings. An error means that the settings for tools are invalid.
func newAttribution(rec *recording, set config.Settings, sum *prunings) (*attribution, error) {
	taxonomy, err := window.Taxonomy(set)
	if err != nil {
		return nil, err
	}
	root := rec.Transcript.Root(set.Workspace.Root)
	return &attribution{rec: rec, taxonomy: taxonomy, root: root, sum: sum, index: map[string]int{}}, nil
}

// turn adds the changes of one turn. Tokens of entries that a strategy added are subtracted, so the sum is what the
// turn really saved; only removed and trimmed entries are counted and attributed.
func (a *attribution) turn(t replay.Turn) {
	if t.Boundary {
		clear(a.index) // a new session began, in which ids start over
	}
	for _, added := range t.Added {
		// Entries before From are a history that the recorder compacted; the replay added them again under new ids.
		if added.Index >= t.From {
			a.index[added.ID] = added.Index
		}
	}
	for _, c := range t.Prepared.Outcome.Changes {
		if !c.Kind.Sent() {
			continue
		}
		a.sum.tokens += c.Before - c.After
		if c.Kind == outcome.Added {
			continue // it came in the place of others, such as a summary
		}
		a.sum.entries++
		if index, recorded := a.index[c.EntryID]; recorded {
			a.share(index, c.Before-c.After)
			continue
		}
		s := named(a.sum.byTool, speaks(c.Speaker)) // the strategy had made it before
		s.Count++
		s.Tokens += c.Before - c.After
	}
}

func speaks(s content.Speaker) string {
	switch s {
	case content.Human:
		return HumanText
	case content.AI:
		return AIText
	default:
		return OtherText
	}
}

// part is the portion of an entry that belongs to one tool and file. weight is in bytes; see [attribution.part].
type part struct {
	tool, file string
	weight     int
}

// share divides what an entry lost among its blocks in proportion to their size: a change names the entry, not the
// blocks. An entry that was removed is attributed exactly, one that was trimmed only approximately.
func (a *attribution) share(index, tokens int) {
	var parts []part
	whole := 0
	for j, b := range a.rec.entries()[index].Blocks {
		made := a.part(index, j, b)
		whole += made.weight
		at := slices.IndexFunc(parts, func(have part) bool { return have.tool == made.tool && have.file == made.file })
		if at < 0 && len(parts) == maxParts {
			at = maxParts - 1
		}
		if at < 0 {
			parts = append(parts, made)
		} else {
			parts[at].weight += made.weight
		}
	}
	if len(parts) == 0 {
		parts, whole = []part{{tool: speaks(a.rec.entries()[index].Speaker), weight: 1}}, 1
	}
	left := tokens               // the last part gets the rounding error, so the sum is exact
	counted := map[*Share]bool{} // an entry counts once per tool and per file, whatever its number of blocks
	add := func(m map[string]*Share, name string, n int) {
		s := named(m, name)
		s.Tokens += n
		if !counted[s] {
			counted[s] = true
			s.Count++
		}
	}
	for i, one := range parts {
		n := left
		if i < len(parts)-1 {
			// In 64 bits, as the product of two large counts overflows 32.
			n = int(int64(tokens) * int64(one.weight) / int64(whole))
		}
		left -= n
		add(a.sum.byTool, one.tool, n)
		if one.file != "" {
			add(a.sum.byFile, one.file, n)
		}
	}
}

// maxParts limits the parts of an entry; further ones are added to the last. The search for a part is linear, and
// recordings may hold an entry with thousands of blocks.
const maxParts = 64

// part returns the tool and file that a block belongs to. A response belongs to its call, whose parameters name the
// file. The weight is the block's size in bytes plus one, so the weights of empty blocks do not add up to 0.
func (a *attribution) part(entry, block int, b content.Block) part {
	switch b := b.(type) {
	case content.ToolCall:
		return a.called(b, len(b.Parameters))
	case content.ToolResponse:
		size := len(b.Result) + len(b.Error)
		if at, ok := a.rec.pairs.Call(turns.At{Entry: entry, Block: block}); ok {
			return a.called(a.rec.entries()[at.Entry].Blocks[at.Block].(content.ToolCall), size)
		}
		return part{tool: cmp.Or(b.ToolName, OtherText), weight: size + 1}
	case content.Text:
		return part{tool: speaks(a.rec.entries()[entry].Speaker), weight: len(b.Text) + 1}
	case content.Thinking:
		return part{tool: AIText, weight: len(b.Thought) + 1}
	case content.Code:
		return part{tool: speaks(a.rec.entries()[entry].Speaker), weight: len(b.Code) + 1}
	default:
		return part{tool: speaks(a.rec.entries()[entry].Speaker), weight: 1}
	}
}

// called returns the part of a call or of its response. A call that reads and writes counts for the file that it
// writes, one with several files for the first: dividing it further would be guesswork.
func (a *attribution) called(call content.ToolCall, size int) part {
	out := part{tool: cmp.Or(call.Name, OtherText), weight: size + 1}
	use := shell.Use(call, a.taxonomy)
	switch {
	case len(use.Writes) > 0:
		out.file = tools.Key(a.root, use.Writes[0].Path)
	case len(use.MayWrite) > 0:
		out.file = tools.Key(a.root, use.MayWrite[0])
	case len(use.Reads) > 0:
		out.file = tools.Key(a.root, use.Reads[0])
	}
	return out
}
