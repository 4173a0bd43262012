package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Four reads at once return more than the context window holds. The host shortens these results before it asks a
// strategy. With every strategy all requests fit, and providers take them.
func TestFourReadsAtOnceThatAreLargerThanTheWindow(t *testing.T) {
	const limit = 49_181
	file := func(name string, lines int) string {
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "\tvalue := %s_%d(input, options)\n", name, i)
		}
		return b.String()
	}
	entries := []content.Content{gen.Said(content.Human, "Find out why it fails. Never touch the lexer.")}
	for i := range 6 {
		id := fmt.Sprint("c", i)
		entries = append(entries, gen.Call(id, "read_file", fmt.Sprintf(`{"file_path":"/w/%d.go"}`, i)),
			gen.Answer(id, "read_file", file(id, 500)))
	}
	var four, answers content.Content
	for _, id := range []string{"p", "q", "r", "s"} {
		params := fmt.Sprintf(`{"file_path":"/w/%s.go"}`, id)
		four.Blocks = append(four.Blocks, gen.Call(id, "read_file", params).Blocks...)
		answers.Blocks = append(answers.Blocks, gen.Answer(id, "read_file", file(id, 1500)).Blocks...)
	}
	four.Speaker, answers.Speaker = content.AI, content.Tool
	entries = append(entries, four, answers, says("ai", "It is r_700."))

	server := modelapi.Start(t, modelapi.Options{Reply: modelapi.Always(modelapi.Reply{
		Text: "<state_snapshot>\n<overall_goal>\nA parser.\n</overall_goal>\n</state_snapshot>"})})
	c := settings.Load(t, pluginDir, map[string]any{
		"model.contextLimit": limit, "compression.profile": "writer", "profiles.writer.provider.kind": "openai",
		"profiles.writer.provider.model": "writer-1", "profiles.writer.provider.baseURL": server.URL,
	})
	h, err := window.Open(window.Options{Config: c, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	recording, err := replay.Record(t.Context(), h, &transcript.Transcript{Entries: entries})
	if err != nil {
		t.Fatal(err)
	}
	for _, strategy := range binaries.Shipped {
		var last replay.Turn
		for turn, err := range recording.Turns(t.Context(), h, replay.Options{
			Settings: map[string]any{"compression.strategy": strategy},
		}) {
			if err != nil {
				t.Fatalf("%s: %v", strategy, err)
			}
			problems := turns.Check(turn.Prepared.Contents())
			if turn.Overflow != "" || turn.Projected > limit || len(problems) > 0 {
				t.Errorf("%s, turn %d: %d tokens, %s%v", strategy, turn.Turn, turn.Projected, turn.Overflow, problems)
			}
			last = turn
		}
		if l := last.Ladder; len(l) != 1 || l[0].Rung != outcome.RungHuge || l[0].TokensBefore <= limit {
			t.Errorf("%s: the steps at the last request: %+v", strategy, last.Ladder)
		}
	}
}
