package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

var pluginDir string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "replay")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		if err := binaries.Strategies(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		pluginDir = dir
		return m.Run()
	}())
}

func open(t *testing.T, contextLimit int) *window.Host {
	t.Helper()
	c := settings.Load(t, pluginDir, map[string]any{
		"compression.strategy": "high-density", "model.contextLimit": contextLimit, "proxy.recall": false,
	})
	h, err := window.Open(window.Options{Config: c, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func says(speaker content.Speaker, text string) content.Content {
	return content.Content{Speaker: speaker, Blocks: []content.Block{content.Text{Text: text}}}
}

func calls(id string) content.Content {
	return content.Content{Speaker: content.AI, Blocks: []content.Block{
		content.ToolCall{ID: id, Name: "read_file", Parameters: json.RawMessage(`{"file_path":"/w/a"}`)},
	}}
}

func answers(id string) content.Content {
	return content.Content{Speaker: content.Tool, Blocks: []content.Block{
		content.ToolResponse{CallID: id, ToolName: "read_file", Result: json.RawMessage(`"text"`)},
	}}
}

// before are the entries before which the turns of a report came.
func before(r replay.Report) (entries []int) {
	for _, t := range r.Turns {
		entries = append(entries, t.Entry)
	}
	return entries
}

func TestATurnIsEachTimeTheModelWasCalled(t *testing.T) {
	h := open(t, 100_000)
	for name, c := range map[string]struct {
		entries []content.Content
		want    []int
	}{
		"nothing":                   {nil, nil},
		"a question":                {[]content.Content{says("human", "q")}, []int{1}},
		"a question and its answer": {[]content.Content{says("human", "q"), says("ai", "a")}, []int{1}},
		"an answer in two entries": {[]content.Content{says("human", "q"), says("ai", "a"), says("ai", "b")},
			[]int{1}},
		"it begins with the model": {[]content.Content{says("ai", "a"), says("human", "q"), says("ai", "b")},
			[]int{0, 2}},
		"a tool": {[]content.Content{says("human", "q"), calls("1"), answers("1"), says("ai", "a")},
			[]int{1, 3}},
		"interrupted before the end": {[]content.Content{says("human", "q"), calls("1"), answers("1")}, []int{1, 3}},
	} {
		seen := 0
		r, err := replay.Run(
			t.Context(),
			h,
			&transcript.Transcript{Entries: c.entries},
			replay.Options{Progress: func(done, of int) {
				if seen++; done != seen || of != len(c.entries) {
					t.Errorf("%s: progress %d of %d", name, done, of)
				}
			}},
		)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, before(r)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if r.Totals.Turns != len(c.want) || r.Entries != len(c.entries) || seen != len(c.entries) ||
			r.Strategy != "high-density" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestTotalsAddTheTurnsUp(t *testing.T) {
	var entries []content.Content
	for i := range 30 {
		entries = append(
			entries, says("human", fmt.Sprint("question ", i)), calls(fmt.Sprint(i)), answers(fmt.Sprint(i)),
			says("ai", strings.Repeat("long ", 60)),
		)
	}
	r, err := replay.Run(t.Context(), open(t, 1500), &transcript.Transcript{Entries: entries}, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var want replay.Totals
	for _, turn := range r.Turns {
		want.Turns++
		want.Unpruned += turn.Unpruned
		want.Sent += turn.AfterCompress
		want.PeakUnpruned = max(want.PeakUnpruned, turn.Unpruned)
		want.Peak = max(want.Peak, turn.AfterCompress)
		if turn.Compress.Kind == "applied" {
			want.Compressed++
		}
		if turn.Optimize.Removed+turn.Optimize.Replaced > 0 {
			want.Optimized++
		}
		if turn.Overflow != "" {
			want.Overflows++
		}
		want.HostTime += turn.HostTime
		want.PluginTime += turn.PluginTime
	}
	if diff := cmp.Diff(want, r.Totals); diff != "" {
		t.Error(diff)
	}
	if want.Compressed == 0 || r.Saved <= 0 || r.Saved >= 1 || r.Saved != r.Totals.Saved() {
		t.Errorf("saved %v, totals %+v", r.Saved, r.Totals)
	}
	if last := r.Turns[len(r.Turns)-1]; last.Unpruned <= last.Before {
		t.Errorf("the last request counts %d tokens, and %d had nothing been done", last.Before, last.Unpruned)
	}
}

func TestARequestThatStaysTooLargeIsNoted(t *testing.T) {
	r, err := replay.Run(
		t.Context(), open(t, 20),
		&transcript.Transcript{Entries: []content.Content{says("human", strings.Repeat("word ", 100))}},
		replay.Options{},
	)
	if err != nil || r.Totals.Overflows != 1 || !strings.Contains(r.Turns[0].Overflow, "context limit") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAnEntryWithoutBlocksIsPassedOver(t *testing.T) {
	r, err := replay.Run(t.Context(), open(t, 1000), &transcript.Transcript{Entries: []content.Content{
		says("human", "q"), {Speaker: content.AI}, says("human", "and?"), says("ai", "a"),
	}}, replay.Options{})
	if err != nil || r.Totals.Turns != 2 || r.Totals.Problems != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWhatWasReplayedComesBackWithTheError(t *testing.T) {
	recorded := &transcript.Transcript{
		Entries: []content.Content{says("human", "q"), says("ai", "a"), says("robot", "?")}, Lines: []int{2, 3, 7},
	}
	r, err := replay.Run(t.Context(), open(t, 1000), recorded, replay.Options{})
	if !errors.Is(err, window.ErrInvalidEntry) || !strings.HasPrefix(err.Error(), "entry 2 (line 7): ") ||
		len(r.Turns) != 1 ||
		r.Totals.Turns != 1 {
		t.Errorf("%d turns, %v", len(r.Turns), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replay.Run(ctx, open(t, 1000), recorded, replay.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestSavedOfNothing(t *testing.T) {
	if got := (replay.Totals{}).Saved(); got != 0 {
		t.Errorf("got %v", got)
	}
}

// Strategies look for files where the recorded agent worked: a file that it named in two ways is one file.
func TestTheRecordedDirectoryDecides(t *testing.T) {
	write := content.Content{Speaker: content.AI, Blocks: []content.Block{
		content.ToolCall{ID: "2", Name: "write_file", Parameters: json.RawMessage(`{"file_path":"a","content":"x"}`)},
	}}
	written := content.Content{Speaker: content.Tool, Blocks: []content.Block{
		content.ToolResponse{CallID: "2", ToolName: "write_file", Result: json.RawMessage(`"done"`)},
	}}
	entries := []content.Content{says("human", "q"), calls("1"), answers("1"), write, written, says("ai", "a"),
		says("human", "q"), says("ai", "a")}
	h := open(t, 100_000)
	for dir, want := range map[string]bool{"": false, "/elsewhere": false, "/w": true} {
		var last replay.Turn
		session, err := replay.Record(t.Context(), h, &transcript.Transcript{Entries: entries, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		for turn, err := range session.Turns(t.Context(), h, replay.Options{
			Settings: map[string]any{"compression.density.cadence": "every-turn"},
		}) {
			if err != nil {
				t.Fatal(err)
			}
			last = turn
		}
		if got := len(last.Prepared.Contents()) < 7; got != want {
			t.Errorf("recorded in %q: the read is pruned: %v", dir, got)
		}
	}
}

// What shell commands read and write counts as what file tools do, if it is certain.
func TestReadsByShellArePruned(t *testing.T) {
	run := func(id, command string) []content.Content {
		return []content.Content{
			{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: id, Name: "exec_command",
				Parameters: fmt.Appendf(nil, `{"cmd":%q,"workdir":"/w"}`, command)}}},
			{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: id, ToolName: "exec_command",
				Result: content.String("Process exited with code 0\nOutput:\n" + strings.Repeat("line\n", 50))}}},
		}
	}
	h := open(t, 100_000)
	for second, want := range map[string]bool{"sed -i s/a/b/ /w/a": true, "go test": false, "cat > $F": false} {
		entries := slices.Concat([]content.Content{says("human", "q")}, run("1", "nl -ba a | sed -n '1,50p'"),
			run("2", second), []content.Content{says("ai", "a"), says("human", "q"), says("ai", "a")})
		session, err := replay.Record(t.Context(), h, &transcript.Transcript{Entries: entries})
		if err != nil {
			t.Fatal(err)
		}
		var last replay.Turn
		for turn, err := range session.Turns(t.Context(), h, replay.Options{
			Settings: map[string]any{"compression.density.cadence": "every-turn"},
		}) {
			if err != nil {
				t.Fatal(err)
			}
			last = turn
		}
		if got := len(last.Prepared.Contents()) < 7; got != want {
			t.Errorf("%q: the read before is pruned: %v", second, got)
		}
		for _, c := range last.Prepared.Contents() {
			if strings.Contains(string(c.AppendJSON(nil)), tools.FilesField) {
				t.Errorf("the history has the field for strategies: %s", c.AppendJSON(nil))
			}
		}
	}
}

// What the recording says counts where nobody said anything else.
func TestTheRecordingDecidesWhatNobodySet(t *testing.T) {
	recorded := &transcript.Transcript{Dir: "/recorded", Model: "claude-sonnet-4-6", ContextLimit: 150_000}
	from := map[string]any{"workspace.root": "/recorded", "model.contextLimit": 150_000,
		"model.priceList": "anthropic-sonnet"}
	but := func(changes map[string]any) map[string]any {
		out := maps.Clone(from)
		for key, value := range changes {
			if out[key] = value; value == nil {
				delete(out, key)
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		set   string
		given map[string]any
		want  map[string]any
	}{
		"nothing is set":              {want: from},
		"the directory is":            {set: "workspace.root=/mine", want: but(map[string]any{"workspace.root": nil})},
		"the directory, for this run": {given: map[string]any{"workspace.root": "/given"}, want: but(map[string]any{"workspace.root": "/given"})},
		"the model is":                {set: "model.name=gpt-5", want: but(map[string]any{"model.priceList": nil})},
		"no prices are wanted":        {set: "model.priceList=none", want: but(map[string]any{"model.priceList": nil})},
		"the limit is":                {set: "model.contextLimit=9000", want: but(map[string]any{"model.contextLimit": nil})},
	} {
		t.Run(name, func(t *testing.T) {
			o := config.Options{WorkDir: t.TempDir(), Env: []string{}}
			if c.set != "" {
				override, err := config.ParseOverride(c.set, "--set")
				if err != nil {
					t.Fatal(err)
				}
				o.Overrides = []config.Override{override}
			}
			loaded, err := config.Load(o)
			if err != nil {
				t.Fatal(err)
			}
			h, err := window.Open(window.Options{Config: loaded})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			if diff := cmp.Diff(c.want, replay.Settings(h, recorded, c.given)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
