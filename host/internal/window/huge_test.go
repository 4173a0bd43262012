package window_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/sdk/content"
)

// queried is a call of an MCP tool and its result of so many bytes.
func queried(id string, bytes int) []content.Content {
	var rows strings.Builder
	for i := 0; rows.Len() < bytes; i++ {
		fmt.Fprintf(&rows, "%s row %d: customer_%d ordered item_%d\n", id, i, i*7919%100003, i*31%977)
	}
	return []content.Content{gen.Call(id, "mcp__db__query", fmt.Sprintf(`{"sql":"select %s"}`, id)),
		gen.Answer(id, "mcp__db__query", rows.String()[:bytes])}
}

// With the strategies that ship: a huge result loses its middle, and what fitted before stays whole.
func TestAHugeResultCostsNothingElse(t *testing.T) {
	const limit, small = 200_000, 1500
	parallel := queried("huge1", 450_000)
	for i, more := range queried("huge2", 450_000) {
		parallel[i].Blocks = append(parallel[i].Blocks, more.Blocks...)
	}
	cases := map[string]struct {
		full float64 // how much of the threshold is used before; 0: 11 % of the window
		huge []content.Content
	}{
		"newest":                 {0, queried("huge1", 850_000)},
		"older":                  {0, append(queried("huge1", 850_000), queried("last", small)...)},
		"parallel":               {0, parallel},
		"in a row":               {0, append(queried("huge1", 450_000), queried("huge2", 450_000)...)},
		"almost full":            {0.8, queried("huge1", 850_000)},
		"below the hard limit":   {0, queried("huge1", 440_000)},
		"older, below the limit": {0, append(queried("huge1", 440_000), queried("last", small)...)},
	}
	server := modelapi.Start(t, modelapi.Options{Reply: summary})
	for _, strategy := range binaries.Shipped {
		h := writing(t, "openai", server, map[string]any{"compression.strategy": strategy, "model.contextLimit": limit})
		for name, c := range cases {
			t.Run(strategy+"/"+name, func(t *testing.T) {
				s := begin(t, h, nil)
				defer s.Close()
				add(t, s, says(content.Human, "Find out why the totals differ. Never touch the ledger."))
				was := prepareTurn(t, s)
				for i := 0; float64(was.Tokens) < cmp.Or(c.full*was.Outcome.Limits.Trigger, 0.11*limit); i++ {
					add(t, s, queried(fmt.Sprint("c", i), small)...)
					was = prepareTurn(t, s)
				}
				add(t, s, c.huge...)
				p := prepareTurn(t, s)
				if o := p.Outcome; float64(o.Projected) >= o.Limits.Trigger || o.Compress.Kind == outcome.KindApplied ||
					len(o.Ladder) != 1 || o.Ladder[0].Rung != outcome.RungHuge {
					t.Errorf("%d tokens, compress %+v, ladder %+v", o.Projected, o.Compress, o.Ladder)
				}
				want := append(was.Contents(), c.huge...)
				sent := p.Contents()
				for i, got := range sent {
					// The newest message was pinned, and marks are recorded.
					sent[i] = check.Unrecorded(check.MarkKept(got, ""))
					for j, b := range got.Blocks {
						if r, ok := b.(content.ToolResponse); ok && strings.HasPrefix(r.CallID, "huge") {
							text, original := r.ResultText(), want[i].Blocks[j].(content.ToolResponse).ResultText()
							begin, end, ok := strings.Cut(text, "bytes removed here to stay under the context limit: entry ")
							if !ok || len(text) < limit/20 || begin[:1000] != original[:1000] ||
								!strings.HasSuffix(original, end[len(end)-1000:]) {
								t.Errorf("%d bytes are left of %s", len(text), r.CallID)
							}
							got.Blocks[j] = want[i].Blocks[j]
						}
					}
				}
				if gocmp.Diff(want, sent) != "" {
					t.Errorf("the rest changed: %d entries are sent of %d", len(sent), len(want))
				}
				if err := accepts(p.Contents(), false); err != nil {
					t.Error(err)
				}
				add(t, s, queried("next", small)...)
				if o := prepareTurn(t, s).Outcome; len(o.Ladder) > 0 || o.Tokens <= p.Tokens {
					t.Errorf("the next turn: %+v, %d tokens", o.Ladder, o.Tokens)
				}
			})
		}
	}
}

// Where the history is to be compressed anyway, a huge result pushes out no more than one of the size that it is cut to.
func TestAHugeResultInAFullHistory(t *testing.T) {
	server := modelapi.Start(t, modelapi.Options{Reply: summary})
	for _, strategy := range binaries.Shipped {
		t.Run(strategy, func(t *testing.T) {
			h := writing(t, "openai", server, map[string]any{"compression.strategy": strategy, "model.contextLimit": 50_000})
			send := func(bytes int) window.Prepared {
				s := begin(t, h, nil)
				defer s.Close()
				add(t, s, says(content.Human, "Find out why the totals differ. Never touch the ledger."))
				for i := range 75 {
					add(t, s, queried(fmt.Sprint("c", i), 1500)...)
				}
				add(t, s, queried("huge", bytes)...)
				return prepareTurn(t, s)
			}
			huge := send(400_000)
			left := 0
			for _, c := range huge.Contents() {
				for _, b := range c.Blocks {
					if r, ok := b.(content.ToolResponse); ok && r.CallID == "huge" {
						left = len(r.ResultText())
					}
				}
			}
			usual := send(left)
			if a, b := huge.Outcome.Compress, usual.Outcome.Compress; left < 5000 || a.Kind != outcome.KindApplied ||
				b.Kind != outcome.KindApplied || len(huge.Contents()) < len(usual.Contents()) {
				t.Errorf("%d of %d bytes are left, compress %+v, %+v; %d entries, %d", left, 400_000, a, b,
					len(huge.Contents()), len(usual.Contents()))
			}
		})
	}
}
