package tokens

import "errors"

// ErrUnknownEncoding: an encoding is neither one of [Encodings] nor one of tiktoken-go.
var ErrUnknownEncoding = errors.New("unknown token encoding")

// vocabularies has one vocabulary per encoding for the whole process: loading takes up to 9 MB and 10 ms.
var vocabularies = func() map[string]*vocabulary {
	all := map[string]*vocabulary{}
	for _, encoding := range Encodings() {
		all[encoding] = newVocabulary(encoding)
	}
	return all
}()

// For returns the counter for a model. A non-empty encoding overrides the model's name. It must be one of [Encodings],
// of which For loads nothing, or one that tiktoken-go knows and whose vocabulary is in a file: see [ErrNoVocabulary]. A
// model that is "", unknown, or without a public encoding gets an approximate counter, never an error: see
// [Counter.Exact].
func For(model, encoding string) (*Counter, error) {
	exact := true
	if encoding == "" {
		encoding, exact = encodingOf(model)
	}
	v := vocabularies[encoding]
	if v == nil {
		var err error
		if v, err = fromFile(encoding); err != nil {
			return nil, err
		}
	}
	return &Counter{vocabulary: v, exact: exact}, nil
}
