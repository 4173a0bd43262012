package transcript

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/host/internal/provider/responses"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// A format that was recognised by a few records must also explain the others. What share of the conversation it
// explains is measured in bytes: of what became entries, and of what may be conversation and did not. Notes are no
// measure of it: one unknown record may be a counter or half of the session.
const (
	// enough is the share below which the reader warns, with what was not understood. Recorded sessions of every format
	// are at 0.98 and more with their own reader, which leaves room for what a new version adds.
	enough = 0.95
	// least is the share below which a file is refused: what is left would be judged as if it were the session.
	least = 0.60
	// fewMissed are so few bytes that they say nothing about the format: a field that a new version added.
	fewMissed = 512
	// maxCauses is how many of the things that were not understood a message names.
	maxCauses = 3
)

// miss counts bytes that may be conversation and that no entry shows as such.
func (b *builder) miss(what string, bytes int) {
	if b.missed == nil {
		b.missed = map[string]int{}
	}
	// Names of fields come from the file, which could invent any number.
	if _, known := b.missed[what]; !known && len(b.missed) >= messages.MaxKinds {
		what = "of further kinds"
	}
	b.missed[what] += bytes
}

// judge measures what was understood of the file. It warns below [enough], and refuses the file below [least] unless
// its format was given.
func (b *builder) judge(given bool) error {
	if b.t.Format == Native {
		return nil // an entry that is not understood is an error there
	}
	b.missOpaque()
	b.missAnswers()
	understood, missed := contentBytes(b.System), 0
	for _, c := range b.Entries {
		understood += contentBytes(c.Blocks)
	}
	for _, n := range b.missed {
		missed += n
	}
	// Words in place of a result are among the entries.
	understood = max(understood-b.misplaced, 0)
	b.t.understood = 1
	if missed < fewMissed {
		return nil
	}
	b.t.understood = float64(understood) / float64(understood+missed)
	if b.t.understood >= enough {
		return nil
	}
	found := fmt.Sprintf("only %.0f %% of it could be read as %s; not understood: %s", b.t.understood*100, b.t.Format,
		causes(b.missed, understood+missed))
	if b.t.understood < least && !given {
		return fail(ErrUnknownFormat, "%s; there is no reader for it", found)
	}
	b.note(0, -1, "%s", found)
	b.t.Notes[len(b.t.Notes)-1].Kind = "" // each file has its own share
	return nil
}

func causes(missed map[string]int, all int) string {
	// By name if the sizes are equal: the message is the same each time.
	names := slices.SortedFunc(maps.Keys(missed), func(a, b string) int {
		return cmp.Or(cmp.Compare(missed[b], missed[a]), cmp.Compare(a, b))
	})
	var out []string
	for _, name := range names[:min(len(names), maxCauses)] {
		out = append(out, fmt.Sprintf("%.0f %% %s", 100*float64(missed[name])/float64(all), name))
	}
	return strings.Join(out, ", ")
}

// missOpaque counts blocks that are carried without being understood. It runs at the end, because a reader does not
// know at once what a block will be.
func (b *builder) missOpaque() {
	for _, c := range b.Entries {
		for _, block := range c.Blocks {
			if o, ok := block.(content.Opaque); ok && !carried(o.Kind()) {
				b.miss(fmt.Sprintf("blocks of the kind %q", ordered.Clip([]byte(o.Kind()))), len(o.JSON))
			}
		}
	}
}

// missAnswers counts what people seem to have said where results of calls should be: a reader of the wrong format takes
// results for a person's words. A person who interrupts the model says little.
func (b *builder) missAnswers() {
	pairs := turns.Pair(b.Entries)
	for i, c := range b.Entries[:max(len(b.Entries)-1, 0)] {
		next := b.Entries[i+1]
		if c.Speaker != content.AI || next.Speaker != content.Human {
			continue
		}
		calls, answered := 0, false
		for j, block := range c.Blocks {
			if _, ok := block.(content.ToolCall); ok {
				calls++
				_, found := pairs.Response(turns.At{Entry: i, Block: j})
				answered = answered || found
			}
		}
		if calls > 0 && !answered {
			b.misplaced += contentBytes(next.Blocks)
			b.miss("words of a person where results of calls should be", contentBytes(next.Blocks))
		}
	}
}

// carried reports whether blocks of a kind are known although the history has no form for them: only the provider that
// made them can read them, and it gets them back.
func carried(kind string) bool {
	for _, k := range []*provider.Kind{anthropic.Form.Part(kind), responses.Item(kind)} {
		if k != nil && (k.Is == provider.Fence || k.Is == provider.Bound || k.Is == provider.Own) {
			return true
		}
	}
	return false
}

// contentBytes returns how many bytes of conversation are in understood blocks. Counting tokens would take longer than
// reading the file.
func contentBytes(blocks []content.Block) (n int) {
	for _, b := range blocks {
		if o, opaque := b.(content.Opaque); opaque && !carried(o.Kind()) {
			continue
		}
		p := content.Apart(b)
		_, file, _ := p.Attachment()
		n += content.ReadSize(b) + len(file) + len(p.Proof())
	}
	return n
}

// nearest returns the formats that explain a refused file, the best first, as a sentence; "" for none. It reads the
// file once for each format, so it only tries files of a usual size.
func nearest(f io.ReadSeeker, size int64, o Options) string {
	// In bytes: bounds how long an error takes to come.
	const most = 16 << 20
	if size > most || o.From != "" {
		return ""
	}
	type candidate struct {
		format Format
		share  float64
	}
	var found []candidate
	for _, info := range Formats() {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return ""
		}
		o.From = info.Format
		t, err := read(newSource(f, o.limit()), o)
		if err == nil && len(t.Entries) > 0 && t.understood >= least {
			found = append(found, candidate{info.Format, t.understood})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.share, a.share) })
	var names []string
	for _, c := range found[:min(len(found), maxCauses)] {
		names = append(names, fmt.Sprintf("%s (%.0f %%)", c.format, c.share*100))
	}
	return strings.Join(names, ", ")
}
