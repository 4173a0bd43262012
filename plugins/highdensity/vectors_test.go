package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// vectors returns the lines of a file of the shared vectors, which lie beside the repository where they are used.
func vectors(t *testing.T, name string) [][]byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(filepath.Dir(dir), "shared", "vectors", name)
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("SKIPPED: the vectors are not here (%s)", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(data), []byte("\n"))
}

func decode[T any](t *testing.T, data []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// seedTools is the taxonomy of the vectors.
func seedTools(t testing.TB) *tools.Taxonomy {
	t.Helper()
	taxonomy, err := tools.ForPresets([]string{"llxprt"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return taxonomy
}

func TestOptimizeVectors(t *testing.T) {
	type vector struct {
		ID      string
		History []sdk.Content
		Config  struct {
			ReadWritePruning, FileDedupe, RecencyPruning bool
			RecencyRetention                             float64
			WorkspaceRoot                                string
		}
		Expected struct {
			Removals     []int
			Replacements map[int]json.RawMessage
			Metadata     sdk.DensityMetadata
		}
	}
	for _, line := range vectors(t, "optimize.jsonl") {
		v := decode[vector](t, line)
		t.Run(v.ID, func(t *testing.T) {
			got := sdktest.Optimize(t, Strategy{}, v.History, sdktest.Config{
				Tools:         seedTools(t),
				WorkspaceRoot: v.Config.WorkspaceRoot,
				Density: &sdk.DensityConfig{
					ReadWritePruning: v.Config.ReadWritePruning,
					FileDedupe:       v.Config.FileDedupe,
					RecencyPruning:   v.Config.RecencyPruning,
					RecencyRetention: int(v.Config.RecencyRetention),
				},
			})
			if d := cmp.Diff(v.Expected.Removals, append([]int{}, got.Removals...)); d != "" {
				t.Errorf("removals (-want +got):\n%s", d)
			}
			want, have := map[int]any{}, map[int]any{}
			for i, raw := range v.Expected.Replacements {
				want[i] = decode[any](t, raw)
			}
			for i, entry := range got.Replacements {
				have[i] = decode[any](t, entry.AppendJSON(nil))
			}
			if d := cmp.Diff(want, have); d != "" {
				t.Errorf("replacements (-want +got):\n%s", d)
			}
			if d := cmp.Diff(v.Expected.Metadata, got.Metadata); d != "" {
				t.Errorf("metadata (-want +got):\n%s", d)
			}
		})
	}
}

type compressVector struct {
	ID                           string
	History                      []sdk.Content
	EstimateTokens               string
	Threshold, PreserveThreshold float64
	ContextLimit                 int
	CurrentTokenCount            int
	Clean                        bool
}

func (v compressVector) config(t testing.TB) sdktest.Config {
	return sdktest.Config{
		Tools:             seedTools(t),
		Counter:           map[string]sdktest.Counter{"json4": json4, "leaf": leaf}[v.EstimateTokens],
		Threshold:         v.Threshold,
		PreserveThreshold: &v.PreserveThreshold,
		ContextLimit:      v.ContextLimit,
		CurrentTokens:     &v.CurrentTokenCount,
	}
}

// json4 counts a quarter of the UTF-16 length of the compact JSON of the entries.
func json4(entries []sdk.Content) int {
	if len(entries) == 0 {
		return 0
	}
	units := 1 // the brackets and, but for one, the commas
	for _, e := range entries {
		units += 1 + len(utf16.Encode([]rune(string(compact(e.AppendJSON(nil))))))
	}
	return (units + 3) / 4
}

func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// leaf counts a quarter of the bytes of all strings in the blocks of an entry, plus four.
func leaf(entries []sdk.Content) int {
	n := 0
	for _, e := range entries {
		size := 0
		for _, b := range e.Blocks {
			var v any
			if json.Unmarshal(content.AppendBlock(nil, b), &v) == nil {
				size += leafBytes(v)
			}
		}
		n += 4 + int(math.Ceil(float64(size)/4))
	}
	return n
}

func leafBytes(v any) int {
	n := 0
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		for _, x := range v {
			n += leafBytes(x)
		}
	case map[string]any:
		for _, x := range v {
			n += leafBytes(x)
		}
	}
	return n
}
