package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A chat goes on as one: where an answer went, the model's line stands between two questions, with the id by which it
// is given back if it was one.
func TestAChatIsSentWithMarks(t *testing.T) {
	for name, s := range speeches {
		for _, strategy := range []string{"distill", "high-density", "top-down-truncation"} {
			t.Run(name+"/"+strategy, func(t *testing.T) {
				t.Parallel()
				reply := func(*modelapi.Request) modelapi.Reply { return modelapi.Reply{Text: "So."} }
				up := provider(t, modelapi.Options{Reply: reply})
				p := stand(t, up.URL, map[string]any{"compression.strategy": strategy, "model.contextLimit": 6000,
					"model.completionBudget": 100}, recalls(t, false))
				a := &agent{form: recalling{form: s.form}, base: p.url}
				answers := map[string]bool{}
				var all []said
				for i := range 20 {
					all = s.add(all, gen.Said(content.Human, fmt.Sprintf("Question %d?", i)))
					a.items = s.items(all)
					if status, answer := a.ask(t); status != http.StatusOK {
						t.Fatalf("request %d: %d %s", i, status, answer)
					}
					answer := fmt.Sprintf("Answer %d. %s", i, strings.Repeat("The tide moves. ", 100))
					answers[answer] = true
					all = s.add(all, gen.Said(content.AI, answer))
				}
				if refused := up.Refused(); len(refused) > 0 {
					t.Errorf("refused: %q", refused)
				}
				marked := 0
				for i, r := range up.Models() {
					if at := inARow(t, r.Body); at >= 0 {
						t.Errorf("request %d: message %d is from the same as the one before it", i, at)
					}
					marked += strings.Count(string(r.Body), "removed here]")
				}
				ids := marks(up.Models())
				if marked == 0 || len(ids) == 0 && strategy != "top-down-truncation" {
					t.Errorf("%d marks, %d ids", marked, len(ids))
				}
				for _, id := range ids {
					if text, failed := recall(t, p.url, id, ""); failed || !answers[gone(text)] {
						t.Errorf("%s gives back %.100q", id, text)
					}
				}
			})
		}
	}
}

// gone is what was given back, without the line before it.
func gone(text string) string {
	if _, rest, ok := strings.Cut(text, "]\n"); ok {
		return rest
	}
	return text
}
