package tokens

import (
	"context"
	"strings"
	"unicode/utf8"
)

// Counter counts tokens in one encoding. It is safe for concurrent use, and a count depends only on what is counted.
// Get a Counter from [For].
type Counter struct {
	vocabulary *vocabulary
	exact      bool
}

// Encoding returns the name of the encoding, one of [Encodings].
func (c *Counter) Encoding() string { return c.vocabulary.encoding }

// Exact reports whether the encoding is the model's own: known by the model's name, or chosen explicitly. Otherwise
// all counts are approximate. Media are estimates in either case.
func (c *Counter) Exact() bool { return c.exact }

// Load loads the vocabulary now, which takes up to 150 ms; otherwise the first count does. An error means that the
// program itself is broken: no input and no setting can cause it. Every later Load returns the same error.
func (c *Counter) Load() error {
	_, err := c.vocabulary.load()
	return err
}

// Text returns the number of tokens in s, 0 for "". Time grows linearly with the length of s, whatever s contains:
// about 0.2 to 0.5 s for 1 MB of ordinary text, 0.4 to 1 s for unbroken runs. The count is exact except for unbroken
// runs of more than 1,024 bytes, where it may be up to 0.25 % off. A byte that is not valid UTF-8 counts as U+FFFD.
// Memory does not grow with s, except for a copy of s if it is not UTF-8.
//
// Text panics if [Counter.Load] fails, which means that the program was built without its vocabularies.
func (c *Counter) Text(s string) int {
	n, err := c.text(context.Background(), s)
	if err != nil {
		panic("tokens: " + err.Error()) // the context cannot end, so it is the vocabulary
	}
	return n
}

// text is Text, but stops soon after ctx is done and returns its error.
func (c *Counter) text(ctx context.Context, s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	t, err := c.vocabulary.load()
	if err != nil {
		return 0, err
	}
	return t.count(ctx, s, usualLimits())
}

// limits bound the time and memory of a count, in bytes.
type limits struct {
	window int // how much is encoded at once, give or take one run
	run    int // the longest stretch between two safe places that is counted exactly
	step   int // how far each step advances through a longer stretch
	margin int // how much more each step encodes, to find where its last token ends
}

func usualLimits() limits { return limits{window: 64 << 10, run: 1 << 10, step: 192, margin: 192} }

// count counts s window by window. A window ends at a safe place, so that cutting costs nothing. A stretch between
// two safe places that is longer than lim.run is counted separately, in steps.
func (t *tables) count(ctx context.Context, s string, lim limits) (int, error) {
	if !utf8.ValidString(s) {
		s = replaceInvalid(s)
	}
	var (
		total int
		start int // everything before is counted
		safe  int // the last safe place
		last  = space
		group int // how many numbers in a row precede this place
	)
	flush := func(end int) error {
		if end == start {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		total += len(t.encode(s[start:end]))
		start = end
		return nil
	}
	// reach moves the safe place to i. It counts what came before if that is a long run or fills a window.
	reach := func(i int) error {
		if i-safe > lim.run {
			if err := flush(safe); err != nil {
				return err
			}
			n, err := t.countRun(ctx, s[safe:i], lim)
			if err != nil {
				return err
			}
			total += n
			start = i
		}
		safe = i
		if i-start >= lim.window {
			return flush(i)
		}
		return nil
	}
	for i, r := range s {
		c := classOf(r)
		if safeBetween(last, c, r) || group == t.numbers {
			if err := reach(i); err != nil {
				return 0, err
			}
			group = 0
		}
		if last = c; c == number {
			group++
		} else {
			group = 0
		}
	}
	if err := reach(len(s)); err != nil {
		return 0, err
	}
	if err := flush(len(s)); err != nil {
		return 0, err
	}
	return total, nil
}

// replaceInvalid returns s with each byte that is not valid UTF-8 replaced by U+FFFD, as the encoder would do.
// Lengths of tokens and of text agree in valid text only.
func replaceInvalid(s string) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}
