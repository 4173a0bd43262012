package history

import "github.com/thresh-dev/thresh/sdk/content"

// What Go needs around texts, about, in bytes, as a test of package window measures it.
const (
	aroundEntry = 240 // an entry, its id and counts, and the lists that name it
	aroundShown = 190 // its place in views
	aroundBlock = 96  // an interface and the struct behind it
	aroundField = 48
)

// Bytes returns about how much memory the history and its views take. It costs the same for any history.
func (h *History) Bytes() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bytes + aroundShown*len(h.shown.entries)
}

func countAll(entries []*Entry) (refers, bytes int) {
	for _, e := range entries {
		bytes += e.bytes()
		if e.Refers {
			refers++
		}
	}
	return refers, bytes
}

// bytes is about how much memory an entry takes. It looks at no text.
func (e *Entry) bytes() int {
	n := aroundEntry + len(e.Content.Metadata) + fieldBytes(e.Content.Extra)
	for _, b := range e.Content.Blocks {
		p := content.Apart(b)
		n += aroundBlock + p.Len() + fieldBytes(p.Extra)
	}
	return n
}

func fieldBytes(f content.Fields) (n int) {
	for _, field := range f.All() {
		n += aroundField + len(field.Name) + len(field.Value)
	}
	return n
}

// recount computes the count of an edited entry from the old counts of its kept blocks and the counts of its new
// blocks, in order. The rest of old.Tokens is the frame around the entry.
func recount(old Count, kept []int, fresh []int32) Count {
	out := Count{Tokens: old.Tokens, Blocks: make([]int32, len(kept))}
	// The frame: roles and separators, as the tokenizer counts them around blocks.
	for _, n := range old.Blocks {
		out.Tokens -= int(n)
	}
	for i, from := range kept {
		if from >= 0 {
			out.Blocks[i] = old.Blocks[from]
		} else {
			out.Blocks[i], fresh = fresh[0], fresh[1:]
		}
		out.Tokens += int(out.Blocks[i])
	}
	return out
}
