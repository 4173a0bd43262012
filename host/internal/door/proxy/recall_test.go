package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

var marked = regexp.MustCompile(`\[thresh_recall: ([^\]]+)\]`)

// Where a result is removed, an id stands by which the agent gets back what its tool said. What was sent stays as it
// was, with the ids. Without the option there are none, and the path is the provider's.
func TestARemovedResultIsGivenBack(t *testing.T) {
	settings := map[string]any{"compression.density.cadence": "every-turn", "model.contextLimit": 9000}
	eachForm(t, func(t *testing.T, newForm func() form) {
		up := provider(t, modelapi.Options{Script: work(10)})
		p := stand(t, up.URL, settings, func(o *proxy.Options) { o.Recall = true })
		said := map[string]string{} // what each call's tool said; Gemini's calls have ids here too
		a := &agent{form: newForm(), base: p.url, result: func(turn int, c call) string {
			said[c.id] = files(turn, c)
			return said[c.id]
		}}
		if status := a.run(t, "Fix it."); status != http.StatusOK {
			t.Fatal(status)
		}
		stableBetweenRewrites(t, up.Models(), p.proxy.Totals().Rewrites)
		if refused := up.Refused(); len(refused) > 0 {
			t.Errorf("refused: %q", refused)
		}
		ids := map[string]bool{}
		for _, r := range up.Models() {
			for _, m := range marked.FindAllSubmatch(r.Body, -1) {
				ids[string(m[1])] = true
			}
		}
		if len(ids) == 0 {
			t.Fatal("no removed result has an id")
		}
		for id := range ids {
			if got := recall(t, p.url, id); got != said[id] {
				t.Errorf("%s gives back %.100q, not %.100q", id, got, said[id])
			}
		}
		off := stand(t, up.URL, settings)
		if status, _, err := post(off.url+"/mcp", http.Header{}, nil); err != nil || status != http.StatusNotFound {
			t.Errorf("without the option: %d, %v", status, err)
		}
	})
}

// recall calls the tool, as a client of a revision with initialize does and as one of the stateless revision.
func recall(t *testing.T, base, id string) (text string) {
	t.Helper()
	const meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`
	stateless := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"},
		"Mcp-Name": {"thresh_recall"}}
	for more, header := range map[string]http.Header{"": {}, meta: stateless} {
		_, answer, err := post(base+"/mcp", header, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call",`+
			`"params":{"name":"thresh_recall","arguments":{"id":%q}%s}}`, id, more))
		var a struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err != nil || json.Unmarshal(answer, &a) != nil || len(a.Result.Content) != 1 {
			t.Fatalf("%s %v", answer, err)
		}
		if now := a.Result.Content[0].Text; text != "" && now != text {
			t.Errorf("%s gives back %.100q and %.100q", id, text, now)
		}
		text = a.Result.Content[0].Text
	}
	return text
}
