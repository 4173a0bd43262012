package explain

import (
	"crypto/sha256"

	"github.com/thresh-dev/thresh/sdk/content"
)

// match pairs the entries of two histories, first those that are the same, then between those the ones that were changed.
func (d *differ) match() []pair {
	found := align(d.keysA, d.keysB)
	for _, key := range []func(content.Content) string{firstCall, lastCall, metadata, beginning, ending} {
		found = matchBetween(d.a.Entries, d.b.Entries, found, func(a, b []content.Content) []pair { return align(keys(a, key), keys(b, key)) })
	}
	return matchBetween(d.a.Entries, d.b.Entries, found, alike)
}

// matchBetween adds the pairs that find finds between those that are known.
func matchBetween(a, b []content.Content, known []pair, find func(a, b []content.Content) []pair) []pair {
	var out []pair
	at := pair{}
	for _, p := range append(known[:len(known):len(known)], pair{len(a), len(b)}) {
		if at.A < p.A && at.B < p.B {
			for _, q := range find(a[at.A:p.A], b[at.B:p.B]) {
				out = append(out, pair{at.A + q.A, at.B + q.B})
			}
		}
		if p.A < len(a) {
			out = append(out, p)
		}
		at = pair{p.A + 1, p.B + 1}
	}
	return out
}

func keys(entries []content.Content, key func(content.Content) string) []string {
	out := make([]string, len(entries))
	for i, c := range entries {
		out[i] = key(c)
	}
	return out
}

// entryKey is equal for entries that say the same.
func entryKey(c content.Content) string {
	h := sha256.New()
	said := content.Content{Speaker: c.Speaker, Blocks: c.Blocks}
	h.Write(said.AppendJSON(nil))
	return string(h.Sum(nil))
}

func firstCall(c content.Content) string {
	for _, b := range c.Blocks {
		if key := callKey(c, b); key != "" {
			return key
		}
	}
	return ""
}

func lastCall(c content.Content) string {
	for i := range c.Blocks {
		if key := callKey(c, c.Blocks[len(c.Blocks)-1-i]); key != "" {
			return key
		}
	}
	return ""
}

func callKey(c content.Content, b content.Block) string {
	switch b := b.(type) {
	case content.ToolCall:
		return string(c.Speaker) + " calls " + b.ID
	case content.ToolResponse:
		return string(c.Speaker) + " answers " + b.CallID
	}
	return ""
}

func metadata(c content.Content) string {
	if len(c.Metadata) == 0 {
		return ""
	}
	return string(c.Speaker) + " " + string(c.Metadata)
}

// telling is how much of a text at either end says that it is the same, changed elsewhere, in bytes.
const telling = 48

func beginning(c content.Content) string {
	text := firstText(c)
	if text == "" {
		return ""
	}
	return string(c.Speaker) + " " + text[:min(len(text), telling)]
}

func ending(c content.Content) string {
	text := firstText(c)
	if text == "" {
		return ""
	}
	return string(c.Speaker) + " " + text[max(0, len(text)-telling):]
}

// alikeness is how much two short texts must have in common at both ends together to be one that was changed, in bytes.
const alikeness = 8

// alike pairs as many entries of one history with as many of the other, where speakers and the ends of their texts agree.
func alike(a, b []content.Content) []pair {
	if len(a) != len(b) {
		return nil
	}
	var out []pair
	for i := range a {
		x, y := firstText(a[i]), firstText(b[i])
		if a[i].Speaker == b[i].Speaker && ends(x, y) >= alikeness {
			out = append(out, pair{i, i})
		}
	}
	return out
}

// ends is how much two texts have in common at the beginning and at the end.
func ends(x, y string) int {
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	x, y = x[n:], y[n:]
	end := 0
	for end < len(x) && end < len(y) && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	return n + end
}

func firstText(c content.Content) string {
	for _, b := range c.Blocks {
		if t, ok := b.(content.Text); ok {
			return t.Text
		}
	}
	return ""
}
