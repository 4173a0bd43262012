package clienttest

import (
	"bytes"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// Agents that thresh wrap tells of the MCP server give their model a result back that was removed.
func TestAgentsGiveRemovedResultsBack(t *testing.T) {
	for _, c := range clients {
		switch c.name {
		case "claude":
			c.args = append([]string{"--allowedTools=mcp__thresh__thresh_recall"}, c.args...)
		case "codex", "opencode":
		default:
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			c.installed(t)
			p := newPlace(t)
			script := append(modelapi.LongFix(10), modelapi.Turn{modelapi.Recall()})
			up := modelapi.New(modelapi.Options{Script: script, Dir: p.project})
			defer up.Close()
			p.run(t, c, up.URL, flags(small(c), "--set", "proxy.recall=true", "wrap")...).check(t, p, up)
			sent := up.Models()
			if c.name == "opencode" { // it cuts long results itself, so that none is removed here
				if !bytes.Contains(sent[0].Body, []byte(`"thresh_thresh_recall"`)) {
					t.Error("it does not offer the tool")
				}
				return
			}
			// The last request has the answer of the last call; the lines are of the log that the removed result showed.
			lines := func(fromEnd int) int { return bytes.Count(sent[len(sent)-fromEnd].Body, []byte("level=info")) }
			if last, before := lines(1), lines(2); last < before+20 {
				t.Errorf("%d requests; the last has %d lines of the log, the one before %d", len(sent), last, before)
			}
		})
	}
}
