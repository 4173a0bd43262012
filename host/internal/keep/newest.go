package keep

import (
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Newest is the rule of the newest message of a person, and of the newest that an agent sent in a person's name. It
// holds from one Compress, the only step that may take such an entry out, to the next, and has no bound.
const Newest = "newest message"

// NewestMarks returns which of the n entries of a history must say something else about [Newest] before a Compress, as
// [Keeper.Marks] does. Entries that another rule keeps are left alone.
func NewestMarks(n int, entry func(i int) Entry) map[int]string {
	marks := map[int]string{}
	sent, said := false, false
	for i := n - 1; i >= 0; i-- {
		c := entry(i).Content
		rule := check.KeptBy(c)
		newest := false
		if c.Speaker == content.Human && !(said && sent) && c.HasContent() && !check.Summary(c) &&
			(rule != "" || !c.Pinned()) { // not one that its agent has pinned
			spoke := !said && listen(c).spoke
			newest = !sent || spoke
			sent, said = true, said || spoke
		}
		switch {
		case newest && rule == "":
			marks[i] = Newest
		case !newest && rule == Newest:
			marks[i] = ""
		}
	}
	return marks
}
