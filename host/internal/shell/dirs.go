package shell

import (
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Place is the directory in which a command begins. The zero value is where the agent began.
type Place struct {
	Dir string
	// Lost: it may be any directory.
	Lost bool
}

// Dirs follows the directory that an agent's shell keeps between calls (see [tools.Directory]), through the entries of a
// history in the order in which they were added. It is safe for concurrent use. The zero value has seen none.
type Dirs struct {
	mu   sync.Mutex
	seen uint64
	now  Place
	// The calls since the last time when none of open waited, which are numbers in it.
	match   turns.Matcher
	calls   int
	open    map[int]move     // those not answered yet that may change the directory
	several bool             // there were more of them
	of      map[string]Place // by entry, where it is not the zero value
}

type move struct {
	call content.ToolCall
	to   Place
}

// Follow takes in what was added since the last time: the last of the n entries that the history has, of the added ones
// it ever had. rewritten: others may have gone before the first time, so where the shell is cannot be known.
func (d *Dirs) Follow(
	n int, added uint64, rewritten bool, entry func(i int) (id string, c content.Content), t *tools.Taxonomy,
) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if added <= d.seen {
		return
	}
	if d.seen == 0 {
		d.now.Lost, d.open, d.of = rewritten, map[int]move{}, map[string]Place{}
	}
	from := n - int(min(added-d.seen, uint64(n)))
	d.seen = added
	for i := from; i < n; i++ {
		id, c := entry(i)
		switch c.Speaker {
		case content.AI:
			d.call(id, c, t)
		case content.Tool:
			d.answer(c, t)
		}
	}
}

// At returns where the commands of an entry begin.
func (d *Dirs) At(id string) Place {
	if d == nil {
		return Place{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.of[id]
}

func (d *Dirs) call(id string, c content.Content, t *tools.Taxonomy) {
	if len(d.open) == 0 {
		d.match.Reset()
		d.several = false
	}
	entry := d.calls
	if d.now != (Place{}) {
		d.of[id] = d.now
	}
	for _, b := range c.Blocks {
		call, ok := b.(content.ToolCall)
		if !ok {
			continue
		}
		d.calls++
		d.match.Call(call.ID, call.Name, turns.At{Entry: entry, Block: d.calls})
		if to, moves := after(call, t, d.now); moves {
			d.several = len(d.open) > 0
			d.open[d.calls] = move{call, to}
			d.now = Place{Lost: true} // until it is answered
		}
	}
}

func (d *Dirs) answer(c content.Content, t *tools.Taxonomy) {
	for _, b := range c.Blocks {
		r, ok := b.(content.ToolResponse)
		if !ok {
			continue
		}
		call, _ := d.match.Response(r.CallID, r.ToolName)
		m, ok := d.open[call.Block]
		if !ok {
			continue
		}
		// Of several, the last to run decides, and which that was is not known.
		delete(d.open, call.Block)
		if !d.several && t.Judge(m.call, r).Outcome == tools.OutcomeSuccess {
			d.now = m.to
			if dir, ok := resetTo(r.ResultText()); ok {
				d.now = Place{Dir: dir}
			}
		}
	}
}

// resetTo reads where Claude Code has put its shell, after a command that left the directories it may work in.
func resetTo(result string) (dir string, ok bool) {
	result = strings.TrimRight(result, " \t\r\n")
	dir, ok = strings.CutPrefix(result[strings.LastIndexByte(result, '\n')+1:], "Shell cwd was reset to ")
	return dir, ok && len(dir) <= maxPath
}

// after returns where the shell is after a call that begins at from; moves is false if the call leaves it there.
func after(call content.ToolCall, t *tools.Taxonomy, from Place) (to Place, moves bool) {
	use := t.Use(call.Name, call.Parameters)
	switch use.Directory {
	case tools.DirectoryChanged:
		return Place{Lost: true}, true
	case tools.DirectoryOwn:
		return from, false
	}
	if use.Command == "" {
		return from, false
	}
	if _, to = effects(use.Command, Place{}); to == (Place{}) && use.Dir == "" {
		return from, false
	}
	if use.Directory == "" { // it may be where it was
		return Place{Lost: true}, true
	}
	if use.Dir != "" {
		from = Place{Dir: use.Dir}
	}
	if from != (Place{}) {
		_, to = effects(use.Command, from)
	}
	return to, true
}
