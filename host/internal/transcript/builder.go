package transcript

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// builder puts a transcript together.
type builder struct {
	t     Transcript
	match turns.Matcher
	names map[string]string // the tool that the latest call with an id called
	// exact: responses that do not say which tool they are from are left so.
	exact bool
	tally tally
	shown map[string]int // notes of each class of oddities
}

func newBuilder() *builder { return &builder{names: map[string]string{}, shown: map[string]int{}} }

// add appends an entry and returns its position.
func (b *builder) add(line int, c content.Content) int {
	b.t.Entries = append(b.t.Entries, c)
	b.t.Lines = append(b.t.Lines, line)
	entry := len(b.t.Entries) - 1
	b.pair(entry, 0)
	return entry
}

// extend appends blocks to an entry.
func (b *builder) extend(entry int, blocks []content.Block) {
	from := len(b.t.Entries[entry].Blocks)
	b.t.Entries[entry].Blocks = append(b.t.Entries[entry].Blocks, blocks...)
	b.pair(entry, from)
}

// pair takes in the calls and responses of an entry from a block on. It completes responses that do not say which tool
// they are from, for formats whose results do not: with the name of the call that they answer, or of the latest one
// with their id if it is answered already.
func (b *builder) pair(entry, from int) {
	c := b.t.Entries[entry]
	for j := from; j < len(c.Blocks); j++ {
		switch block := c.Blocks[j].(type) {
		case content.ToolCall:
			b.names[block.ID] = block.Name
			if c.Speaker == content.AI {
				b.match.Call(block.ID, block.Name, turns.At{Entry: entry, Block: j})
			}
		case content.ToolResponse:
			if c.Speaker != content.Tool {
				continue
			}
			at, ok := b.match.Response(block.CallID, block.ToolName)
			if block.ToolName != "" || b.exact {
				continue
			}
			if block.ToolName = b.names[block.CallID]; ok {
				block.ToolName = b.t.Entries[at.Entry].Blocks[at.Block].(content.ToolCall).Name
			}
			c.Blocks[j] = block
		}
	}
}

func (b *builder) boundary(kind string, meta []byte) {
	b.t.Boundaries = append(b.t.Boundaries, Boundary{Index: len(b.t.Entries), Kind: kind, Meta: meta})
}

func (b *builder) note(line, entry int, format string, args ...any) {
	b.t.Notes = append(b.t.Notes, Note{Line: line, Entry: entry, Message: fmt.Sprintf(format, args...)})
}

// remark is a note of [Note.Routine].
func (b *builder) remark(line, entry int, format string, args ...any) {
	b.note(line, entry, format, args...)
	b.t.Notes[len(b.t.Notes)-1].Routine = true
}

// maxShown is how many oddities of one class are noted one by one. A broken file has one in every entry.
const maxShown = 10

// oddity notes something odd, or counts it if enough of its class were noted.
func (b *builder) oddity(line, entry int, class, format string, args ...any) {
	if b.shown[class]++; b.shown[class] > maxShown {
		b.tally.count(line, entry, "further "+class)
		return
	}
	b.note(line, entry, format, args...)
}

// unread notes the fields of o that known does not know: nobody reads them. of says what o is.
func (b *builder) unread(line int, of string, o object, known func(name string) bool) {
	for _, f := range o {
		if !known(f.name) && !rawjson.IsNull(f.value) {
			b.tally.routine(line, -1, fmt.Sprintf("field %q of %s left out", clip([]byte(f.name)), of))
		}
	}
}

// beside remarks which fields of a file that is one object are not read.
func (b *builder) beside(top object, known func(name string) bool) {
	const most = 20 // by name
	var left []string
	more := 0
	for _, f := range top {
		switch {
		case known(f.name) || rawjson.IsNull(f.value):
		case len(left) < most:
			left = append(left, clip([]byte(f.name)))
		default:
			more++
		}
	}
	if more > 0 {
		left = append(left, fmt.Sprintf("and %d more", more))
	}
	if len(left) > 0 {
		b.remark(0, -1, "fields beside the messages left out: %s", strings.Join(left, ", "))
	}
}

// finish looks for oddities in the history and returns the transcript.
func (b *builder) finish() *Transcript {
	for i, c := range b.t.Entries {
		b.inspect(i, c)
	}
	b.inspectPairs()
	b.readUsage()
	b.t.Notes = append(b.t.Notes, b.tally.notes()...)
	return &b.t
}

// inspect notes what strategies will leave alone because it is not well-formed.
func (b *builder) inspect(i int, c content.Content) {
	line := b.t.Lines[i]
	if !c.Speaker.Known() {
		b.oddity(line, i, "entry of an unknown speaker", "unknown speaker %q; the entry is carried unchanged", clip([]byte(c.Speaker)))
	}
	if c.Blocks == nil {
		b.oddity(line, i, "entry without blocks", "the entry has no blocks; it is carried unchanged")
	}
	for j, block := range c.Blocks {
		o, ok := block.(content.Opaque)
		if !ok {
			continue
		}
		switch k := o.Kind(); k {
		case "":
			b.oddity(line, i, "value that is no block", "block %d is %s, not a block; it is carried unchanged", j, clip(o.JSON))
		case content.KindText, content.KindToolCall, content.KindToolResponse, content.KindMedia, content.KindThinking, content.KindCode:
			b.oddity(line, i, "malformed block", "block %d of kind %q is malformed; it is carried unchanged", j, k)
		default:
			b.oddity(line, i, "block of an unknown kind", "block %d is of the unknown kind %q; it is carried unchanged", j, clip([]byte(k)))
		}
	}
}

// inspectPairs notes ids that repeat, and responses that a provider would refuse: those without a call, and those that come
// after the AI spoke again.
func (b *builder) inspectPairs() {
	pairs, seen := turns.Pair(b.t.Entries), map[string]bool{}
	for i, c := range b.t.Entries {
		for j, block := range c.Blocks {
			at := turns.At{Entry: i, Block: j}
			switch block := block.(type) {
			case content.ToolCall:
				if seen[block.ID] {
					b.oddity(b.t.Lines[i], i, "repeated call id", "block %d repeats the call id %q", j, clip([]byte(block.ID)))
				}
				seen[block.ID] = true
			case content.ToolResponse:
				if _, ok := pairs.Call(at); !ok || pairs.Late(at) {
					b.oddity(b.t.Lines[i], i, "response to a call that is not open",
						"block %d answers the call %q, which is not open before it", j, clip([]byte(block.CallID)))
				}
			}
		}
	}
}
