package proxy_test

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// turns are what a made session may have in one turn: the model's items, and results or words that follow them. Texts
// are words of one kind, so that tokens and bytes go together.
type madeTurn func(n int, words string) []string

var messagesTurns = map[string]madeTurn{
	"a tool": func(n int, words string) []string {
		return []string{fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"bash","input":`+
			`{"command":"make %d"}}]}`, n, n), fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d",`+
			`"content":%s}]}`, n, quoted(words))}
	},
	"thinking": func(n int, words string) []string {
		return []string{fmt.Sprintf(`{"role":"assistant","content":[{"type":"thinking","thinking":%s,"signature":"s%d"},`+
			`{"type":"tool_use","id":"c%d","name":"bash","input":{"command":"ls %d"}}]}`, quoted(words[:len(words)/4]), n, n, n),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%s}]}`, n, quoted(words))}
	},
	"a provider's tool": func(n int, words string) []string {
		return []string{fmt.Sprintf(`{"role":"assistant","content":[{"type":"server_tool_use","id":"srv%d","name":"web_search",`+
			`"input":{"query":"q%d"}},{"type":"web_search_tool_result","tool_use_id":"srv%d","content":[{"type":`+
			`"web_search_result","title":"t","url":"https://example.com/%d","encrypted_content":%s}]},{"type":"text","text":`+
			`"It says %d.","citations":[{"type":"web_search_result_location","cited_text":"x"}]}]}`, n, n, n, n, quoted(words), n),
			fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"Question %d."}]}`, n)}
	},
	"an image": func(n int, words string) []string {
		return []string{fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"look","input":{}}]}`, n),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":[{"type":"image","source":`+
				`{"type":"base64","media_type":"image/png","data":"%s"}}]}]}`, n, strings.Repeat("iVBORw0KGgo", 20))}
	},
	"what is not known": func(n int, words string) []string {
		return []string{fmt.Sprintf(`{"role":"assistant","content":[{"type":"hologram","data":%s},{"type":"text","text":"See %d."}]}`,
			quoted(words[:len(words)/8]), n), fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"And %d?"}]}`, n)}
	},
}

var responsesTurns = map[string]madeTurn{
	"a tool": func(n int, words string) []string {
		return []string{fmt.Sprintf(`{"type":"reasoning","id":"r%d","summary":[],"encrypted_content":"%d"}`, n, n),
			fmt.Sprintf(`{"type":"function_call","call_id":"c%d","name":"exec_command","arguments":"{}"}`, n),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":%s}`, n, quoted(words))}
	},
	"a provider's tool": func(n int, words string) []string {
		kind := []string{"mcp_call", "file_search_call", "code_interpreter_call", "web_search_call"}[n%4]
		return []string{fmt.Sprintf(`{"type":%q,"id":"p%d","status":"completed","output":%s}`, kind, n, quoted(words)),
			fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It says %d."}]}`, n),
			fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":"Question %d."}]}`, n)}
	},
	"a tool search": func(n int, words string) []string {
		return []string{fmt.Sprintf(`{"type":"tool_search_call","id":"p%d","call_id":"t%d","arguments":{"query":"x"}}`, n, n),
			fmt.Sprintf(`{"type":"tool_search_output","call_id":"t%d","tools":[{"type":"function","name":"ship","description":%s}]}`,
				n, quoted(words)),
			fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":"Question %d."}]}`, n)}
	},
}

var geminiTurns = map[string]madeTurn{
	"a tool": func(n int, words string) []string {
		return []string{fmt.Sprintf(`{"role":"model","parts":[{"functionCall":{"name":"run_shell_command","args":{"command":"make `+
			`%d"}},"thoughtSignature":"s%d"}]}`, n, n), fmt.Sprintf(`{"role":"user","parts":[{"functionResponse":{"name":`+
			`"run_shell_command","response":{"output":%s}}}]}`, quoted(words))}
	},
	"a provider's tool": func(n int, words string) []string {
		return []string{fmt.Sprintf(`{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"print(%d)"}},`+
			`{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":%s}},{"text":"It says %d."}]}`, n, quoted(words), n),
			fmt.Sprintf(`{"role":"user","parts":[{"text":"Question %d."}]}`, n)}
	},
}

// What the last line says was not sent is what was not sent: the same share as of the bytes, but for a twentieth, and
// never more tokens than are in what was left out, which has ids and signatures, too. So in sessions of all that may have to stay: tools of the
// provider, images, thinking, summaries of the provider, and what is not known.
func TestWhatIsClaimedIsWhatWasNotSent(t *testing.T) {
	race.Skip(t)
	counter, err := tokens.For("", "o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	for i := range full.Or(9, 20) {
		if testing.Short() && i >= 6 { // six are each form with each strategy
			i += 6
		}
		forms := []struct {
			form  form
			turns map[string]madeTurn
		}{{messagesForm{fmt.Sprint("s", i)}, messagesTurns}, {responsesForm{fmt.Sprint("s", i)}, responsesTurns},
			{geminiForm{}, geminiTurns}}
		f := forms[i%3]
		strategy := []string{"top-down-truncation", "high-density"}[i/3%2]
		t.Run(fmt.Sprintf("%d/%T/%s", i, f.form, strategy), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(i), 43))
			var mu sync.Mutex
			forwarded, sent := 0, 0 // bytes, and tokens of all of them
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				defer mu.Unlock()
				read := counting(string(body))
				n := len(read)
				forwarded, sent = forwarded+n, sent+counter.Text(read)
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"usage":{"input_tokens":%[1]d},"usageMetadata":{"promptTokenCount":%[1]d}}`, n/4)
			}))
			defer up.Close()
			p := stand(t, up.URL, map[string]any{"compression.strategy": strategy, "model.contextLimit": 12_000})
			var names []string
			for _, name := range []string{"a tool", "thinking", "a provider's tool", "a tool search", "an image", "what is not known"} {
				if f.turns[name] != nil {
					names = append(names, name)
				}
			}
			if i >= 12 { // nothing but what the provider ran
				names = []string{"a provider's tool"}
			}
			a := &agent{form: f.form, base: p.url, items: []rawItem{f.form.user("Fix it.")}}
			arrived, asked := 0, 0
			for n := range 40 {
				words := strings.Repeat(fmt.Sprintf("report %d of the build says that all is well\n", n), 20+random.IntN(60))
				for _, item := range f.turns[names[random.IntN(len(names))]](n, words) {
					a.items = append(a.items, rawItem(item))
				}
				if _, messages := f.form.(messagesForm); messages && n == 25 && i < 12 {
					a.items = append(a.items, raw(`{"role":"assistant","content":[{"type":"compaction","content":"All is well."},`+
						`{"type":"text","text":"Going on."}]}`), f.form.user("Go on."))
				}
				if status, answer := a.ask(t); status != http.StatusOK {
					t.Fatal(status, string(answer))
				}
				read := counting(string(a.sent[len(a.sent)-1]))
				arrived, asked = arrived+len(read), asked+counter.Text(read)
			}
			got := p.proxy.Totals()
			left, claimed := float64(arrived-forwarded)/float64(arrived), float64(got.Whole-got.Sent)/float64(got.Whole)
			t.Logf("%4.1f %% of %d bytes were left out, %4.1f %% of %d tokens claimed, %d of %d; %d failed", 100*left, arrived,
				100*claimed, got.Whole, got.Whole-got.Sent, asked-sent, got.Failed)
			if got.Whole-got.Sent > asked-sent {
				t.Errorf("%d tokens are claimed, what was left out has %d", got.Whole-got.Sent, asked-sent)
			}
			if math.Abs(claimed-left) > 0.05*left+0.002 || got.Failed > 0 {
				t.Errorf("%.1f %% are claimed, %.1f %% were left out; %+v", 100*claimed, 100*left, got)
			}
			if left < 0.03 {
				t.Errorf("next to nothing was left out: %.1f %%", 100*left)
			}
		})
	}
}

// gapMark is a message with the mark of a gap alone. A provider counts its words, and next to nothing for what is around.
var gapMark = regexp.MustCompile(`\{(?:"type":"message",)?"role":"\w+","(?:content|parts)":\[\{(?:"type":"\w+",)?"text":` +
	`("\[\d+ [^"]* removed here\]")\}\]\}`)

// counting is what of a request counts for the provider: nothing before its own summary.
func counting(body string) string {
	body = gapMark.ReplaceAllString(body, "$1")
	at := strings.LastIndex(body, `{"role":"assistant","content":[{"type":"compaction"`)
	if at < 0 {
		return body
	}
	return body[:strings.Index(body, `{"role"`)] + body[at:]
}
