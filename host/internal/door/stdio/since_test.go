package stdio

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
)

// An agent that says what it has is sent what follows. Whatever the strategy rewrote, what it holds in the end is what
// a prepare without "since" gives.
func TestPrepareSinceARevisionSendsWhatFollows(t *testing.T) {
	dir := t.TempDir()
	if err := binaries.Strategies(dir, "distill"); err != nil {
		t.Fatal(err)
	}
	machine, err := window.Open(window.Options{Config: settings.Load(t, dir, nil), Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = machine.Close() })
	for _, format := range []string{"", "anthropic", "openai-chat", "openai-responses"} {
		c := converse(t, host.Of(machine))
		c.must("session.open", map[string]any{"id": "s"})
		prepare := func(since map[string]any) (list []json.RawMessage, keep *int, revision int) {
			t.Helper()
			params := map[string]any{"session": "s"}
			if maps.Copy(params, since); format != "" {
				params["format"] = format
			}
			var r struct {
				Keep              *int
				History, Messages []json.RawMessage
				Revision          int
			}
			if err := json.Unmarshal([]byte(c.must("window.prepare", params)), &r); err != nil {
				t.Fatal(err)
			}
			return append(r.History, r.Messages...), r.Keep, r.Revision
		}
		var held []json.RawMessage
		since, saved := map[string]any{}, 0
		for i, e := range gen.Session(60, 2) {
			c.must("history.add", map[string]any{"session": "s", "entries": []json.RawMessage{e.AppendJSON(nil)},
				"opaque": true})
			if i%3 > 0 || i == 0 {
				continue
			}
			list, keep, _ := prepare(since)
			if keep != nil {
				held, saved = held[:*keep:*keep], saved+*keep
			}
			held = append(held, list...)
			whole, keep, revision := prepare(nil)
			same := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
			if !slices.EqualFunc(whole, held, same) || keep != nil {
				t.Fatalf("%q: after entry %d the agent has something else:\n%s", format, i, cmp.Diff(whole, held))
			}
			since["since"] = revision
		}
		if saved < 100 {
			t.Errorf("%q: only %d entries were not sent again", format, saved)
		}
		if stale, keep, _ := prepare(map[string]any{"since": 1}); *keep != 0 || len(stale) < len(held) {
			t.Errorf("%q: since a revision that is not the last: %d kept, %d sent", format, *keep, len(stale))
		}
		c.end()
	}
}
