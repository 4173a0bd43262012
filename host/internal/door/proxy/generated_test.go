package proxy_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// moving is a client whose mark is of the last result in some requests, and within it in others.
type moving struct{ messagesForm }

func (f moving) body(items []rawItem) []byte {
	last := len(items)
	for bytes.Contains(items[last-1], []byte(`"role":"system"`)) || !bytes.HasSuffix(items[last-1], []byte("}]}")) {
		last--
	}
	form := form(f.messagesForm)
	if last%4 == 1 {
		form = markedForm(f)
	}
	body := form.body(items[:last])
	head, tail, _ := bytes.Cut(body, []byte(`],"system":`))
	return slices.Concat(head, []byte(strings.TrimSuffix(","+joined(items[last:]), ",")), []byte(`],"system":`), tail)
}

// generated are the clients of generated conversations, and what a person may show of each API.
var generated = map[string]struct {
	form  form
	turns map[string]madeTurn
	shows func(text string) rawItem
}{
	"messages": {asked{moving{messagesForm{"s1"}}, "mid-conversation-system-clear-at-2026-08-21,mid-conversation-output-config-2026-07-01",
		newestModel}, messagesTurns, func(text string) rawItem {
		return raw(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo"}},`+
			`{"type":"text","text":%s}]}`, quoted(text))
	}},
	"chat": {chatForm{}, nil, func(text string) rawItem {
		return raw(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo"}},`+
			`{"type":"text","text":%s}]}`, quoted(text))
	}},
	"responses": {responsesForm{"s1"}, responsesTurns, func(text string) rawItem {
		return raw(`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo"},`+
			`{"type":"input_text","text":%s}]}`, quoted(text))
	}},
	"gemini": {geminiForm{}, geminiTurns, func(text string) rawItem {
		return raw(`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo"}},{"text":%s}]}`, quoted(text))
	}},
}

// Of conversations of all that there may be (bound thinking, instructions, tools of the provider, images, words of
// people, marks that move, people who go back), no strategy makes a request that is refused.
func TestGeneratedConversationsAreNeverRefused(t *testing.T) {
	race.Skip(t)
	table := newTally(t)
	for seed := range full.Or(1, 12) {
		for i, api := range []string{"messages", "chat", "responses", "gemini"} {
			for j, strategy := range strategies {
				if testing.Short() && (i+j)%2 > 0 {
					continue
				}
				t.Run(fmt.Sprint(api, "/", strategy, "/", seed), func(t *testing.T) {
					t.Parallel()
					table.add(strategy, api, generate(t, api, strategy, uint64(seed*100+i*10+j)))
				})
			}
		}
	}
}

func generate(t *testing.T, api, strategy string, seed uint64) (got course) {
	random := rand.New(rand.NewPCG(seed, 55))
	g := generated[api]
	var script []modelapi.Turn
	for _, turn := range work(30) {
		if script = append(script, turn); random.IntN(5) == 0 {
			script = append(script, modelapi.Turn{})
		}
	}
	kinds := [][]string{{"thinking"}, {"thinking", "redacted_thinking"}, {}, {"redacted_thinking"}}
	up := provider(t, modelapi.Options{Script: script, Alternates: api == "chat", Thinks: func(n int) []string {
		return kinds[(uint64(n)*7+seed)%4]
	}})
	p := stand(t, up.URL, writing(t, map[string]any{"compression.strategy": strategy, "model.contextLimit": full.Or(4000, 8000),
		"compression.density.cadence": "every-turn"}))
	defer p.end()
	a := &agent{form: g.form, base: p.url, items: []rawItem{g.form.user("Fix it.")}}
	said := func(text string) rawItem { // what a person says
		if random.IntN(3) == 0 {
			return g.shows(text)
		}
		return g.form.user(text)
	}
	system := func() {
		if api == "messages" && random.IntN(3) == 0 {
			a.items = append(a.items, raw(`%s`, []string{`{"role":"system","content":"Be brief."}`,
				`{"role":"system","content":[],"output_config":{"effort":"low"}}`,
				`{"role":"system","content":"Hurry.","clear_at":"next_user_message"}`}[random.IntN(3)]))
		}
	}
	for n := range full.Or(16, 40) {
		body := len(a.sent)
		status, answer := a.ask(t)
		all := up.Requests()
		if got.sent++; !bytes.Equal(all[len(all)-1].Body, a.sent[body]) {
			got.edited++
		}
		if status != http.StatusOK {
			got.refused++
			t.Errorf("request %d: %d %s", n, status, answer)
			return got
		}
		items, calls := g.form.read(answer)
		a.items = append(a.items, items...)
		if len(calls) > 0 {
			var texts []string
			for _, c := range calls {
				text := files(n, c)
				texts = append(texts, text[:random.IntN(len(text))+1])
			}
			a.items = append(a.items, g.form.results(calls, texts)...)
		} else {
			a.items = append(a.items, said(fmt.Sprintf("And then %d?", n)))
		}
		if made := []string{"a provider's tool", "an image", "a tool search"}[random.IntN(3)]; g.turns[made] != nil && random.IntN(4) == 0 {
			for _, item := range g.turns[made](n, strings.Repeat("it says that all is well\n", 20+random.IntN(40))) {
				a.items = append(a.items, rawItem(item))
			}
		}
		if random.IntN(12) == 0 { // a person goes back, and says something else in the place of what was answered
			end := a.ends[random.IntN(len(a.ends))]
			for bytes.Contains(a.items[end-1], []byte(`"role":"system"`)) {
				end--
			}
			if api != "chat" || !bytes.Contains(a.items[end-1], []byte(`"role":"user"`)) {
				a.items, a.ends = append(slices.Clip(a.items[:end]), said(fmt.Sprintf("No, otherwise %d.", n))), a.ends[:1]
			}
		}
		system()
	}
	got.refused += len(up.Refused())
	got.failed = p.proxy.Totals().Failed
	if got.refused > 0 || got.failed > 0 {
		t.Errorf("%d sent, %d edited, %d failed; refused: %q", got.sent, got.edited, got.failed, up.Refused())
	}
	return got
}
