package tokens

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ErrUnknownEncoding is wrapped by the error of [Registry.For] if the encoding is none of [Encodings].
var ErrUnknownEncoding = errors.New("unknown token encoding")

// Encodings returns the names of the encodings that can be chosen, the newest first.
func Encodings() []string { return []string{o200k, cl100k, p50k, r50k} }

// Registry creates counters. The counters of one registry share what they load, at most once per encoding: up to 24
// MB and 150 ms. A registry is safe for concurrent use. A host has one.
type Registry struct {
	mu           sync.Mutex
	vocabularies map[string]*vocabulary // by encoding
}

// NewRegistry returns a registry that has loaded nothing yet.
func NewRegistry() *Registry { return &Registry{vocabularies: map[string]*vocabulary{}} }

// For returns the counter for a model. A non-empty encoding takes precedence over the model's name. It must be one of
// [Encodings]; otherwise the error wraps [ErrUnknownEncoding] and lists them. A model that is "", unknown, or without
// a public encoding gets an approximate counter, never an error: see [Counter.Exact].
//
// For loads nothing: the first count does, or [Counter.Load].
func (r *Registry) For(model, encoding string) (*Counter, error) {
	exact := true
	if encoding == "" {
		encoding, exact = encodingOf(model)
	}
	if !slices.Contains(Encodings(), encoding) {
		return nil, fmt.Errorf("%w %q: use one of %s, or leave it out to choose by the model's name",
			ErrUnknownEncoding, encoding, strings.Join(Encodings(), ", "))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.vocabularies[encoding]
	if v == nil {
		v = newVocabulary(encoding)
		r.vocabularies[encoding] = v
	}
	return &Counter{vocabulary: v, exact: exact}, nil
}
