package window_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/conform/statements"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
)

// speakers are the strategies whose statements are read, with settings that make them say all that they can say.
var speakers = []struct {
	name, strategy string
	settings       map[string]any
}{
	{"distill", "distill", nil},
	{"high-density", "high-density", nil},
	{"high-density with recency", "high-density", map[string]any{"compression.density.recencyPruning": true}},
	{"top-down-truncation", "top-down-truncation", nil},
	{"middle-out", "middle-out", nil},
	{"one-shot", "one-shot", nil},
}

// TestWhatIsSaidIsTrue plays sessions with each strategy in windows of three sizes, and reads what the strategies and
// the host wrote into the histories that a model would be sent.
func TestWhatIsSaidIsTrue(t *testing.T) {
	race.Skip(t)
	server := modelapi.Start(t, modelapi.Options{Reply: summary})
	h := writing(t, "openai", server, nil)
	limits := []int{third}
	if !testing.Short() {
		limits = append(limits, 30_000, 200_000)
	}
	all := map[string]*said{}
	t.Run("samples", func(t *testing.T) { sayAll(t, h, repo.Samples(t), limits, all) })
	t.Run("recorded", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(repo.Shared(t, "sessions", "native"), "*", "*"))
		files = slices.DeleteFunc(files, repo.Unread)
		if err != nil || len(files) == 0 {
			t.Fatalf("no recorded sessions: %v", err)
		}
		sayAll(t, h, files, limits, all)
	})
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		t.Logf("%-60s %6d read, %6d false", name, s.read, s.wrong)
	}
}

// third stands for a window of a third of the session, so that any session is compressed several times.
const third = 0

// said counts statements.
type said struct{ read, wrong int }

var counting sync.Mutex

func sayAll(t *testing.T, h *window.Host, files []string, limits []int, all map[string]*said) {
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() > longest() {
			t.Logf("SKIPPED: %s is not played with -short (%v)", file, err)
			continue
		}
		recorded, err := transcript.ReadFile(file, transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		counts, err := tokensOf(t, recorded.Entries)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range speakers {
			for _, limit := range limits {
				if limit == third {
					limit = max(2000, counts/3)
				}
				name := fmt.Sprintf("%s/%d/%s", s.name, limit, filepath.Base(file))
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					set := map[string]any{"compression.strategy": s.strategy, "model.contextLimit": limit}
					if recorded.Dir != "" {
						set["workspace.root"] = recorded.Dir
					}
					maps.Copy(set, s.settings)
					count := listen(t, h, set, recorded.Dir, recorded.Entries)
					counting.Lock()
					defer counting.Unlock()
					for k, n := range count {
						key := fmt.Sprintf("%s, %s", s.name, k)
						if all[key] == nil {
							all[key] = &said{}
						}
						all[key].read += n.read
						all[key].wrong += n.wrong
					}
				})
			}
		}
	}
}

func tokensOf(t *testing.T, entries []content.Content) (sum int, err error) {
	counter, err := tokens.For("", "")
	if err != nil {
		return 0, err
	}
	counts, err := counter.CountAll(t.Context(), entries, nil)
	for _, n := range counts {
		sum += n
	}
	return sum, err
}

// listen plays a session and reads what is said in each history that a rewrite made, and in the last. Each statement is
// counted once, however often it was sent.
func listen(t rapid.TB, h *window.Host, set map[string]any, root string, entries []content.Content,
) map[statements.Kind]said {
	t.Helper()
	counter, err := tokens.For("", "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.Open(window.Opening{Settings: set})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	frame := counter.Entry(content.Content{})
	c := statements.New(statements.Options{Root: root, Tokens: func(b content.Block) int {
		return counter.Entry(content.Content{Blocks: []content.Block{b}}) - frame
	}})
	ctx := context.Background()
	type sentence struct {
		kind        statements.Kind
		entry, text string
	}
	known := map[sentence]bool{} // and whether it was true
	read := func(p window.Prepared, before int) {
		for _, r := range c.Check(shownAs(t, s, p, counter)).All {
			key := sentence{r.Kind, r.Entry, r.Sentence}
			was, seen := known[key]
			if known[key] = r.Why == "" && (was || !seen); r.Why != "" && (was || !seen) {
				t.Errorf("before entry %d: %v", before, r)
			}
		}
	}
	ask := func(i int, last bool) {
		p, err := s.Prepare(ctx, window.Sending{})
		var overflow *prepare.ContextOverflowError
		if err != nil && !errors.As(err, &overflow) {
			t.Fatalf("before entry %d: %v", i, err)
		}
		if last || len(p.Outcome.Changes) > 0 {
			read(p, i)
		}
	}
	for i, e := range entries {
		if e.Speaker == content.AI && (i == 0 || entries[i-1].Speaker != content.AI) {
			ask(i, false)
		}
		if _, err := s.Add(ctx, window.Entries(e)); errors.Is(err, window.ErrInvalidEntry) {
			continue // recorders keep what no agent sends
		} else if err != nil {
			t.Fatal(err)
		}
		owned := owned(t, s).Entries
		c.Add(statements.Entry{ID: owned[len(owned)-1].ID, Content: e})
	}
	ask(len(entries), true)
	out := map[statements.Kind]said{}
	for k, ok := range known {
		n := out[k.kind]
		n.read++
		if !ok {
			n.wrong++
		}
		out[k.kind] = n
	}
	return out
}

// shownAs is what a turn prepared, with the ids of its entries.
func shownAs(t rapid.TB, s *window.Session, p window.Prepared, counter *tokens.Counter) []statements.Entry {
	again := history.New()
	again.AppendEntries(owned(t, s).Entries)
	view := again.View(counter.Entry)
	if len(view.Entries) != len(p.Contents()) {
		t.Fatalf("%d entries were prepared, and the history shows %d", len(p.Contents()), len(view.Entries))
	}
	out := make([]statements.Entry, len(view.Entries))
	for i, e := range view.Entries {
		if !e.Content.Equal(p.Contents()[i]) {
			t.Fatalf("entry %s is prepared as another one", cmp.Or(e.ID, "made"))
		}
		out[i] = statements.Entry{ID: e.ID, Content: p.Contents()[i]}
	}
	return out
}

// TestWhatIsSaidOfMadeSessionsIsTrue is the same for histories that are made: with repeated ids, late and lost answers,
// repeated lines, and output that looks like statements. A line in a tool's output that has exactly the form of a mark
// is taken for one when lines are counted: such output is left out here.
func TestWhatIsSaidOfMadeSessionsIsTrue(t *testing.T) {
	race.Skip(t)
	server := modelapi.Start(t, modelapi.Options{Reply: summary})
	h := writing(t, "openai", server, nil)
	read := 0
	made := rapid.OneOf(gen.Rereads(), gen.Busy(), gen.History(gen.Options{Malformed: true}))
	for i := range full.Or(294, 700) { // the same ones each time, as many with each strategy and window
		entries, s := made.Example(i), speakers[i%len(speakers)]
		for _, e := range entries {
			for j, b := range e.Blocks {
				if r, ok := b.(content.ToolResponse); ok {
					r.Result = bytes.ReplaceAll(r.Result, []byte("lines omitted]"), []byte("lines are left out]"))
					e.Blocks[j] = r
				}
			}
		}
		set := map[string]any{"compression.strategy": s.strategy, "workspace.root": "/w",
			"model.contextLimit": []int{600, 1500, 4000}[i/len(speakers)%3]}
		maps.Copy(set, s.settings)
		for _, n := range listen(t, h, set, "/w", entries) {
			read += n.read
		}
		if t.Failed() {
			t.Fatalf("session %d, %s, %v", i, s.name, set["model.contextLimit"])
		}
	}
	if read == 0 {
		t.Error("nothing was said: the test tells nothing")
	}
	t.Logf("%d statements", read)
}
