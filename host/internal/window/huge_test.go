package window_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/sdk/content"
)

func printed(name string, bytes int) string {
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "%s row %d: customer_%d ordered item_%d for %d.%02d\n", name, i, i*7919%100003, i*31%977, i%500, i%100)
	}
	return b.String()[:bytes]
}

func TestHugeRepro(t *testing.T) {
	server := modelapi.Start(t, modelapi.Options{Reply: summary})
	for _, ladder := range []string{"make-room", "error"} {
	for _, c := range []string{"newest", "older", "two", "80%"} {
		for _, strategy := range binaries.Shipped {
			t.Run(c+"/"+strategy+"/"+ladder, func(t *testing.T) {
				h := writing(t, "openai", server, map[string]any{"compression.strategy": strategy, "model.contextLimit": 200_000, "compression.hardLimit": ladder})
				s := begin(t, h, nil)
				each := 1500
				if c == "80%" {
					each = 12000
				}
				add(t, s, says(content.Human, "Find out why the totals differ. Never touch the ledger."))
				for i := range 40 {
					id := fmt.Sprint("c", i)
					add(t, s, gen.Call(id, "mcp__db__query", fmt.Sprintf(`{"sql":"select %d"}`, i)), gen.Answer(id, "mcp__db__query", printed(id, each)))
					if i%10 == 9 {
						prepareTurn(t, s)
					}
				}
				was := prepareTurn(t, s)
				whole := func(p window.Prepared) (n int) {
					for _, c := range p.Contents() {
						for _, b := range c.Blocks {
							if r, ok := b.(content.ToolResponse); ok && !strings.Contains(r.ResultText(), "[") {
								n++
							}
						}
					}
					return n
				}
				n := 0
				huge := func(size int) {
					id := fmt.Sprint("huge", n)
					n++
					add(t, s, gen.Call(id, "mcp__db__query", fmt.Sprintf(`{"sql":"huge %d"}`, n)), gen.Answer(id, "mcp__db__query", printed(id, size)))
				}
				switch c {
				case "two":
					huge(450_000)
					huge(450_000)
				case "older":
					huge(850_000)
					id := "after"
					add(t, s, gen.Call(id, "mcp__db__query", `{"sql":"select x"}`), gen.Answer(id, "mcp__db__query", printed(id, 1500)))
				default:
					huge(850_000)
				}
				p, err := s.Prepare(t.Context(), window.Sending{})
				t.Logf("%s %s: before %d tokens %d whole; after %d tokens, %d whole, %d entries, err %v", c, strategy, was.Tokens, whole(was), p.Tokens, whole(p), len(p.Contents()), err)
				t.Logf("  compress %s %s %d->%d", p.Outcome.Compress.Kind, p.Outcome.Compress.NoOp, p.Outcome.Compress.TokensBefore, p.Outcome.Compress.TokensAfter)
				t.Logf("  warn %q", p.Outcome.Warnings); t.Logf("  ladder %+v", p.Outcome.Ladder)
				for _, c := range p.Outcome.Changes { if c.After > 1000 || c.Before > 10000 { t.Logf("  %s %d->%d", c.Step, c.Before, c.After) } }
				s.Close()
			})
		}
	}
	}
}
