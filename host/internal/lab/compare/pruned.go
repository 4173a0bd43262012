package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// prunings add up what was taken away, by tool and by file. The zero value is of no use: see newPrunings.
type prunings struct {
	rec      *recording
	taxonomy *tools.Taxonomy
	root     string

	index         map[string]int // an id in the history → the recorded entry
	entries       int
	tokens        int
	byTool, files map[string]*Share
}

// newPrunings looks at files by the taxonomy that the settings ask for.
func newPrunings(rec *recording, set config.Settings) (*prunings, error) {
	d := set.Compression.Density
	var extra []tools.Rule
	if len(d.Tools) > 0 {
		if err := json.Unmarshal(d.Tools, &extra); err != nil {
			return nil, fmt.Errorf("compression.density.tools: %w", err)
		}
	}
	taxonomy, err := tools.ForPresets(d.ToolPresets, extra)
	if err != nil {
		return nil, fmt.Errorf("compression.density.tools: %w", err)
	}
	return &prunings{
		rec: rec, taxonomy: taxonomy, root: set.Workspace.Root,
		index: map[string]int{}, byTool: map[string]*Share{}, files: map[string]*Share{},
	}, nil
}

// entry is told the id of each entry. Ids begin anew where the recorder compacted.
func (p *prunings) entry(index int, id string) {
	if p.rec.boundary[index] {
		clear(p.index)
	}
	p.index[id] = index
}

// turn is told what a turn changed.
func (p *prunings) turn(changes []outcome.Change) {
	for _, c := range changes {
		p.tokens += c.Before - c.After
		if c.Kind == outcome.Added {
			continue // what was put in the place of others, such as a summary
		}
		p.entries++
		index, recorded := p.index[c.EntryID]
		if !recorded { // it was made by the strategy before
			s := named(p.byTool, speaks(c.Speaker))
			s.Count++
			s.Tokens += c.Before - c.After
			continue
		}
		p.share(index, c.Before-c.After)
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

// part is what of an entry belongs to one tool and file.
type part struct {
	tool, file string
	weight     int
}

// share divides what an entry lost among its blocks, by their size: a change does not say which of them it was.
func (p *prunings) share(index, tokens int) {
	var parts []part
	whole := 0
	for j, b := range p.rec.entries()[index].Blocks {
		made := p.part(index, j, b)
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
		parts, whole = []part{{tool: speaks(p.rec.entries()[index].Speaker), weight: 1}}, 1
	}
	left := tokens
	counted := map[*Share]bool{} // an entry counts once for each
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
			n = int(int64(tokens) * int64(one.weight) / int64(whole))
		}
		left -= n
		add(p.byTool, one.tool, n)
		if one.file != "" {
			add(p.files, one.file, n)
		}
	}
}

// maxParts bounds in how many parts an entry is divided; the rest counts for the last.
const maxParts = 64

// part says whose a block is. Its weight is its size in bytes and one more, so that none is nothing.
func (p *prunings) part(entry, block int, b content.Block) part {
	switch b := b.(type) {
	case content.ToolCall:
		return p.called(b, len(b.Parameters))
	case content.ToolResponse:
		size := len(b.Result) + len(b.Error)
		if at, ok := p.rec.pairs.Call(turns.At{Entry: entry, Block: block}); ok {
			return p.called(p.rec.entries()[at.Entry].Blocks[at.Block].(content.ToolCall), size)
		}
		return part{tool: cmp.Or(b.ToolName, OtherText), weight: size + 1}
	case content.Text:
		return part{tool: speaks(p.rec.entries()[entry].Speaker), weight: len(b.Text) + 1}
	case content.Thinking:
		return part{tool: AIText, weight: len(b.Thought) + 1}
	case content.Code:
		return part{tool: speaks(p.rec.entries()[entry].Speaker), weight: len(b.Code) + 1}
	default:
		return part{tool: speaks(p.rec.entries()[entry].Speaker), weight: 1}
	}
}

// called is the part of a call or of its result.
func (p *prunings) called(call content.ToolCall, size int) part {
	out := part{tool: cmp.Or(call.Name, OtherText), weight: size + 1}
	use := p.taxonomy.Use(call.Name, call.Parameters)
	switch {
	case len(use.Writes) > 0:
		out.file = tools.Resolve(p.root, use.Writes[0].Path)
	case len(use.Reads) > 0:
		out.file = tools.Resolve(p.root, use.Reads[0])
	}
	return out
}

func named(m map[string]*Share, name string) *Share {
	if m[name] == nil {
		m[name] = &Share{Name: name}
	}
	return m[name]
}

// merge adds the prunings of another session.
func (p *prunings) merge(o *prunings) {
	p.entries += o.entries
	p.tokens += o.tokens
	for _, maps := range [][2]map[string]*Share{{p.byTool, o.byTool}, {p.files, o.files}} {
		for name, s := range maps[1] {
			sum := named(maps[0], name)
			sum.Count += s.Count
			sum.Tokens += s.Tokens
		}
	}
}

func (p *prunings) result() Pruned {
	return Pruned{Entries: p.entries, Tokens: p.tokens, Tools: ranked(p.byTool), Files: ranked(p.files)}
}

// ranked returns the largest shares and the sum of the rest.
func ranked(m map[string]*Share) []Share {
	out := make([]Share, 0, len(m))
	for _, s := range m {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	if len(out) <= MaxShares {
		return out
	}
	rest := Share{Rest: len(out) - MaxShares}
	for _, s := range out[MaxShares:] {
		rest.Count += s.Count
		rest.Tokens += s.Tokens
	}
	return append(out[:MaxShares:MaxShares], rest)
}
