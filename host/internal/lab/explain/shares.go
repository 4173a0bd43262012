package explain

import (
	"cmp"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/shell"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Share is what the calls of one tool, or about one file, and their responses counted when they were added.
type Share struct {
	Name string `json:"name"`
	// Calls without a response count too: their parameters are in the history.
	Calls  int `json:"calls"`
	Tokens int `json:"tokens"`
}

// shares attributes tokens to tools and files, the largest first, block by block, as one entry may hold calls of
// several tools. A file that a call both reads and writes counts once for that call. Files are known by their paths from
// root on, so one that is named in two ways is one; an empty root leaves relative paths. Responses without a call, and
// texts, are left out.
func shares(entries []content.Content, taxonomy *tools.Taxonomy, root string, counter *tokens.Counter) (
	byTool, byFile []Share,
) {
	ofTools, ofFiles := map[string]Share{}, map[string]Share{}
	add := func(to map[string]Share, name string, tokens int) {
		s := to[name]
		to[name] = Share{name, s.Calls + 1, s.Tokens + tokens}
	}
	// Without the frame that every entry has.
	count := func(speaker content.Speaker, blocks ...content.Block) int {
		return counter.Entry(content.Content{Speaker: speaker, Blocks: blocks}) -
			counter.Entry(content.Content{Speaker: speaker, Blocks: []content.Block{}})
	}
	pairs := turns.Pair(entries)
	for i, c := range entries {
		for j, b := range c.Blocks {
			call, ok := b.(content.ToolCall)
			if !ok {
				continue
			}
			n := count(content.AI, call)
			if r, answered := pairs.Response(turns.At{Entry: i, Block: j}); answered {
				n += count(content.Tool, entries[r.Entry].Blocks[r.Block])
			}
			add(ofTools, call.Name, n)
			use := shell.Use(call, taxonomy)
			var files []string
			for _, p := range slices.Concat(use.Reads, use.MayWrite) {
				files = append(files, tools.Resolve(root, p))
			}
			for _, w := range use.Writes {
				files = append(files, tools.Resolve(root, w.Path))
			}
			slices.Sort(files)
			for _, f := range slices.Compact(files) {
				add(ofFiles, f, n)
			}
		}
	}
	return largestFirst(ofTools), largestFirst(ofFiles)
}

// largestFirst sorts ties by name: the output is reproducible.
func largestFirst(all map[string]Share) (out []Share) {
	for _, s := range all {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name))
	})
	return out
}
