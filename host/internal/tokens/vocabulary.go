package tokens

import (
	"fmt"
	"math"
	"strings"
	"sync"

	tiktoken "github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// vocabulary is one encoding, loaded on first use.
//
// It is built from the library's parts instead of tiktoken.GetEncoding, which takes its loader from a global
// variable. An embedding program may set that variable too, and its default loader uses the network.
type vocabulary struct {
	encoding string
	load     func() (*tables, error)
}

// tables are the result of loading. They are read-only.
type tables struct {
	codec   *tiktoken.Tiktoken
	lengths []uint8 // of each token, in bytes
	numbers int     // the most numbers in one piece, counted from the first in a row
}

func newVocabulary(encoding string) *vocabulary {
	return &vocabulary{encoding: encoding, load: sync.OnceValues(func() (*tables, error) {
		t, err := loadTables(encoding)
		if err != nil {
			return nil, fmt.Errorf("token encoding %s: this program was built without a usable vocabulary: %w",
				encoding, err)
		}
		return t, nil
	})}
}

func loadTables(encoding string) (*tables, error) {
	// The loader knows the tables by the last element of the addresses where they are published.
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(encoding + ".tiktoken")
	if err != nil {
		return nil, err
	}
	// No special tokens: in a history, a special string is text like any other.
	bpe, err := tiktoken.NewCoreBPE(ranks, nil, pattern(encoding))
	if err != nil {
		return nil, err
	}
	most := 0
	for _, rank := range ranks {
		most = max(most, rank)
	}
	lengths := make([]uint8, most+1)
	for token, rank := range ranks {
		if len(token) > 255 || rank < 0 {
			return nil, fmt.Errorf("token %d has %d bytes", rank, len(token))
		}
		lengths[rank] = uint8(len(token))
	}
	t := &tables{codec: tiktoken.NewTiktoken(bpe, nil, nil), lengths: lengths, numbers: math.MaxInt}
	if encoding == o200k || encoding == cl100k {
		t.numbers = 3
	}
	return t, nil
}

// encode returns the tokens of s, which must not hold a long piece: see the package documentation. EncodeOrdinary is
// the library's only method that is safe on untrusted text; the others drop text or panic at special strings.
func (t *tables) encode(s string) []int { return t.codec.EncodeOrdinary(s) }

// pattern returns the expression that splits a text into pieces. Tokens never cross pieces. The alternatives are
// tried in order. safeBetween depends on them: change both together.
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
