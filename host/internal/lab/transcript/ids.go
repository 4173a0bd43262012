package transcript

// identify records the id of the last added entry. [Transcript.IDs] is nil while no entry has an id, which tells files
// of other recorders from transcripts that a host wrote. Entries before the first id get "".
func (b *builder) identify(id string) {
	if id == "" && b.t.IDs == nil {
		return
	}
	for len(b.t.IDs) < len(b.Entries)-1 {
		b.t.IDs = append(b.t.IDs, "")
	}
	b.t.IDs = append(b.t.IDs, id)
}
