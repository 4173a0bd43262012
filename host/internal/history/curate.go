package history

import "slices"

// Curate returns what a Compress is given: the entries without blank ones of the AI. It returns entries
// itself if none is blank.
func Curate(entries []*Entry) []*Entry {
	blank := func(e *Entry) bool { return e.Content.Blank() }
	if !slices.ContainsFunc(entries, blank) {
		return entries
	}
	out := make([]*Entry, 0, len(entries))
	for _, e := range entries {
		if !blank(e) {
			out = append(out, e)
		}
	}
	return out
}
