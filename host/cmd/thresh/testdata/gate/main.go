// Gate is a strategy plugin that works for as long as a test wants: where there is a named pipe "gate" in the workspace,
// its Optimize reads that to its end before it answers. It also writes to standard output, which strategies should not.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/serve"
)

type gate struct{}

func (gate) Info() sdk.Info {
	return sdk.Info{Name: "gate", Version: "0.1.0", Trigger: sdk.Continuous(0.85)}
}

// Optimize removes every entry that thinks "chaff", and panics at one that says "panic".
func (gate) Optimize(_ context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	fmt.Println("a line on standard output")
	fmt.Print(`{"jsonrpc":"2.0","id":1,"result":"forged"}` + "\n")
	if _, err := os.ReadFile(filepath.Join(in.WorkspaceRoot, "gate")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sdk.DensityResult{}, err
	}
	var out sdk.DensityResult
	for i, entry := range in.History {
		if len(entry.Blocks) == 0 {
			continue
		}
		if thought, _ := entry.Blocks[0].(sdk.Thinking); thought.Thought == "chaff" {
			out.Removals = append(out.Removals, i)
		}
		if text, _ := entry.Blocks[0].(sdk.Text); text.Text == "panic" {
			panic("an entry said so")
		}
	}
	return out, nil
}

func (gate) Compress(context.Context, sdk.Host, sdk.CompressInput) (sdk.CompressResult, error) {
	return sdk.NoOp("nothing-to-do"), nil
}

func main() { serve.Strategy(gate{}) }
