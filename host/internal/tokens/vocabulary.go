package tokens

import (
	_ "embed" // the vocabularies
	"errors"
	"fmt"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/tokens/bpe"
)

// Written by the program in compile.
//
//go:generate go run ./compile
//go:embed vocabulary/o200k_base.bpe
var o200kData string

type vocabulary struct {
	encoding string
	load     func() (*loaded, error)
}

// loaded is read-only.
type loaded struct {
	split splitter
	table *bpe.Table
	work  *sync.Pool // of *work
	// library counts in place of the others, if it is set.
	library *library
}

func newVocabulary(encoding string) *vocabulary {
	return &vocabulary{encoding: encoding, load: sync.OnceValues(func() (*loaded, error) {
		v, err := load(encoding)
		if err != nil {
			return nil, fmt.Errorf("token encoding %s: this program was built without a usable vocabulary: %w",
				encoding, err)
		}
		return v, nil
	})}
}

func load(encoding string) (*loaded, error) {
	data, split := o200kData, splitter(splitO200k)
	if encoding != o200k {
		if data, split = older(encoding); split == nil {
			return nil, errors.New("there is none of this name")
		}
	}
	table, err := bpe.Load(data)
	if err != nil {
		return nil, err
	}
	return &loaded{split: split, table: table, work: &sync.Pool{New: func() any { return new(work) }}}, nil
}
