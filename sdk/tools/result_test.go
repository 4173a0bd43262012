package tools

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Signs are looked for in the ends of a result: a longer one costs no more steps, and no more memory than a copy of it.
func TestOnlyTheEndsOfAResultAreLookedAt(t *testing.T) {
	presets, err := ForPresets(PresetNames(), nil)
	if err != nil {
		t.Fatal(err)
	}
	call := content.ToolCall{Name: "bash", Parameters: []byte(`{"command":"x"}`)}
	for _, line := range []string{"a", "exit code ", "exit code\n", "<shellid: ", "[", "\n", `{"error":`, "— "} {
		var allocs [2]float64
		for i, n := range []int{1 << 20, 1 << 22} {
			r := content.ToolResponse{}.WithResultText(strings.Repeat(line, n/len(line)))
			of := newResult(r)
			if len(of.texts) > 1 || len(of.objects) > 0 {
				t.Errorf("%q: %d texts and %d objects", line, len(of.texts), len(of.objects))
			}
			for _, text := range of.texts {
				if len(text.head) > headBytes || len(text.tail) > max(headBytes, tailBytes) {
					t.Errorf("%q: %d and %d bytes are looked at", line, len(text.head), len(text.tail))
				}
			}
			allocs[i] = testing.AllocsPerRun(1, func() { presets.Judge(call, r) })
		}
		if allocs[1] > allocs[0]+8 {
			t.Errorf("%q: %v allocations for 1 MB, %v for 4 MB", line, allocs[0], allocs[1])
		}
	}
}
