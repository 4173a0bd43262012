package todos_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// TestListsOfRecordedSessions holds against real sessions what their lists are at the end, and how many different lists
// there were on the way.
func TestListsOfRecordedSessions(t *testing.T) {
	const samples, recorded = "../../../examples/sessions", "recorded"
	for file, want := range map[string]struct{ tasks, done, lists int }{
		samples + "/claude-code-ratelimit.jsonl":                       {5, 5, 4},
		samples + "/gemini-cli-ledger.json":                            {4, 4, 3},
		samples + "/native-mdlinks.json":                               {4, 3, 4},
		recorded + "/cipher-box/81-2995ab46e2-3.jsonl":                 {4, 4, 11},
		recorded + "/entireio-cli/0f-c364a22bea-0.jsonl":               {11, 11, 33},
		recorded + "/packmind-context-evaluator/7b-904be9fc93-0.jsonl": {7, 7, 21},
		recorded + "/entireio-cli-gemini/session-15f05963.json":        {8, 2, 2},
		recorded + "/mini-swe-agent/github_issue.traj.json":            {0, 0, 0},
	} {
		t.Run(strings.TrimPrefix(strings.TrimPrefix(file, samples+"/"), recorded+"/"), func(t *testing.T) {
			if name, ok := strings.CutPrefix(file, recorded); ok {
				file = repo.Shared(t, "sessions", "native", name)
			}
			tr, err := transcript.ReadFile(filepath.FromSlash(file), transcript.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var tracker todos.Tracker
			lists, before := 0, ""
			for i, entry := range tr.Entries {
				tracker.Observe(entry)
				if err := todos.Check(tracker.Todos()); err != nil {
					t.Fatalf("after entry %d: %v", i, err)
				}
				if now := lines(tracker.Todos()); now != before {
					lists, before = lists+1, now
				}
			}
			all := tracker.Todos()
			if done := len(all) - len(todos.Active(all)); len(all) != want.tasks || done != want.done ||
				lists != want.lists {
				t.Errorf("%d tasks, %d done, %d lists, want %d, %d and %d:\n%s", len(all), done, lists, want.tasks,
					want.done, want.lists, lines(all))
			}
		})
	}
}
