package wire

// Reason is what a strategy says about one of its edits. It is for people: nothing is decided by it.
type Reason struct {
	// Rule names why, in at most [MostRule] characters of a to z, 0 to 9 and hyphens; "" if it is not said.
	Rule string
	// SupersededBy is the position, in the history that was sent, of the entry that made this one dispensable; nil if there
	// is none.
	SupersededBy *int
}

// MostRule bounds [Reason.Rule], in characters.
const MostRule = 64

// Clean returns the reason without what is ill-formed, for an edit of a history with the given number of entries.
func (r Reason) Clean(entries int) Reason {
	if !validRule(r.Rule) {
		r.Rule = ""
	}
	if by := r.SupersededBy; by != nil && (*by < 0 || *by >= entries) {
		r.SupersededBy = nil
	}
	return r
}

func validRule[T string | []byte](rule T) bool {
	if len(rule) > MostRule {
		return false
	}
	for i := range len(rule) {
		if c := rule[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
