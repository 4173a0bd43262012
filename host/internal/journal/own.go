package journal

import (
	"slices"

	"github.com/thresh-dev/thresh/host/internal/history"
)

// maxOwn is how many additions of this host a session remembers: more than may wait behind a request.
const maxOwn = 1024

// own are the moments before this host's last additions. They tell whether an entry behind a mark was added by this
// host, after the mark was taken, or by another one, of which this host had not heard. [Journal.writing] guards it.
type own []history.Mark

func (o *own) adds(at history.Mark) {
	if len(*o) >= maxOwn {
		*o = append((*o)[:0:0], (*o)[len(*o)-maxOwn/2:]...)
	}
	*o = append(*o, at)
}

// upTo returns the moment before this host's first addition behind a mark, or now if there is none. What others added
// before it was there when the mark was taken, or came at the same time.
func (o own) upTo(m, now history.Mark) history.Mark {
	asked, _ := m.Counts()
	i, _ := slices.BinarySearchFunc(o, asked, func(at history.Mark, asked uint64) int {
		added, _ := at.Counts()
		if added < asked {
			return -1
		}
		return 1 // also an equal one: the first of those is wanted
	})
	switch {
	case i == len(o):
		return now
	case i == 0 && len(o) > maxOwn/2: // there may have been others that are forgotten
		return m
	}
	return o[i]
}
