package journal

import (
	"slices"

	"github.com/thresh-dev/thresh/host/internal/history"
)

// maxOwnAdditions is how many additions of this host a session remembers: more than may wait behind a request.
const maxOwnAdditions = 1024

// ownAdditions are the points before this host's last additions. They tell whether an entry behind a point was added by
// this host, after the point was taken, or by another one, of which this host had not heard. [Journal.writing] guards
// it.
type ownAdditions []history.Point

func (o *ownAdditions) adds(at history.Point) {
	if len(*o) >= maxOwnAdditions {
		*o = append((*o)[:0:0], (*o)[len(*o)-maxOwnAdditions/2:]...)
	}
	*o = append(*o, at)
}

// upTo returns the moment before this host's first addition behind a point, or now if there is none. What others added
// before it was there when the point was taken, or came at the same time.
func (o ownAdditions) upTo(m, now history.Point) history.Point {
	asked, _ := m.Counts()
	i, _ := slices.BinarySearchFunc(o, asked, func(at history.Point, asked uint64) int {
		added, _ := at.Counts()
		if added < asked {
			return -1
		}
		return 1 // also an equal one: the first of those is wanted
	})
	switch {
	case i == len(o):
		return now
	case i == 0 && len(o) > maxOwnAdditions/2: // there may have been others that are forgotten
		return m
	}
	return o[i]
}
