package tokens

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/thresh-dev/thresh/host/internal/tokens/bpe"
)

// Counter counts tokens in one encoding. It is safe for concurrent use, and deterministic. [For] returns one.
type Counter struct {
	vocabulary *vocabulary
	exact      bool
}

func (c *Counter) Encoding() string { return c.vocabulary.encoding }

// Exact reports whether the encoding is the model's own, by its name or by choice. Otherwise all counts are
// approximate. Media are always estimates.
func (c *Counter) Exact() bool { return c.exact }

// Load loads the vocabulary, which takes up to 10 ms; otherwise the first count does. An error, the same for every
// later Load, means that the program itself is broken.
func (c *Counter) Load() error {
	_, err := c.vocabulary.load()
	return err
}

// Text returns the number of tokens in s; 0 for "". In one of [Encodings] it is exact for every s, in time linear in its
// length: 1 MB takes 3 to 40 ms of one processor, and a long text uses all of them. A byte that is not valid UTF-8 counts as U+FFFD. Memory
// is 4 bytes per token of the longest piece, and, if s is not UTF-8, three times its longest part without a [safeCut].
//
// Text panics if [Counter.Load] fails.
func (c *Counter) Text(s string) int {
	n, err := c.text(context.Background(), s, false)
	if err != nil {
		panic("tokens: " + err.Error()) // the context cannot end, so it is the vocabulary
	}
	return n
}

// text is Text, but returns ctx's error soon after ctx is done. valid: s is known to be UTF-8.
func (c *Counter) text(ctx context.Context, s string, valid bool) (int, error) {
	if s == "" {
		return 0, nil
	}
	v, err := c.vocabulary.load()
	if err != nil {
		return 0, err
	}
	if v.library != nil {
		return v.library.count(ctx, s)
	}
	if len(s) <= 2*partSize {
		return v.count(ctx, s, valid)
	}
	total, short := 0, []string(nil)
	for _, part := range cut(s) {
		if len(part) <= 2*partSize {
			short = append(short, part)
			continue
		}
		n, err := v.countLong(ctx, part, partSize)
		if err != nil {
			return 0, err
		}
		total += n
	}
	counts, err := each(ctx, runtime.GOMAXPROCS(0), len(short),
		func(ctx context.Context, i int) (int, error) { return v.count(ctx, short[i], valid) })
	for _, n := range counts {
		total += n
	}
	return total, err
}

// partSize is about the length in bytes of the parts in which a long text is counted. Divisible by three, as three
// digits are a piece: the parts of a long number have the same pieces as the whole.
const partSize = 129 << 10

// cut cuts s where its count does not change; s is one part if there is no such place.
func cut(s string) (parts []string) {
	for len(s) > 2*partSize {
		i := safeCut(s, partSize)
		parts = append(parts, s[:i])
		s = s[i:]
	}
	return append(parts, s)
}

// each returns count's results for 0 to n-1, in order. A single worker runs in the caller's goroutine.
func each[T any](
	ctx context.Context, workers, n int, count func(context.Context, int) (T, error),
) ([]T, error) {
	counts := make([]T, n)
	var next atomic.Int64
	work := func(ctx context.Context) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			if counts[i], err = count(ctx, i); err != nil {
				return err
			}
		}
	}
	if workers = min(workers, n); workers <= 1 {
		return counts, work(ctx)
	}
	group, ctx := errgroup.WithContext(ctx)
	// A panic is repeated in the caller's goroutine, where it can be recovered: here it would end the program.
	var panicked atomic.Pointer[string]
	for range workers {
		group.Go(func() error {
			defer func() {
				if p := recover(); p != nil {
					text := fmt.Sprintf("%v\n%s", p, debug.Stack())
					panicked.Store(&text)
				}
			}()
			return work(ctx)
		})
	}
	err := group.Wait()
	if p := panicked.Load(); p != nil {
		panic(*p)
	}
	return counts, err
}

func (v *loaded) count(ctx context.Context, s string, valid bool) (int, error) {
	w := v.work.Get().(*work)
	defer v.work.Put(w)
	if valid || utf8.ValidString(s) {
		return v.pieces(ctx, s, &w.bpe)
	}
	// In parts that fit the processor's cache.
	total := 0
	for len(s) > 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		end := safeCut(s, 4<<10)
		valid := appendReplaced(w.text[:0], s[:end])
		n, err := v.pieces(ctx, view(valid), &w.bpe)
		if err != nil {
			return 0, err
		}
		total += n
		s = s[end:]
		if cap(valid) <= maxKept {
			w.text = valid
		}
	}
	return total, nil
}

// work is reused memory: counting allocates nothing.
type work struct {
	bpe  bpe.Work
	text []byte // what is counted instead of text that is not UTF-8
}

const maxKept = 1 << 20

// pieces counts s, which must be valid UTF-8.
func (v *loaded) pieces(ctx context.Context, s string, w *bpe.Work) (int, error) {
	const stride = 64 << 10 // bytes between two checks of ctx
	total, check := 0, stride
	for at := 0; at < len(s); {
		end := v.split(s, at)
		n, err := v.table.Count(ctx, s, at, end, w)
		if err != nil {
			return 0, err
		}
		total += n
		if at = end; at >= check {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			check = at + stride
		}
	}
	return total, nil
}
