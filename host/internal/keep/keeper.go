package keep

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/shell"
	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// message is what a message is, for people.
const message = "a message"

// maxFiles is the number of files above which a call or a message is no reading of a file any more.
const maxFiles = 100

// Settings say what is kept.
type Settings struct {
	Rules *Rules // nil: only what people mark
	Tools *tools.Taxonomy
	// Root is the directory of relative paths, and Dirs says where commands begin.
	Root string
	Dirs *shell.Dirs
	// Bound is how many tokens kept entries may count.
	Bound int
}

// same reports whether the same entries match. Compiled rules may have been forgotten and made again.
func (s Settings) same(o Settings) bool {
	return s.Tools == o.Tools && s.Root == o.Root && slices.Equal(s.patterns(), o.patterns())
}

func (s Settings) patterns() []string {
	if s.Rules == nil {
		return nil
	}
	return s.Rules.patterns
}

// Entry is an entry of a history.
type Entry struct {
	ID      string
	Tokens  int
	Content content.Content
}

// Keeper follows a history and decides what of it is kept. Each entry is looked at once, when it is new, and all again
// if the settings have changed. The zero value has seen nothing. It is for one goroutine.
type Keeper struct {
	set     Settings
	bound   int
	seen    uint64
	entries int // how many were looked at, which numbers them for match

	match turns.Matcher
	open  map[turns.At]call // calls that are not answered and that a rule names

	held     map[string]*held    // by id
	holders  map[string][]string // the entries that hold a file or an answer, by subject
	fresh    []*held             // those for which the bound was not asked
	used     int                 // tokens of those that are kept
	over     map[string]overrun  // by rule: what was over the bound
	unclosed []string            // messages in which <keep> has no end; the first ones

	recalls  []recall        // what the model read again since a person spoke, in order
	recalled map[string]bool // those of them that are kept, by id

	// moved are the entries whose metadata may say something else than was decided.
	moved map[string]bool
}

// call is a call whose result a rule names.
type call struct {
	content.ToolCall
	entry   string // that it is in
	tokens  int    // of the entry
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
}

// held is an entry that a rule names.
type held struct {
	id, rule string
	what     string // it is, for people
	number   int    // in the order in which entries were added
	tokens   int    // with the call that is kept with it
	caller   string // the entry of the last call that is counted in tokens
	subjects int    // of how many it is the newest
	was      bool   // kept before the bound was asked
	kept     bool
}

// overrun is what did not fit the bound, of one rule.
type overrun struct {
	entries int
	first   string // names the first of them
}

// Follow takes in what was added since the last time: the last of the n entries that the history has, of the added ones
// that it ever had.
func (k *Keeper) Follow(set Settings, n int, added uint64, entry func(i int) Entry) {
	if k.held == nil || !k.set.same(set) {
		moved := k.moved
		if moved == nil {
			moved = map[string]bool{}
		}
		*k = Keeper{moved: moved, open: map[turns.At]call{}, held: map[string]*held{}, holders: map[string][]string{},
			over: map[string]overrun{}}
	}
	k.set = set
	if k.bound != set.Bound {
		k.bound = set.Bound
		k.again()
	}
	if added <= k.seen {
		return
	}
	from := n - int(min(added-k.seen, uint64(n)))
	k.seen = added
	for i := from; i < n; i++ {
		k.look(entry(i))
		k.entries++
	}
	k.admit()
}

// look finds out whether a rule names an entry.
func (k *Keeper) look(e Entry) {
	rule := check.KeptBy(e.Content)
	if e.Content.Pinned() && rule == "" { // whoever added it keeps it
		return
	}
	switch e.Content.Speaker {
	case content.Human:
		k.message(e)
	case content.AI:
		k.calls(e)
	case content.Tool:
		k.results(e)
	}
	if rule != "" { // maybe one that is no more
		k.moved[e.ID] = true
	}
	h := k.held[e.ID]
	if h == nil && !k.isRecall(e) { // a copy of what has the words
		if name := k.words(e.Content); name != "" {
			h = k.hold(e, name, "an entry of the "+string(e.Content.Speaker))
		}
	}
	if h != nil {
		h.was = rule != "" && rule != Recalled && rule != Newest
	}
}

// message looks at what a person says.
func (k *Keeper) message(e Entry) {
	if check.Summary(e.Content) { // quotes what people said
		return
	}
	if spoke(e.Content) {
		k.recalls = nil
	}
	marked, open := tagged(e.Content)
	if marked {
		k.hold(e, Tag, message)
	}
	if open && len(k.unclosed) < maxNamed {
		k.unclosed = append(k.unclosed, e.ID)
	}
	if k.set.Rules == nil || len(k.set.Rules.paths) == 0 {
		return
	}
	for _, p := range included(e.Content) {
		p = tools.Resolve(k.set.Root, p)
		if rule := k.set.Rules.path(p); rule != "" {
			k.newest(e, message, file{subject: "path\x00" + p, rule: rule, whole: true})
		}
	}
}

// calls looks at what the model calls.
func (k *Keeper) calls(e Entry) {
	rules := k.set.Rules
	if rules == nil {
		rules = &Rules{}
	}
	if len(rules.paths)+len(rules.tools)+len(k.open) == 0 && !slices.ContainsFunc(e.Content.Blocks, recalling) {
		return
	}
	if len(k.open) == 0 { // no answer to an earlier call matters
		k.match.Reset()
	}
	known := e.Content
	if len(rules.paths) > 0 {
		known = shell.Annotated(e.Content, k.set.Tools, k.set.Dirs.At(e.ID))
	}
	for j, b := range known.Blocks {
		c, ok := b.(content.ToolCall)
		if !ok {
			continue
		}
		at := turns.At{Entry: k.entries, Block: j}
		k.match.Call(c.ID, c.Name, at)
		if named, ok := k.named(rules, c); ok {
			named.ToolCall, _ = e.Content.Blocks[j].(content.ToolCall)
			named.entry, named.tokens = e.ID, e.Tokens
			k.open[at] = named
		}
	}
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
			return named, named.recalls || named.tool != ""
		}
		for _, p := range use.Reads {
			k.file(&named, p, file{whole: !use.Partial && !use.Glob})
		}
		for _, w := range use.Writes {
			k.file(&named, w.Path, file{whole: w.Whole, deletes: w.Deletes})
		}
	}
	return named, named.recalls || named.tool != "" || len(named.files) > 0
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
	if len(k.open) == 0 {
		return
	}
	for _, b := range e.Content.Blocks {
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
		result := k.set.Tools.Judge(c.ToolCall, r).Outcome
		if result == tools.OutcomeError {
			continue
		}
		sure := result == tools.OutcomeSuccess
		what := c.Name
		if c.subject != "" {
			what += " " + text.Clip(c.subject, longestName)
		}
		for _, f := range c.files {
			f.whole, f.deletes = f.whole && sure, f.deletes && sure
			if h := k.newest(e, what, f); h != nil {
				h.with(c)
			}
		}
		if c.tool != "" {
			k.newest(e, what, file{subject: c.tool, rule: c.rule, whole: true}).with(c)
		}
		k.recall(e, c, r)
	}
}

// with counts the entry of the call that is kept with a result.
func (h *held) with(c call) {
	if h.caller != c.entry {
		h.caller, h.tokens = c.entry, h.tokens+c.tokens
	}
}

// newest makes an entry the newest that holds a file or an answer. If it holds all of it, earlier ones are stale. It
// returns nil if the file is gone.
func (k *Keeper) newest(e Entry, what string, f file) *held {
	before := k.holders[f.subject]
	if f.whole || f.deletes {
		for _, id := range before {
			if id != e.ID {
				k.release(id)
			}
		}
		before = slices.DeleteFunc(before, func(id string) bool { return id != e.ID })
	}
	if f.deletes {
		delete(k.holders, f.subject)
		if len(before) > 0 {
			k.release(e.ID)
		}
		return nil
	}
	if slices.Contains(before, e.ID) {
		k.holders[f.subject] = before
		return k.held[e.ID]
	}
	k.holders[f.subject] = append(before, e.ID)
	return k.hold(e, f.rule, what)
}

// words returns the pattern whose words stand in an entry; "" if none do.
func (k *Keeper) words(c content.Content) string {
	if k.set.Rules == nil || len(k.set.Rules.text) == 0 || check.Summary(c) {
		return ""
	}
	for _, b := range c.Blocks {
		said := ""
		switch b := b.(type) {
		case content.Text:
			said = b.Text
		case content.ToolResponse:
			said = b.ResultText()
		}
		if name := k.set.Rules.words(said); name != "" {
			return name
		}
	}
	return ""
}

// hold makes an entry one that a rule names; the first rule counts.
func (k *Keeper) hold(e Entry, rule, what string) *held {
	h := k.held[e.ID]
	if h == nil {
		h = &held{id: e.ID, rule: rule, what: what, number: k.entries, tokens: e.Tokens}
		k.held[e.ID], k.fresh = h, append(k.fresh, h)
	}
	h.subjects++
	return h
}

// release lets go of an entry that is not the newest of a subject any more.
func (k *Keeper) release(id string) {
	h := k.held[id]
	if h == nil {
		return
	}
	if h.subjects--; h.subjects > 0 {
		return
	}
	delete(k.held, id)
	k.moved[id] = true
	if h.kept {
		k.used -= h.tokens
	} else if o, over := k.over[h.rule]; over {
		if o.entries--; o.entries <= 0 {
			delete(k.over, h.rule)
		} else {
			k.over[h.rule] = o
		}
	}
}

// again asks the bound again for everything that a rule names.
func (k *Keeper) again() {
	k.fresh, k.used = slices.Collect(maps.Values(k.held)), 0
	clear(k.over)
	for _, h := range k.fresh {
		h.was, h.kept = h.kept, false
	}
	k.admit()
}

// admit keeps what the bound allows: what was kept before, then the oldest.
func (k *Keeper) admit() {
	slices.SortFunc(k.fresh, func(a, b *held) int {
		if a.was != b.was {
			if a.was {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.number, b.number)
	})
	for _, h := range k.fresh {
		switch {
		case h.subjects == 0: // released since
			continue
		case k.used+h.tokens <= k.bound:
			h.kept = true
			k.used += h.tokens
		default:
			o := k.over[h.rule]
			if o.entries++; o.first == "" {
				o.first = fmt.Sprintf("%s (%s, %d tokens)", h.what, h.id, h.tokens)
			}
			k.over[h.rule] = o
		}
		if h.kept != h.was {
			k.moved[h.id] = true
		}
	}
	k.fresh = nil
	k.admitRecalls()
}

// Marks returns which of the n entries of a history must say something else about being kept: the rule by position, ""
// for those that are not kept any more. It ends when all that were decided since [Keeper.Settled] are found.
func (k *Keeper) Marks(n int, entry func(i int) Entry) map[int]string {
	var marks map[int]string
	left := len(k.moved)
	for i := n - 1; i >= 0 && left > 0; i-- {
		e := entry(i)
		if !k.moved[e.ID] {
			continue
		}
		left--
		was, rule := check.KeptBy(e.Content), k.rule(e.ID)
		if was != rule && !(was == Newest && rule == "") {
			if marks == nil {
				marks = map[int]string{}
			}
			marks[i] = rule
		}
	}
	return marks
}

// rule returns the rule by which an entry is kept; "" if it is not.
func (k *Keeper) rule(id string) string {
	if h := k.held[id]; h != nil && h.kept {
		return h.rule
	}
	if k.recalled[id] {
		return Recalled
	}
	return ""
}

// Settled says that the history has the marks.
func (k *Keeper) Settled() { clear(k.moved) }

// maxNamed is how many messages warnings name, longestName how many bytes of a name.
const (
	maxNamed    = 3
	longestName = 80
)

// Warnings say what is not kept although a rule names it. They change only when something else is not kept.
func (k *Keeper) Warnings() (all []string) {
	for _, rule := range slices.Sorted(maps.Keys(k.over)) {
		all = append(all, fmt.Sprintf("compression.keep: %s names more than fits: not kept from %s on, because at most %d "+
			"tokens are; name less, or raise compression.keepShare", rule, k.over[rule].first, k.bound))
	}
	for _, id := range k.unclosed {
		all = append(all, fmt.Sprintf("compression.keep: <keep> in message %s has no </keep>, so it keeps nothing", id))
	}
	return all
}
