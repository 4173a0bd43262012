//go:build !thresh_o200k

package tokens

import _ "embed" // the vocabulary

//go:embed vocabulary/cl100k_base.bpe
var cl100kData string

// Encodings returns the names of the encodings that the program has the vocabularies of, the newest first. Built with
// the tag thresh_o200k, a program has the first alone.
func Encodings() []string { return []string{o200k, cl100k} }

// older returns the vocabulary of an encoding before o200k; the splitter is nil if there is none.
func older(encoding string) (data string, split splitter) {
	if encoding == cl100k {
		return cl100kData, splitCL100k
	}
	return "", nil
}
