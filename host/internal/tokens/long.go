package tokens

import (
	"context"
	"runtime"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/internal/tokens/bpe"
)

// stretch is the result of counting from some place in a text, as if a piece began there.
type stretch struct {
	from, to int // to is where the next one begins
	end      int // where its last piece ends: there, or after it
	tokens   int
	first    []boundary // where its first pieces begin; none if a long piece extends beyond it
}

// boundary is where a piece begins, and the tokens of the stretch before it.
type boundary struct{ at, before int }

// maxBoundaries is how many boundaries a stretch records. Most often one of the first few is true.
const maxBoundaries = 1 << 10

// countLong counts a text in which [safeCut] finds no place, on all processors, in parts of about part bytes.
func (v *loaded) countLong(ctx context.Context, s string, part int) (total int, err error) {
	s = replaceInvalid(s)
	w := v.work.Get().(*work)
	defer v.work.Put(w)
	const alone = 8 // pieces before the stretches: mostly, a long one comes first or not at all
	for at, i := 0, 0; at < len(s); i++ {
		var n int
		if i%(alone+1) < alone {
			n, at, err = v.countNext(ctx, s, at, part, &w.bpe)
		} else {
			n, at, err = v.countStretches(ctx, s, at, part, &w.bpe)
		}
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// countNext counts the piece that begins at s[at], on all processors if it is long.
func (v *loaded) countNext(ctx context.Context, s string, at, part int, w *bpe.Work) (tokens, end int, err error) {
	end = v.split(s, at)
	if end-at >= 2*part {
		tokens, err = v.countPiece(ctx, s[at:end], part, w)
	} else {
		tokens, err = v.table.Count(ctx, s, at, end, w)
	}
	return tokens, end, err
}

// countStretches counts a few parts of s, beginning with a piece at at, and returns where their last piece ends. Where
// pieces begin is known only from the beginning on. But what precedes a piece does not influence it: as soon as a piece
// of a stretch begins where one of the text does, all further pieces are the same.
//
// All stretches may scan the same long piece, so there are few of them.
func (v *loaded) countStretches(
	ctx context.Context, s string, at, part int, w *bpe.Work,
) (tokens, end int, err error) {
	workers := runtime.GOMAXPROCS(0)
	var stretches []stretch
	for from := at; from < len(s) && len(stretches) < min(2*workers, 16); {
		to := len(s)
		if from+2*part < len(s) {
			to = runeStart(s, from+part)
		}
		stretches = append(stretches, stretch{from: from, to: to})
		from = to
	}
	stretches, err = each(ctx, workers, len(stretches), func(ctx context.Context, i int) (stretch, error) {
		return v.countStretch(ctx, s, stretches[i], part)
	})
	if err != nil {
		return 0, 0, err
	}
	for _, st := range stretches {
		var n int
		if n, at, err = v.follow(ctx, s, at, st, part, w); err != nil {
			return 0, 0, err
		}
		tokens += n
	}
	return tokens, at, nil
}

func (v *loaded) countStretch(ctx context.Context, s string, st stretch, part int) (stretch, error) {
	w := v.work.Get().(*work)
	defer v.work.Put(w)
	at := st.from
	for at < st.to {
		end := v.split(s, at)
		if end > st.to+part { // it is counted once, by all processors
			st.first = nil
			return st, nil
		}
		if len(st.first) < maxBoundaries {
			st.first = append(st.first, boundary{at, st.tokens})
		}
		n, err := v.table.Count(ctx, s, at, end, &w.bpe)
		if err != nil {
			return stretch{}, err
		}
		at, st.tokens = end, st.tokens+n
	}
	st.end = at
	return st, nil
}

// follow counts the pieces of s from at on, where one begins, that begin in a stretch, and returns where the last ends.
func (v *loaded) follow(
	ctx context.Context, s string, at int, st stretch, part int, w *bpe.Work,
) (tokens, end int, err error) {
	for first := st.first; at < st.to; {
		for len(first) > 0 && first[0].at < at {
			first = first[1:]
		}
		if len(first) > 0 && first[0].at == at {
			return tokens + st.tokens - first[0].before, st.end, nil
		}
		var n int
		if n, at, err = v.countNext(ctx, s, at, part, w); err != nil {
			return 0, 0, err
		}
		tokens += n
	}
	return tokens, at, nil
}

func (v *loaded) countPiece(ctx context.Context, s string, part int, w *bpe.Work) (int, error) {
	last := len(s)/part - 1
	parts, err := each(ctx, runtime.GOMAXPROCS(0), last+1, func(ctx context.Context, i int) (bpe.Part, error) {
		w := v.work.Get().(*work)
		defer v.work.Put(w)
		to := len(s)
		if i < last {
			to = runeStart(s, (i+1)*part)
		}
		return v.table.CountPart(ctx, s, runeStart(s, i*part), to, &w.bpe)
	})
	if err != nil {
		return 0, err
	}
	if n, ok := v.table.Join(s, parts); ok {
		return n, nil
	}
	return v.table.Count(ctx, s, 0, len(s), w)
}

// runeStart returns where the first character at or after s[i:] begins. s must be valid UTF-8, and longer than i.
func runeStart(s string, i int) int {
	for !utf8.RuneStart(s[i]) {
		i++
	}
	return i
}
