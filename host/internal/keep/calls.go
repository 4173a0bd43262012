package keep

import (
	"slices"

	"github.com/thresh-dev/thresh/host/internal/shell"
	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// call is a call whose result a rule names.
type call struct {
	content.ToolCall
	entry   string // that it is in
	tokens  int    // of the entry
	part    int    // of these, its own
	subject string // what it is about, for people
	rule    string
	files   []file
	tool    string // the subject of a tool's answer; "" if no pattern names the tool
	recalls bool   // it reads again what was removed
}

// file is what a call does with a file that a pattern names.
type file struct {
	subject, rule  string
	whole, deletes bool
	writes         bool // its call says what is in the file, so the result need not
	line           bool // all that is known of it is one line
}

// calls looks at what the model calls.
func (k *Keeper) calls(e Entry) {
	rules := k.set.Rules
	if rules == nil {
		rules = &Rules{}
	}
	if len(rules.paths)+len(rules.tools)+len(k.open) == 0 && !slices.ContainsFunc(e.Content.Blocks, matters) {
		return
	}
	if len(k.open) == 0 { // no answer to an earlier call matters
		k.match.Reset()
	}
	known := e.Content
	if len(rules.paths) > 0 {
		known = shell.Annotated(e.Content, k.set.Tools, k.set.Dirs.At(e.ID))
	}
	size := newSizes(e)
	for j, b := range known.Blocks {
		c, ok := b.(content.ToolCall)
		if !ok {
			continue
		}
		at := turns.At{Entry: k.entries, Block: j}
		k.match.Call(c.ID, c.Name, at)
		if named, ok := k.named(rules, c); ok {
			named.ToolCall, _ = e.Content.Blocks[j].(content.ToolCall)
			named.entry, named.tokens, named.part = e.ID, e.Tokens, size.of(j)
			k.open[at] = named
		}
	}
}

// matters reports whether a call matters whatever the rules name.
func matters(b content.Block) bool {
	c, ok := b.(content.ToolCall)
	return recalling(b) || ok && asks(c.Name)
}

// named says what the rules name of a call.
func (k *Keeper) named(rules *Rules, c content.ToolCall) (named call, ok bool) {
	named.recalls = recalling(c)
	if named.rule = rules.tool(c.Name); named.rule != "" {
		named.tool = "tool\x00" + c.Name
		if !todos.SetsAll(c.Name) {
			named.tool += "\x00" + string(c.Parameters)
		}
	}
	use := k.set.Tools.UseCall(c)
	named.subject = use.Subject
	if len(rules.paths) > 0 {
		if len(use.Reads)+len(use.Writes) > maxFiles {
			return named, named.recalls || asks(c.Name) || named.tool != ""
		}
		for _, p := range use.Reads {
			k.file(&named, p, file{whole: !use.Partial && !use.Glob})
		}
		for _, w := range use.Writes {
			k.file(&named, w.Path, file{whole: w.Whole, deletes: w.Deletes, writes: true})
		}
	}
	return named, named.recalls || asks(c.Name) || named.tool != "" || len(named.files) > 0
}

func (k *Keeper) file(c *call, p string, f file) {
	p = tools.Resolve(k.set.Root, p)
	if f.rule = k.set.Rules.path(p); f.rule != "" {
		f.subject = "path\x00" + p
		c.files = append(c.files, f)
	}
}

// results looks at what tools answer.
func (k *Keeper) results(e Entry) {
	k.typed(e)
	if len(k.open) == 0 {
		return
	}
	size := newSizes(e)
	for j, b := range e.Content.Blocks {
		r, ok := b.(content.ToolResponse)
		if !ok {
			continue
		}
		at, ok := k.match.Response(r.CallID, r.ToolName)
		if !ok {
			continue
		}
		c, ok := k.open[at]
		if !ok {
			continue
		}
		delete(k.open, at)
		k.result(e, c, r, part{j, size.of(j) + c.part})
	}
}

// result looks at what a tool answers to a call.
func (k *Keeper) result(e Entry, c call, r content.ToolResponse, p part) {
	outcome := k.set.Tools.Judge(c.ToolCall, r).Outcome
	if outcome == tools.OutcomeError {
		return
	}
	if asks(c.Name) {
		k.answered(e, c, r, p)
	}
	shows, sure := tools.ReadingOf(r), outcome == tools.OutcomeSuccess
	what := c.Name
	if c.subject != "" {
		what += " " + text.Clip(c.subject, longestName)
	}
	for _, f := range c.files {
		if !f.writes {
			if shows == tools.ReadNothing {
				continue
			}
			f.whole, f.line = f.whole && shows != tools.ReadPart, shows == tools.ReadLine
		}
		f.whole, f.deletes = f.whole && sure, f.deletes && sure
		k.newest(e, what, f, p)
	}
	if sets := todos.SetsAll(c.Name); c.tool != "" && (sets || shows != tools.ReadNothing) {
		k.newest(e, what, file{subject: c.tool, rule: c.rule, whole: sets || shows != tools.ReadPart,
			line: !sets && shows == tools.ReadLine}, p)
	}
	k.recall(e, c, r)
}
