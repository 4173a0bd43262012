// Command compile writes the vocabularies that package tokens embeds. "make generate" runs it in the directory of that
// package, whenever the library that has them has another version.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/tokens/bpe"
)

func main() {
	for _, encoding := range tokens.Encodings() {
		if err := compile(encoding); err != nil {
			fmt.Fprintf(os.Stderr, "compile: %s: %v\n", encoding, err)
			os.Exit(1)
		}
	}
}

// compile writes one vocabulary in the form that [bpe.Load] reads. Its output depends on the library's data alone, so
// that a test can check that the files are current.
func compile(encoding string) error {
	// The loader knows a vocabulary by the last element of the address where it is published.
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(encoding + ".tiktoken")
	if err != nil {
		return err
	}
	data, err := bpe.Compile(ranks)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("vocabulary", encoding+".bpe"), data, 0o644)
}
