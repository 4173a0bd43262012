package store

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// PageSize is how many rows a store reads at once. A reader has no connection between pages, so a loop over them may
// call the store and take as long as it likes.
const PageSize = 512

// Page is what to read at once: the records of these kinds with numbers From to To, at most PageSize, or the records
// Seqs if it is not nil. From is at least 1, and To at most the log's revision. A store reads it with one statement,
// ordered by number.
type Page struct {
	From, To uint64
	Seqs     []uint64
	Kinds    []Kind
}

// ErrMissing means that the store's tables do not fit together.
var ErrMissing = errors.New("missing")

// MissingContent says which content is missing.
func MissingContent(hash Hash) error { return fmt.Errorf("content %x: %w", hash[:8], ErrMissing) }

// ReadRecords reads the chosen records of a session by pages, for stores with rows. Appended records never change, so
// pages fit together, but the session may be deleted meanwhile: if fewer records come than a log of h's length has,
// exists says whether the session is still there. read returns a whole page and is called without a lock or connection
// of earlier pages.
func ReadRecords(h Head, choice Choice, read func(Page) ([]Record, error), exists func() error,
) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		p := Page{From: max(choice.From, 1), To: h.Revision, Kinds: choice.Kinds}
		if choice.To != 0 {
			p.To = min(p.To, choice.To)
		}
		seqs := within(choice.Seqs, p.From, p.To)
		// How many records must still come, at most: kinds leave gaps.
		missing := len(seqs)
		if choice.Seqs == nil {
			missing = max(int(p.To-p.From)+1, 0)
		}
		for missing > 0 {
			if choice.Seqs != nil {
				if len(seqs) == 0 {
					break
				}
				p.Seqs = seqs[:min(len(seqs), PageSize)]
				seqs = seqs[len(p.Seqs):]
			}
			records, err := read(p)
			if err != nil {
				yield(Record{}, err)
				return
			}
			for i, r := range records {
				if want := p.From + uint64(i); r.Seq != want && choice.Seqs == nil && len(choice.Kinds) == 0 {
					yield(Record{}, fmt.Errorf("record %d: %w", want, ErrMissing))
					return
				}
				if !yield(r, nil) {
					return
				}
			}
			missing -= len(records)
			if choice.Seqs == nil {
				if len(records) < PageSize {
					break
				}
				p.From = records[len(records)-1].Seq + 1
			}
		}
		if missing == 0 {
			return
		}
		// Fewer came than expected: the session is gone, kinds left some out, or the tables are damaged.
		err := exists()
		if err == nil && len(choice.Kinds) == 0 {
			err = fmt.Errorf("%d records: %w", missing, ErrMissing)
		}
		if err != nil {
			yield(Record{}, err)
		}
	}
}

// within cuts sorted numbers to a range. nil stays nil, which is not the same as empty.
func within(seqs []uint64, first, last uint64) []uint64 {
	from, _ := slices.BinarySearch(seqs, first)
	to, _ := slices.BinarySearch(seqs, last+1)
	return seqs[from:max(from, to)]
}

// ReadHeads reads a list by pages, each of at most limit sessions after a key. read gets a limit of PageSize at most.
func ReadHeads(filter Filter, read func(after Key, limit int) ([]Head, error)) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		after := filter.After
		// Without a limit, left is 0 or below, which limit never equals.
		for left := filter.Limit; ; left -= PageSize {
			limit := PageSize
			if filter.Limit > 0 {
				limit = min(PageSize, left)
			}
			heads, err := read(after, limit)
			if err != nil {
				yield(Head{}, err)
				return
			}
			for _, h := range heads {
				if !yield(h, nil) {
					return
				}
				after = h.Key
			}
			if len(heads) < limit || limit == left {
				return
			}
		}
	}
}

// Blob replaces nil, which would be written as NULL.
func Blob(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// Parts are made of pieces that come ordered by their number and the Until of their part.
type Parts []Part

func (p *Parts) Add(number int, until uint64, data []byte) {
	if number == 0 {
		*p = append(*p, Part{Until: until, Pieces: map[int][]byte{0: data}})
		return
	}
	at, ok := slices.BinarySearchFunc(*p, until, func(p Part, until uint64) int { return cmp.Compare(p.Until, until) })
	if ok {
		(*p)[at].Pieces[number] = data
	}
}

// DeleteEach deletes sessions that were unused when the list of them was made, and returns how many. Those that were
// used or deleted since are skipped, for which remove returns [ErrNotFound].
func DeleteEach(keys []Key, remove func(Key) error) (n int, err error) {
	for _, key := range keys {
		if err := remove(key); err == nil {
			n++
		} else if !errors.Is(err, ErrNotFound) {
			return n, err
		}
	}
	return n, nil
}
