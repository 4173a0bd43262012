package transcript

// identify records the id of the entry that was added last. [Transcript.IDs] stays nil as long as no entry has an id,
// which keeps files of other recorders distinguishable from transcripts that a host wrote. Once one entry has an id,
// the entries before it get "".
func (b *builder) identify(id string) {
	if id == "" && b.t.IDs == nil {
		return
	}
	// The last entry's own id comes next.
	for len(b.t.IDs) < len(b.t.Entries)-1 {
		b.t.IDs = append(b.t.IDs, "")
	}
	b.t.IDs = append(b.t.IDs, id)
}
