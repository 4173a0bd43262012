package prune

import "unsafe"

// MemoBytes returns about how much memory the state takes besides the texts of the history, which the SDK counts
// already: it keeps the states of many sessions within one limit. It takes the same time for any state.
func (s *state) MemoBytes() int {
	const (
		inMap  = 48                              // an entry of a map, with its share of what is free
		call   = 2*40 + inMap + 48               // of turns.Matcher: the call, its group, its id, copies of id and name
		path   = inMap + 64                      // of a file: its id by path, and the path
		reads  = 16                              // of a file, for most few reads
		edit   = 2*inMap + int(unsafe.Sizeof(0)) // of an entry with an edit: its reason
		inTool = 5                               // of a result: its id among those of its tool
		block  = 96                              // of one that is replaced: a copied block
	)
	return bytesOf(s.files) + int(s.files.n)*(path+reads) +
		bytesOf(s.calls) + int(s.calls.n)*call + 4*cap(s.paths) +
		bytesOf(s.results) + int(s.results.n)*inTool + bytesOf(s.tools) + int(s.tools.n)*inMap +
		bytesOf(s.inclusions) +
		cap(s.marks)*int(unsafe.Sizeof(mark{})) + 4*cap(s.gone) +
		8*cap(s.removed) + len(s.reasons)*edit + len(s.replaced)*(inMap+3*block)
}

// bytesOf returns what the chunks of a list take.
func bytesOf[T any](l list[T]) int {
	var item T
	return len(l.chunks) * chunk * int(unsafe.Sizeof(item))
}
