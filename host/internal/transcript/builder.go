package transcript

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// builder assembles a transcript: the readers of all formats add entries and notes to it, and call finish at the end.
// It is used by one goroutine and for one file.
type builder struct {
	t Transcript
	// match pairs while entries are added, without a second walk.
	match turns.Matcher
	names map[string]string // the tool that the latest call with an id called
	// exact leaves responses without a tool name as they are: a native file is read back byte for byte.
	exact bool
	// form is the provider's form in which an agent adds messages ([Parse]); "" for recordings. What such a message
	// holds is sent back to the provider, so nothing is dropped, joined or renamed that could not be restored.
	form Format
	// begun says that messages were added before: instructions are no longer at the beginning.
	begun bool
	// called names the tool of a call that was added before, by the call's id; nil for recordings.
	called func(id string) string
	tally  tally
	shown  map[string]int // notes of each class of oddities
	// extended are the fields of the entry that was extended last, with room for more.
	extended struct {
		entry  int
		fields []content.Field
	}
	// size is how many bytes of the recording were read, and repeated what [builder.repeat] was told of.
	size, repeated int
	over           error // it was too much
	// missed are the bytes that may be conversation and are not understood, by what they are; see [builder.judge].
	missed map[string]int
	// misplaced are those of them that are nevertheless in entries.
	misplaced int
}

// look is how many bytes of a recording take as long to read as one of its records to look at, for [builder.repeat].
const look = 64

// repeat is told of what a compaction makes its reader read a second time, in bytes. What each one keeps is added
// again, so a recording that is made of compactions would take time and memory that grow with its square. ok is false
// if it is too much: then the recording is refused.
func (b *builder) repeat(line, bytes int) (ok bool) {
	const most, spare = 20, 1 << 20
	b.repeated += bytes
	if b.over == nil && b.repeated > most*b.size+spare {
		b.over = failAt(line, ErrMalformed, "what its compactions keep is over %d times what the recording holds", most)
	}
	return b.over == nil
}

func newBuilder() *builder { return &builder{names: map[string]string{}, shown: map[string]int{}} }

// add appends an entry and returns its position. line is where the entry begins, counted from 1. Entries and Lines must
// have the same length, so all entries are added here.
func (b *builder) add(line int, c content.Content) int {
	b.t.Entries = append(b.t.Entries, c)
	b.t.Lines = append(b.t.Lines, line)
	entry := len(b.t.Entries) - 1
	b.pair(entry, 0)
	return entry
}

func (b *builder) extend(entry int, blocks []content.Block, extra ...content.Field) {
	from := len(b.t.Entries[entry].Blocks)
	b.t.Entries[entry].Blocks = append(b.t.Entries[entry].Blocks, blocks...)
	b.pair(entry, from)
	if len(extra) == 0 {
		return
	}
	// Collected, because With would copy all fields of the entry for each message.
	if b.extended.entry != entry || b.extended.fields == nil {
		b.extended.entry, b.extended.fields = entry, slices.Clone(b.t.Entries[entry].Extra.All())
	}
	b.extended.fields = append(b.extended.fields, extra...)
	b.t.Entries[entry].Extra = content.FieldsOf(b.extended.fields...)
}

// pair registers the calls and responses of an entry from block from on. It completes responses that do not name their
// tool, because strategies classify results by it: with the name of the call that they answer, or of the latest call
// with their id if that call is answered already. Models repeat ids, so position decides before id.
func (b *builder) pair(entry, from int) {
	c := b.t.Entries[entry]
	for j := from; j < len(c.Blocks); j++ {
		switch block := c.Blocks[j].(type) {
		case content.ToolCall:
			// Of every speaker, even an unknown one: a name is better than none.
			b.names[block.ID] = block.Name
			if c.Speaker == content.AI {
				b.match.Call(block.ID, block.Name, turns.At{Entry: entry, Block: j})
			}
		case content.ToolResponse:
			// A response of another speaker answers nothing.
			if c.Speaker != content.Tool {
				continue
			}
			at, ok := b.match.Response(block.CallID, block.ToolName)
			if block.ToolName != "" || b.exact {
				continue
			}
			switch block.ToolName = b.names[block.CallID]; {
			case ok:
				block.ToolName = b.t.Entries[at.Entry].Blocks[at.Block].(content.ToolCall).Name
			case block.ToolName == "" && b.called != nil:
				block.ToolName = b.called(block.CallID)
			}
			c.Blocks[j] = block
		}
	}
}

// boundary notes a compaction before the next added entry. meta must be a copy; nil is allowed.
func (b *builder) boundary(kind string, meta []byte) {
	b.t.Boundaries = append(b.t.Boundaries, Boundary{Index: len(b.t.Entries), Kind: kind, Meta: meta})
}

func (b *builder) unknown(line int, what string, record []byte) {
	b.tally.count(line, -1, what+" left out")
	b.miss(what, len(record))
}

// aside tallies a record that the recorder writes for itself.
func (b *builder) aside(line int, what string) {
	b.tally.routine(line, -1, what+", which is not part of the conversation, left out")
}

// note adds a warning. line is 0 and entry -1 if the note concerns none.
func (b *builder) note(line, entry int, format string, args ...any) {
	b.t.Notes = append(b.t.Notes,
		Note{Line: line, Entry: entry, Kind: format, Message: fmt.Sprintf(format, args...)})
}

func (b *builder) remark(line, entry int, format string, args ...any) {
	b.note(line, entry, format, args...)
	b.t.Notes[len(b.t.Notes)-1].Routine = true
}

// maxShown is how many oddities of one class are noted one by one. A broken file has one in every entry, and thousands
// of notes would hide all others.
const maxShown = 10

// oddity notes something odd. Beyond maxShown of one class it only counts them. class must be a fixed text, never a
// name from the file, or a file could fill the map.
func (b *builder) oddity(line, entry int, class, format string, args ...any) {
	if b.shown[class]++; b.shown[class] > maxShown {
		b.tally.count(line, entry, "further "+class)
		return
	}
	b.note(line, entry, format, args...)
}

// unread tallies the fields of o that no reader uses: data of a newer recorder is not dropped silently. known lists the
// fields that are read or hold no conversation; of names the kind of record. An id, a time or a flag, of which every
// version brings new ones, is no missed conversation.
func (b *builder) unread(line int, of string, o object, known func(name string) bool) {
	for _, f := range o {
		if !known(f.name) && !rawjson.IsNull(f.value) {
			b.tally.routine(line, -1, fmt.Sprintf("field %q of %s left out", clip([]byte(f.name)), of))
			if kind(f.value) == '{' || kind(f.value) == '[' || len(f.value) > maxMark {
				b.miss(fmt.Sprintf("field %q of %s", clip([]byte(f.name)), of), len(f.value))
			}
		}
	}
}

// maxMark is the longest value of a field that may be an id, a time or a flag, in bytes. A UUID has 38 with its quotes.
const maxMark = 64

// otherFields remarks on the unread top-level fields of a one-document file, in one note.
func (b *builder) otherFields(top object, known func(name string) bool) {
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
		b.remark(0, -1, "top-level fields left out: %s", strings.Join(left, ", "))
	}
}

// finish inspects the whole history, collects usage, and returns the transcript. Nothing may be added afterwards. The
// error is for a file that the format does not explain.
func (b *builder) finish(o Options) (*Transcript, error) {
	if b.over != nil {
		return nil, b.over
	}
	for i, c := range b.t.Entries {
		b.inspect(i, c)
	}
	b.inspectPairs()
	b.readUsage()
	b.readModel()
	if err := b.judge(o.From != ""); err != nil {
		return nil, err
	}
	b.t.Notes = append(b.t.Notes, b.tally.notes()...)
	return &b.t, nil
}

// inspect notes what is malformed. Strategies leave such entries alone and providers may refuse them, so users should
// know why an entry is never pruned.
func (b *builder) inspect(i int, c content.Content) {
	line := b.t.Lines[i]
	if !c.Speaker.Known() {
		b.oddity(
			line, i, "entry of an unknown speaker", "unknown speaker %q; the entry is carried unchanged",
			clip([]byte(c.Speaker)),
		)
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
			b.oddity(
				line, i, "value that is not a block", "block %d is %s, not a block; it is carried unchanged", j,
				clip(o.JSON),
			)
		// Of a known kind: a required field is missing or has the wrong type.
		case content.KindText,
			content.KindToolCall,
			content.KindToolResponse,
			content.KindMedia,
			content.KindThinking,
			content.KindCode:
			b.oddity(line, i, "malformed block", "block %d of kind %q is malformed; it is carried unchanged", j, k)
		default:
			if carried(k) {
				continue
			}
			b.oddity(
				line, i, "block of an unknown kind", "block %d is of the unknown kind %q; it is carried unchanged", j,
				clip([]byte(k)),
			)
		}
	}
}

// inspectPairs notes repeated call ids, and responses that a provider would refuse: those without an open call before
// them, and those after the AI spoke again. A replay must show what was recorded; [Write] repairs the order.
func (b *builder) inspectPairs() {
	pairs, seen := turns.Pair(b.t.Entries), map[string]bool{}
	for i, c := range b.t.Entries {
		// What a compaction kept is there twice.
		again := rawjson.Field(c.Metadata, "fromCompaction") != nil
		for j, block := range c.Blocks {
			at := turns.At{Entry: i, Block: j}
			switch block := block.(type) {
			case content.ToolCall:
				if seen[block.ID] && !again {
					b.oddity(b.t.Lines[i], i, "repeated call id", "block %d repeats the call id %q", j,
						clip([]byte(block.ID)))
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
