package tokens

import (
	_ "embed" // the vocabularies
	"errors"
	"fmt"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/tokens/bpe"
)

// Written by the program in compile, as published.go is, from what tiktoken-go publishes.
//
//go:generate go run ./compile
var (
	//go:embed vocabulary/o200k_base.bpe
	o200kData string
	//go:embed vocabulary/cl100k_base.bpe
	cl100kData string
	//go:embed vocabulary/p50k_base.bpe
	p50kData string
	//go:embed vocabulary/r50k_base.bpe
	r50kData string
)

type vocabulary struct {
	encoding string
	load     func() (*loaded, error)
}

// loaded is read-only.
type loaded struct {
	split splitter
	table *bpe.Table
	work  *sync.Pool // of *work
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
	data, split := "", splitter(nil)
	switch encoding {
	case o200k:
		data, split = o200kData, splitO200k
	case cl100k:
		data, split = cl100kData, splitCL100k
	case p50k:
		data, split = p50kData, splitR50k
	case r50k:
		data, split = r50kData, splitR50k
	default:
		return nil, errors.New("there is none of this name")
	}
	table, err := bpe.Load(data)
	if err != nil {
		return nil, err
	}
	return &loaded{split: split, table: table, work: &sync.Pool{New: func() any { return new(work) }}}, nil
}
