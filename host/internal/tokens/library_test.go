package tokens

import (
	"context"
	"strings"

	tiktoken "github.com/pkoukk/tiktoken-go"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Reference counts with tiktoken-go, to check our counts. It is 20 to 100 times slower.
type Reference struct {
	counter *Counter
	codec   *tiktoken.Tiktoken
	split   splitter
}

// longestPiece is the longest piece in bytes for the library, which takes quadratic time.
const longestPiece = 8 << 10

// Reference returns the library's counter for the same encoding. The error is [Counter.Load]'s.
//
// The library gets its vocabulary from our compiled form, which a test compares with the library's own, so the program
// need not contain both.
func (c *Counter) Reference() (*Reference, error) {
	v, err := c.vocabulary.load()
	if err != nil {
		return nil, err
	}
	core, err := tiktoken.NewCoreBPE(v.table.Ranks(), nil, pattern(c.Encoding()))
	if err != nil {
		return nil, err
	}
	return &Reference{counter: c, codec: tiktoken.NewTiktoken(core, nil, nil), split: v.split}, nil
}

// Entry counts e as [Counter.Entry] does. For a text with an unbroken piece of more than 8 KiB the library would take
// seconds or hours: it gets our own count, and adds its length in bytes to skipped. The only error is ctx's.
func (r *Reference) Entry(ctx context.Context, e content.Content) (tokens, skipped int, err error) {
	tokens = entryFrame
	var buf []byte
	for _, b := range e.Blocks {
		cost := costOf(b, &buf)
		tokens += cost.tokens
		for _, text := range cost.texts {
			if err := ctx.Err(); err != nil {
				return 0, 0, err
			}
			if r.isSlow(text) {
				skipped += len(text)
				tokens += r.counter.Text(text)
				continue
			}
			// The library's other methods drop text or panic at special strings.
			tokens += len(r.codec.EncodeOrdinary(text))
		}
	}
	return tokens, skipped, nil
}

func (r *Reference) isSlow(text string) bool {
	text = replaceInvalid(text)
	for at := 0; at < len(text); {
		end := r.split(text, at)
		if end-at > longestPiece {
			return true
		}
		at = end
	}
	return false
}

// pattern returns the expression with which the library splits a text into pieces, alternatives in order. The splitters
// in split.go do the same: change both together.
func pattern(encoding string) string {
	const (
		otherRun    = ` ?[^\s\p{L}\p{N}]+`
		spaceRun    = `\s+(?!\S)|\s+`
		lines       = `\s*[\r\n]+`
		digits      = `\p{N}{1,3}`
		prefix      = `[^\r\n\p{L}\p{N}]?`
		upper       = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
		lower       = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
		contraction = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	)
	alternatives := []string{`'s|'t|'re|'ve|'m|'ll|'d`, ` ?\p{L}+`, ` ?\p{N}+`, otherRun, spaceRun} // p50k and r50k
	switch encoding {
	case o200k:
		alternatives = []string{
			prefix + upper + `*` + lower + `+` + contraction + `?`,
			prefix + upper + `+` + lower + `*` + contraction + `?`,
			digits, otherRun + `[\r\n/]*`, lines, spaceRun,
		}
	case cl100k:
		alternatives = []string{contraction, prefix + `\p{L}+`, digits, otherRun + `[\r\n]*`, lines, spaceRun}
	}
	return strings.Join(alternatives, "|")
}
