package keep

import (
	"fmt"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/shell"
	"github.com/thresh-dev/thresh/internal/check"
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
	// Bound is how many tokens of what is kept may count. What stands in an entry beside it, such as the other results of
	// parallel calls, stays with it: that may be as much again, and no more.
	Bound int
	// Seal returns the seal of what was read again, by its id; nil if nothing can be.
	Seal func(id string) string
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

	held    map[string]*held   // by id
	chains  map[string]*chain  // the entries that hold a file or an answer, by subject
	fresh   []*held            // those for which the bound was not asked
	kept    map[*held]bool     // those that are kept
	used    int                // tokens of those that are kept
	stays   int                // the same, with what stays beside them
	over    map[string]overrun // by rule: what was over the bound
	lost    [reasons]messages  // messages in which <keep> keeps nothing
	counted map[int]bool       // the blocks that are counted of the entry that is looked at
	was     bool               // the entry that is looked at was kept before

	recalls  []recall        // what the model read again since a person spoke, in order
	recalled map[string]bool // those of them that are kept, by id

	// moved are the entries whose metadata may say something else than was decided.
	moved map[string]bool
}

// Follow takes in what was added since the last time: the last of the n entries that the history has, of the added ones
// that it ever had.
func (k *Keeper) Follow(set Settings, n int, added uint64, entry func(i int) Entry) {
	if k.held == nil || !k.set.same(set) {
		moved := k.moved
		if moved == nil {
			moved = map[string]bool{}
		}
		*k = Keeper{moved: moved, open: map[turns.At]call{}, held: map[string]*held{}, chains: map[string]*chain{},
			kept: map[*held]bool{}, over: map[string]overrun{}, counted: map[int]bool{}}
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
	k.was = rule != "" && rule != Recalled && rule != Newest
	clear(k.counted)
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
	if !k.isRecall(e) { // a copy of what has the words
		k.words(e)
	}
}

// message looks at what a person says.
func (k *Keeper) message(e Entry) {
	if check.Summary(e.Content) { // quotes what people said
		return
	}
	s := hear(e.Content)
	if s.spoke {
		k.recalls = nil
	}
	if s.marked {
		k.hold(e, Tag, message, whole)
	} else if s.lost != nothing {
		k.lost[s.lost].add(e.ID)
	}
	if k.set.Rules == nil || len(k.set.Rules.paths) == 0 {
		return
	}
	for _, p := range s.included {
		p = tools.Resolve(k.set.Root, p)
		if rule := k.set.Rules.path(p); rule != "" {
			k.newest(e, message, file{subject: "path\x00" + p, rule: rule, whole: true}, whole)
		}
	}
}

// words holds an entry in which the words of a pattern stand.
func (k *Keeper) words(e Entry) {
	if k.set.Rules == nil || len(k.set.Rules.text) == 0 || check.Summary(e.Content) {
		return
	}
	size := newSizes(e)
	for j, b := range e.Content.Blocks {
		said, p := "", whole
		switch b := b.(type) {
		case content.Text:
			said = b.Text
		case content.ToolResponse:
			said, p = b.ResultText(), part{j, size.of(j)}
		}
		if name := k.set.Rules.words(said); name != "" {
			k.hold(e, name, "an entry of the "+string(e.Content.Speaker), p)
		}
	}
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
	if h := k.held[id]; h != nil && k.kept[h] {
		return h.rule()
	}
	if k.recalled[id] {
		return Recalled
	}
	return ""
}

// Settled says that the history has the marks.
func (k *Keeper) Settled() { clear(k.moved) }

// longestName is how many bytes of a name warnings have.
const longestName = 80

// Warnings say what is not kept although a rule names it. They change only when something else is not kept.
func (k *Keeper) Warnings() (all []string) {
	for _, rule := range slices.Sorted(maps.Keys(k.over)) {
		all = append(all, fmt.Sprintf("compression.keep: %s names more than fits: not kept from %s on, because at most %d "+
			"tokens are; name less, or raise compression.keepShare", rule, k.over[rule].first, k.bound))
	}
	for reason, says := range lostTags {
		if who := k.lost[reason].String(); says != "" && who != "" {
			all = append(all, fmt.Sprintf("compression.keep: <keep> in message %s "+says, who))
		}
	}
	return all
}
