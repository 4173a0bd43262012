package modelapi

import (
	"crypto/sha256"
	"encoding/json"
)

// segment is a part of a prompt that can be the end of what is cached. mark: the client set a marker there.
type segment struct {
	text []byte
	mark bool
}

// segmentOf is a value as a segment: its cache marker, which is not part of what is cached, is taken off.
func segmentOf(v any) segment {
	o, ok := v.(object)
	if !ok {
		text, _ := json.Marshal(v)
		return segment{text: text}
	}
	rest := object{}
	for k, v := range o {
		if k != "cache_control" {
			rest[k] = v
		}
	}
	text, _ := json.Marshal(rest) // keys are sorted
	return segment{text, o["cache_control"] != nil}
}

// cache knows the beginnings of prompts.
type cache struct{ known map[[sha256.Size]byte]bool }

// request looks a prompt up and stores its beginnings: those that end at a marker, or with auto all. It returns the
// tokens that were not cached, those that were, and those that were stored beyond them.
func (c *cache) request(segments []segment, auto bool) (input, cached, written int) {
	var sum [sha256.Size]byte
	total, stored := 0, 0
	type beginning struct {
		sum    [sha256.Size]byte
		tokens int
	}
	var marks []beginning
	bytes := 0
	for _, s := range segments {
		sum = sha256.Sum256(append(sum[:], s.text...))
		bytes += len(s.text)
		total = bytes / 4
		if c.known[sum] {
			cached = total
		}
		if auto || s.mark {
			marks = append(marks, beginning{sum, total})
			stored = total
		}
	}
	for _, m := range marks {
		c.known[m.sum] = true
	}
	if !auto {
		written = max(0, stored-cached)
	}
	return total - cached - written, cached, written
}
