package transcript

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// builder assembles a transcript: the readers of all formats add entries and notes to it, and call finish at the end.
// It is used by one goroutine and for one file.
type builder struct {
	messages.Builder
	t     Transcript     // but its entries, lines and system prompt
	tally messages.Tally // what is not noted one by one
	shown map[string]int // notes of each class of oddities
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

func newBuilder() *builder { return &builder{shown: map[string]int{}} }

// boundary notes a compaction before the next added entry. meta must be a copy; nil is allowed.
func (b *builder) boundary(kind string, meta []byte) {
	b.t.Boundaries = append(b.t.Boundaries, Boundary{Index: len(b.Entries), Kind: kind, Meta: meta})
}

func (b *builder) unknown(line int, what string, record []byte) {
	b.tally.Count(line, -1, what+" left out")
	b.miss(what, len(record))
}

// aside tallies a record that the recorder writes for itself.
func (b *builder) aside(line int, what string) {
	b.tally.Routine(line, -1, what+", which is not part of the conversation, left out")
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
		b.tally.Count(line, entry, "further "+class)
		return
	}
	b.note(line, entry, format, args...)
}

// unread tallies the fields of o that no reader uses: data of a newer recorder is not dropped silently. known lists the
// fields that are read or hold no conversation; of names the kind of record. An id, a time or a flag, of which every
// version brings new ones, is no missed conversation.
func (b *builder) unread(line int, of string, o ordered.Object, known func(name string) bool) {
	for _, f := range o {
		if !known(f.Name) && !rawjson.IsNull(f.Value) {
			b.tally.Routine(line, -1, fmt.Sprintf("field %q of %s left out", ordered.Clip([]byte(f.Name)), of))
			if ordered.Kind(f.Value) == '{' || ordered.Kind(f.Value) == '[' || len(f.Value) > maxMark {
				b.miss(fmt.Sprintf("field %q of %s", ordered.Clip([]byte(f.Name)), of), len(f.Value))
			}
		}
	}
}

// maxMark is the longest value of a field that may be an id, a time or a flag, in bytes. A UUID has 38 with its quotes.
const maxMark = 64

// otherFields remarks on the unread top-level fields of a one-document file, in one note.
func (b *builder) otherFields(top ordered.Object, known func(name string) bool) {
	const most = 20 // by name
	var left []string
	more := 0
	for _, f := range top {
		switch {
		case known(f.Name) || rawjson.IsNull(f.Value):
		case len(left) < most:
			left = append(left, ordered.Clip([]byte(f.Name)))
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
	for i, c := range b.Entries {
		b.inspect(i, c)
	}
	b.inspectPairs()
	b.readUsage()
	b.readModel()
	b.noteCopied()
	if err := b.judge(o.From != ""); err != nil {
		return nil, err
	}
	b.t.Notes = append(b.t.Notes, b.tally.Notes()...)
	b.t.Entries, b.t.Lines, b.t.System = b.Entries, b.Lines, b.System
	return &b.t, nil
}

// inspect notes what is malformed. Strategies leave such entries alone and providers may refuse them, so users should
// know why an entry is never pruned.
func (b *builder) inspect(i int, c content.Content) {
	line := b.Lines[i]
	if !c.Speaker.Known() {
		b.oddity(
			line, i, "entry of an unknown speaker", "unknown speaker %q; the entry is carried unchanged",
			ordered.Clip([]byte(c.Speaker)),
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
		switch k := o.Kind(); {
		case k == "":
			b.oddity(
				line, i, "value that is not a block", "block %d is %s, not a block; it is carried unchanged", j,
				ordered.Clip(o.JSON),
			)
		// Of a known kind: a required field is missing or has the wrong type.
		case content.KindNamed(k) != nil:
			b.oddity(line, i, "malformed block", "block %d of kind %q is malformed; it is carried unchanged", j, k)
		case !carried(k):
			b.oddity(
				line, i, "block of an unknown kind", "block %d is of the unknown kind %q; it is carried unchanged", j,
				ordered.Clip([]byte(k)),
			)
		}
	}
}

// inspectPairs notes repeated call ids, and responses that a provider would refuse: those without an open call before
// them, and those after the AI spoke again. A replay must show what was recorded; [Write] repairs the order.
func (b *builder) inspectPairs() {
	pairs, seen := turns.Pair(b.Entries), map[string]bool{}
	for i, c := range b.Entries {
		// What a compaction kept is there twice.
		again := kept(c)
		for j, block := range c.Blocks {
			at := turns.At{Entry: i, Block: j}
			switch block := block.(type) {
			case content.ToolCall:
				if seen[block.ID] && !again {
					b.oddity(b.Lines[i], i, "repeated call id", "block %d repeats the call id %q", j,
						ordered.Clip([]byte(block.ID)))
				}
				seen[block.ID] = true
			case content.ToolResponse:
				if _, ok := pairs.Call(at); !ok || pairs.Late(at) {
					b.oddity(b.Lines[i], i, "response to a call that is not open",
						"block %d answers the call %q, which is not open before it", j, ordered.Clip([]byte(block.CallID)))
				}
			}
		}
	}
}
