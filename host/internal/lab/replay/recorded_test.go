package replay_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Sessions as agents wrote them go through the strategy that ships: each request pairs calls with results, and every
// line of it was recorded or is a mark.
func TestRecordedSessionsGoThroughAStrategy(t *testing.T) {
	t.Run("samples", func(t *testing.T) { goThrough(t, repo.Samples(t)) })
	t.Run("recorded", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(repo.Shared(t, "sessions", "native"), "*", "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		goThrough(t, slices.DeleteFunc(files, repo.Unread))
	})
}

func goThrough(t *testing.T, files []string) {
	h := open(t, 1_000_000)
	pruned, replayed := 0, 0
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() > int64(full.Or(300_000, 1_000_000)) {
			continue
		}
		recorded, err := transcript.ReadFile(file, transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// What the host answers a call with that got no answer in time.
		lines := map[string]bool{"no result came before the conversation went on": true}
		for _, c := range recorded.Entries {
			for line := range linesOf(c) {
				lines[line] = true
			}
		}
		r, err := replay.Record(t.Context(), h, recorded)
		if err != nil {
			t.Fatal(err)
		}
		for turn, err := range r.Turns(t.Context(), h, replay.Options{
			Settings: map[string]any{"compression.strategy": "distill", "model.contextLimit": 1_000_000,
				"compression.density.cadence": "every-turn"},
		}) {
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			pruned += turn.Optimize.Removed + turn.Optimize.Replaced
			if problems := turns.Check(turn.Prepared.Contents()); len(problems) > 0 {
				t.Fatalf("%s, turn %d: %v", file, turn.Turn, problems)
			}
			for i, c := range turn.Prepared.Contents() {
				for line := range linesOf(c) {
					if !lines[line] && !marks.Like(line) {
						t.Fatalf("%s, turn %d, entry %d: %q was not recorded", file, turn.Turn, i, line)
					}
				}
			}
		}
		replayed++
	}
	if pruned == 0 {
		t.Errorf("of %d sessions nothing was pruned", replayed)
	}
}

func linesOf(c content.Content) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, b := range c.Blocks {
			text := ""
			switch b := b.(type) {
			case content.Text:
				text = b.Text
			case content.Thinking:
				text = b.Thought
			case content.ToolCall:
				text = string(b.Parameters)
			case content.ToolResponse:
				text = strings.Join(marks.ResultLines(b.Result), "\n") + "\n" + b.Error
			}
			for line := range strings.SplitSeq(text, "\n") {
				if !yield(line) {
					return
				}
			}
		}
	}
}
