//go:build !thresh_o200k

package tokens

import _ "embed" // the vocabularies

var (
	//go:embed vocabulary/cl100k_base.bpe
	cl100kData string
	//go:embed vocabulary/p50k_base.bpe
	p50kData string
	//go:embed vocabulary/r50k_base.bpe
	r50kData string
)

// Encodings returns the names of the encodings that can be chosen, the newest first. Built with the tag thresh_o200k, a
// program has the first alone.
func Encodings() []string { return []string{o200k, cl100k, p50k, r50k} }

// older returns the vocabulary of an encoding before o200k; the splitter is nil if there is none.
func older(encoding string) (data string, split splitter) {
	switch encoding {
	case cl100k:
		return cl100kData, splitCL100k
	case p50k:
		return p50kData, splitR50k
	case r50k:
		return r50kData, splitR50k
	default:
		return "", nil
	}
}
