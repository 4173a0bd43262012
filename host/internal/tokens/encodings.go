package tokens

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnknownEncoding: an encoding is not one of [Encodings].
var ErrUnknownEncoding = errors.New("unknown token encoding")

// vocabularies has one vocabulary per encoding for the whole process: loading takes up to 9 MB and 10 ms.
var vocabularies = func() map[string]*vocabulary {
	all := map[string]*vocabulary{}
	for _, encoding := range Encodings() {
		all[encoding] = newVocabulary(encoding)
	}
	return all
}()

// For returns the counter for a model. A non-empty encoding, which must be one of [Encodings], overrides the model's
// name; otherwise the error wraps [ErrUnknownEncoding] and lists them. A model that is "", unknown, or without a public
// encoding gets an approximate counter, never an error: see [Counter.Exact]. For loads nothing.
func For(model, encoding string) (*Counter, error) {
	exact := true
	if encoding == "" {
		encoding, exact = encodingOf(model)
		if vocabularies[encoding] == nil { // the program was built without it
			encoding, exact = o200k, false
		}
	}
	v, ok := vocabularies[encoding]
	if !ok {
		return nil, fmt.Errorf("%w %q: use one of %s, or leave it out to choose by the model's name",
			ErrUnknownEncoding, encoding, strings.Join(Encodings(), ", "))
	}
	return &Counter{vocabulary: v, exact: exact}, nil
}
