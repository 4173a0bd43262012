package replay_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Tests all over the project rely on these properties of examples/sessions.
func TestSamplesAreReadWithoutRemarkAndShowWhatStrategiesWorkOn(t *testing.T) {
	want := map[string]transcript.Format{"claude-code-ratelimit.jsonl": transcript.ClaudeCode,
		"gemini-cli-ledger.json": transcript.GeminiCLI, "native-mdlinks.json": transcript.Native}
	files := repo.Samples(t)
	if len(files) != len(want) {
		t.Fatalf("%d samples, want %d", len(files), len(want))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			tr, err := transcript.ReadFile(file, transcript.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if tr.Format != want[filepath.Base(file)] || len(tr.Entries) < 100 {
				t.Errorf("%d entries, read as %s", len(tr.Entries), tr.Format)
			}
			for _, n := range tr.Notes {
				if !n.Routine {
					t.Error(n)
				}
			}
			staleReadsAndFailedEdits(t, tr)
			figuresInReadme(t, file, tr)
		})
	}
}

// staleReadsAndFailedEdits fails the test unless every call is answered once, files are read, edited and read again,
// and an edit fails.
func staleReadsAndFailedEdits(t *testing.T, tr *transcript.Transcript) {
	t.Helper()
	reads := map[string]bool{"Read": true, "read_file": true}
	edits := map[string]bool{"Edit": true, "Write": true, "replace": true, "write_file": true}
	type call struct{ tool, path string }
	open, read := map[string]call{}, map[string]bool{}
	stale, again, failed := 0, 0, 0
	for _, entry := range tr.Entries {
		for _, block := range entry.Blocks {
			switch b := block.(type) {
			case content.ToolCall:
				var in struct {
					FilePath     string `json:"file_path"`
					AbsolutePath string `json:"absolute_path"`
				}
				if err := json.Unmarshal(b.Parameters, &in); err != nil {
					t.Fatal(err)
				}
				open[b.ID] = call{b.Name, in.FilePath + in.AbsolutePath}
			case content.ToolResponse:
				c, asked := open[b.CallID]
				if !asked {
					t.Errorf("a result of %s, which is no open call", b.CallID)
				}
				delete(open, b.CallID)
				switch {
				case reads[c.tool] && read[c.path]:
					again++
				case reads[c.tool]:
					read[c.path] = true
				case edits[c.tool] && b.Failed():
					failed++
				case edits[c.tool] && read[c.path]:
					stale++
				}
			}
		}
	}
	if len(open) > 0 || stale < 5 || again < 2 || failed < 1 {
		t.Errorf("%d calls without a result, want 0; %d edits of files that were read, want 5; %d files read again, "+
			"want 2; %d failed edits, want 1", len(open), stale, again, failed)
	}
}

// figuresInReadme compares the row of the sample in examples/sessions/README.md with what was read.
func figuresInReadme(t *testing.T, file string, tr *transcript.Transcript) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(filepath.Dir(file), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	counter, err := tokens.For("", "o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	counts, err := counter.CountAll(t.Context(), tr.Entries, nil)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	row := regexp.MustCompile(fmt.Sprintf("(?m)^\\| `%s` \\|.*\\| %d \\| %d \\|", regexp.QuoteMeta(filepath.Base(file)),
		len(tr.Entries), total))
	if !row.MatchString(strings.ReplaceAll(string(readme), ",", "")) {
		t.Errorf("no row with %d entries and %d tokens", len(tr.Entries), total)
	}
}
