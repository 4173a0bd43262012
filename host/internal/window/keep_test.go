package window_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// reading is a call that reads a file, with its result.
func reading(id, path, result string) []content.Content {
	return []content.Content{
		{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: id, Name: "Read",
			Parameters: json.RawMessage(`{"file_path":"` + path + `"}`)}}},
		{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: id, ToolName: "Read",
			Result: content.String(result)}}},
	}
}

// marked says which changes of being kept a turn made, and what is kept after it.
func marked(p window.Prepared) (changes, kept string) {
	var all, now []string
	for _, c := range p.Outcome.Changes {
		if !c.Kind.Sent() {
			all = append(all, fmt.Sprintf("%s %s %s %s", c.Step, c.Kind, c.EntryID, c.Rule))
		}
	}
	for i, c := range p.Contents() {
		if rule := check.KeptBy(c); rule != "" {
			now = append(now, fmt.Sprintf("%d %s", i, rule))
		}
	}
	return strings.Join(all, ", "), strings.Join(now, ", ")
}

// A setting that changes holds from the next turn on, for what is in the session too; in another host, nothing is
// decided again.
func TestKeepInAStoredSession(t *testing.T) {
	kept := store.NewMemory()
	first := openOn(t, kept, nil)
	s, err := first.Open(window.Opening{Key: store.Key{ID: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	turn := func(wantChanges, wantKept string) window.Prepared {
		t.Helper()
		p := prepareTurn(t, s)
		if changes, now := marked(p); changes != wantChanges || now != wantKept {
			t.Errorf("changes %q, kept %q; want %q, %q", changes, now, wantChanges, wantKept)
		}
		return p
	}
	add(t, s, says(content.Human, "<keep>never push</keep>"))
	add(t, s, reading("a", "/r/CLAUDE.md", "use tabs")...)
	p := turn("keep kept e1 <keep>", "0 <keep>")
	add(t, s, reading("b", "/r/main.go", "package main")...)
	if q := turn("", "0 <keep>"); q.Outcome.Stable.Entries != len(p.Contents()) {
		t.Errorf("%d entries of %d are sent as before", q.Outcome.Stable.Entries, len(p.Contents()))
	}
	if err := s.Set(t.Context(), "compression.keep", []string{"CLAUDE.md"}); err != nil {
		t.Fatal(err)
	}
	turn("keep kept e3 CLAUDE.md", "0 <keep>, 2 CLAUDE.md")
	logged, err := s.Explain(t.Context(), "e3")
	if err != nil || len(logged) != 1 || logged[0].Kind != outcome.Kept || logged[0].Rule != "CLAUDE.md" ||
		logged[0].Step != outcome.StepKeep {
		t.Errorf("%+v, %v", logged, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = openOn(t, kept, nil).Open(window.Opening{Key: store.Key{ID: "s"}}); err != nil {
		t.Fatal(err)
	}
	turn("", "0 <keep>, 2 CLAUDE.md")
	add(t, s, reading("c", "/r/CLAUDE.md", "use tabs")...) // the older reading may go
	turn("keep released e3 CLAUDE.md, keep kept e7 CLAUDE.md", "0 <keep>, 6 CLAUDE.md")
	if err := s.Set(t.Context(), "compression.keep", nil); err != nil {
		t.Fatal(err)
	}
	if p := prepareTurn(t, s); strings.Contains(fmt.Sprint(marked(p)), "CLAUDE.md,") || len(p.Outcome.Changes) == 0 {
		t.Errorf("%+v", p.Outcome.Changes)
	}
	// A strategy's answer is none of this.
	if err := s.Set(t.Context(), "compression.keep", []string{"docs/"}); err == nil ||
		!strings.Contains(err.Error(), `compression.keep[0]: "docs/" is a directory: docs/** names the files below it`) {
		t.Error(err)
	}
	_, err = config.Load(config.Options{WorkDir: t.TempDir(), Env: []string{"THRESH_COMPRESSION_KEEP=a.md,tols:Read"}})
	if err == nil || !strings.Contains(err.Error(), `compression.keep[1]: "tols:Read" begins with an unknown kind`) {
		t.Error(err)
	}
}

// Where what is kept does not fit, the error says what it is and what to do; what is over the bound is not kept, and a
// warning names it.
func TestKeptEntriesAreBounded(t *testing.T) {
	long := "<keep>" + strings.Repeat("never push to main. ", 140) + "</keep>"
	for share, want := range map[float64]string{
		1:    "kept by <keep>",
		0.25: "compression.keep: <keep> names more than fits: not kept from a message (e1, ",
	} {
		h := open(t, map[string]any{"model.contextLimit": 1000, "compression.keepShare": share})
		s := begin(t, h, nil)
		add(t, s, says(content.Human, long), says(content.AI, "I see."), says(content.Human, "Go on."),
			says(content.AI, "Done."), says(content.Human, strings.Repeat("And then? ", 150)))
		p, err := s.Prepare(t.Context(), window.Sending{})
		if got := fmt.Sprint(err, p.Outcome.Warnings); !strings.Contains(got, want) {
			t.Errorf("share %v: %s", share, got)
		}
		if share == 1 && (err == nil || !strings.Contains(err.Error(), "keep less with compression.keep")) {
			t.Errorf("%v", err)
		}
		if share < 1 && err != nil {
			t.Error(err)
		}
	}
}
