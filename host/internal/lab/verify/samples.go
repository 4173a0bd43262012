package verify

import (
	"fmt"
	"iter"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/conform/statements"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk/content"
)

// sample is a history that plugins are tried on, with the ids and token counts that a host would have given its
// entries. Checks share samples and must not change them. The name is what errors say: an author finds the history in
// package samples by it.
type sample struct {
	name    string
	entries []*history.Entry
	epoch   uint64             // how often it was rewritten
	added   []statements.Entry // see [samples.Sample]
}

// newSample returns the sample as a host would hold it after the entries were added: ids e0, e1, … in order.
func newSample(s samples.Sample) sample {
	sm := sample{name: s.Name, entries: make([]*history.Entry, len(s.History))}
	for i, c := range s.History {
		sm.entries[i] = &history.Entry{ID: fmt.Sprint("e", i), Count: history.Count{Tokens: tokens(c)}, Content: c}
	}
	for i, c := range s.Added {
		sm.added = append(sm.added, statements.Entry{ID: sm.entries[i].ID, Content: c})
	}
	return sm
}

func contentsOf(entries []*history.Entry) []content.Content {
	out := make([]content.Content, len(entries))
	for i, e := range entries {
		out[i] = e.Content
	}
	return out
}

// curated returns the sample as a Compress gets it: without entries that a provider would refuse, such as calls
// without a response. The host curates by the same function.
func (sm sample) curated() sample {
	return sample{name: sm.name, entries: history.Curate(sm.entries), epoch: sm.epoch, added: sm.added}
}

func (sm sample) sent() iter.Seq[wire.Entry] {
	return func(yield func(wire.Entry) bool) {
		for _, e := range sm.entries {
			if !yield(wire.Entry{ID: e.ID, Tokens: e.Tokens, Content: e.Content}) {
				return
			}
		}
	}
}

func (sm sample) tokens() int {
	n := 0
	for _, e := range sm.entries {
		n += e.Tokens
	}
	return n
}

// tokens stands in for the host's tokenizer: a quarter of the bytes that a model reads, plus four per entry, and a
// flat 1,000 for media. It is fast and the same everywhere. A plugin may only rely on equal entries having equal
// counts.
func tokens(c content.Content) int {
	n := 0
	for _, b := range c.Blocks {
		n += content.ReadSize(b)
		p := content.Apart(b)
		if _, data, _ := p.Attachment(); data != "" {
			n += 4000 // 1,000 tokens, whatever its size
		}
	}
	return 4 + (n+3)/4
}
