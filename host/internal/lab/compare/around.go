package compare

// What stood around a name: a list of all names keeps each of them and says nothing about any. So a second recall asks
// for a line on which the name stood in the recording, with something next to it.

// findAround notes the lines of the recording on which words stand that answers use. For each word there is one more
// thing, which an entry holds if it has one of these lines: [recording.lined]. It must run when all other things are
// numbered.
func (r *recording) findAround() {
	r.around, r.aroundFrom = map[string][]int32{}, int32(r.things)
	r.things += len(r.names)
	for _, c := range r.entries() {
		for _, b := range c.Blocks {
			blockLines(b, func(line string) {
				if _, known := r.around[line]; known {
					return
				}
				var on []int32
				words(line, func(s string) {
					if id, ok := r.words[s]; ok && len(line)-len(s) >= minLine {
						on = append(on, r.lined(id))
					}
				})
				if len(on) > 0 {
					r.around[line] = on
				}
			})
		}
	}
}

// lined returns the thing that an entry holds if it has a line on which the word stood.
func (r *recording) lined(word int32) int32 { return r.aroundFrom + word }
