package proxy_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// An agent that will not read an unchanged file again refers the model to the earlier result. Where that is no longer
// sent, it stands where the reference is, also after a restart; where it is, the reference stays.
func TestAReferenceToARemovedResultIsTheResult(t *testing.T) {
	const reference = "Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead."
	for name, tt := range map[string]struct {
		limit    int
		resolved bool
	}{"removed": {8000, true}, "still there": {200_000, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := append([]modelapi.Turn{{modelapi.Read("kept.go")}}, work(8)...)
			script = append(script, modelapi.Turn{modelapi.Read("kept.go")}, modelapi.Turn{modelapi.Run("true")},
				modelapi.Turn{modelapi.Run("go vet")})
			up := provider(t, modelapi.Options{Script: script})
			settings := map[string]any{"sessions.store": "sqlite:" + filepath.Join(t.TempDir(), "s.db"),
				"compression.strategy": "top-down-truncation", "model.contextLimit": tt.limit}
			p := stand(t, up.URL, settings)
			reads := 0
			a := &agent{form: messagesForm{"s"}, base: p.url}
			a.result = func(turn int, c call) string {
				switch {
				case strings.Contains(c.args, "kept.go"):
					if reads++; reads > 1 {
						return reference
					}
					return strings.Repeat("what the file says\n", 30)
				case strings.Contains(c.args, `"true"`): // the next proxy knows the conversation from the store
					p.end()
					p = stand(t, up.URL, settings)
					a.base = p.url
				}
				return files(turn, c)
			}
			if status := a.run(t, "Fix it."); status != http.StatusOK {
				t.Fatal(status)
			}
			sent := up.Models()
			for _, r := range sent[len(sent)-3:] { // the one with the reference, and those behind it
				if n := strings.Count(string(r.Body), "what the file says"); n != 30 {
					t.Errorf("the request has %d lines of the file", n)
				}
				if strings.Contains(string(r.Body), "Wasted call") == tt.resolved {
					t.Errorf("the reference is there: %v", !tt.resolved)
				}
			}
			if !modelapi.Continues(sent[len(sent)-2].Body, sent[len(sent)-1].Body) || p.proxy.Totals().Failed > 0 ||
				len(up.Refused()) > 0 {
				t.Errorf("after the restart the conversation is another: %+v, %q", p.proxy.Totals(), up.Refused())
			}
		})
	}
}
