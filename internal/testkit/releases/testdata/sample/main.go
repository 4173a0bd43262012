// Sample is a strategy whose name is its file's, and whose version and needs a test writes into the program: it replaces
// the text between the @@ by another of the same length.
package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/serve"
)

var written = "@@0.0.0                                          @@"

func main() {
	if slices.Contains(says(), "hangs") {
		time.Sleep(time.Hour)
	}
	serve.Strategy(sample{})
}

// says returns the version, and the words after it.
func says() []string { return strings.Fields(strings.Trim(written, "@")) }

type sample struct{}

func (sample) Info() sdk.Info {
	name := strings.TrimPrefix(filepath.Base(os.Args[0]), "thresh-strategy-")
	if slices.Contains(says(), "renamed") {
		name = "another"
	}
	return sdk.Info{Name: name, Version: says()[0], Description: "does nothing", Trigger: sdk.Threshold(0.5),
		RequiresLLM: slices.Contains(says(), "model"), NeedsNetwork: slices.Contains(says(), "network")}
}

func (sample) Compress(context.Context, sdk.Host, sdk.CompressInput) (sdk.CompressResult, error) {
	return sdk.NoOp(sdk.NoOpNoGain), nil
}
