package body

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Instructions within a conversation, as the Messages API takes them: words, a tool that comes or goes, an end, and an
// effort alone.
var sections = []string{`{"role":"system","content":"Be brief %d."}`,
	`{"role":"system","content":[{"type":"text","text":"Now %d.","cache_control":{"type":"ephemeral"}}],"clear_at":"%[1]d"}`,
	`{"role":"system","content":[{"type":"tool_removal","tool":{"type":"tool_reference","name":"t%d"}}]}`,
	`{"output_config":{"effort":"low"},"role":"system","content":[]}`}

const effort = `{"role":"system","content":[],"output_config":{"effort":"high"}}`

// talk makes a conversation with instructions wherever the API takes them, people's turns between them, and tools of the
// client and of the provider.
func talk(random *rand.Rand) string {
	var items []string
	add := func(item string, args ...any) { items = append(items, fmt.Sprintf(item, args...)) }
	section := func(n int) {
		for ; random.IntN(5) < 2; n += 100 {
			add(strings.ReplaceAll(sections[random.IntN(len(sections))], "%[1]d", fmt.Sprint(n)), n)
			items[len(items)-1] = strings.Split(items[len(items)-1], "%!(EXTRA")[0]
		}
	}
	anywhere := func() {
		if random.IntN(8) == 0 {
			items = append(items, effort)
		}
	}
	thinks := func(n int) string {
		return []string{"", fmt.Sprintf(`{"type":"thinking","thinking":"","signature":"s%d"},`, n)}[random.IntN(2)]
	}
	anywhere()
	add(`{"role":"user","content":"Fix it."}`)
	section(0)
	for n := 1; n < 3+random.IntN(8); n++ {
		switch random.IntN(4) {
		case 0: // an answer, and a person's next words
			add(`{"role":"assistant","content":[%s{"type":"text","text":"Answer %d."}]}`, thinks(n), n)
			anywhere()
			add(`{"role":"user","content":[{"type":"text","text":"And %d?"}]}`, n)
		case 1, 2: // a tool of the client, perhaps with words behind the result
			add(`{"role":"assistant","content":[%s{"type":"tool_use","id":"t%d","name":"f","input":{}}]}`, thinks(n), n)
			anywhere()
			add(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}%s]}`, n, words,
				[]string{"", fmt.Sprintf(`,{"type":"text","text":"Then %d."}`, n)}[random.IntN(2)])
		case 3: // tools of the provider, with whose result the message may end
			add(`{"role":"assistant","content":[{"type":"server_tool_use","id":"v%d","name":"web_search","input":{}},`+
				`{"type":"web_search_tool_result","tool_use_id":"v%[1]d","content":[]}%s]}`, n,
				[]string{"", `,{"type":"text","text":"So."}`}[random.IntN(2)])
			if !strings.HasSuffix(items[len(items)-1], `"So."}]}`) && random.IntN(2) == 0 {
				add(sections[0], n)
				continue // the model goes on
			}
			add(`{"role":"user","content":"Next %d."}`, n)
		}
		section(n)
	}
	if strings.Contains(items[len(items)-1], `_tool_result"`) {
		add(`{"role":"user","content":"Last."}`)
	}
	return `{"model":"m","max_tokens":10,"messages":[` + strings.Join(items, ",") + `],"tools":[{"name":"f"}]}`
}

// misplaced says which instructions of a request do not stand where the API takes them, by its own words; "" for none.
func misplaced(t testing.TB, raw string) string {
	var request struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(raw), &request); err != nil {
		t.Fatal(err)
	}
	all := request.Messages
	for at := 0; at < len(all); {
		end, empty, tools := at, true, false
		for ; end < len(all) && all[end].Role == "system"; end++ {
			tools = tools || strings.Contains(string(all[end].Content), `"tool_removal"`)
			empty = empty && string(all[end].Content) == "[]"
		}
		switch {
		case end == at:
			end++
		case empty:
		case at == 0 || all[at-1].Role != "user" && (tools || !endsInResult(all[at-1].Content)):
			return fmt.Sprintf("messages.%d: role 'system' must follow a 'user' message", at)
		case end < len(all) && all[end].Role != "assistant":
			return fmt.Sprintf("messages.%d: role 'system' must precede an 'assistant' message", end-1)
		}
		at = end
	}
	return ""
}

func endsInResult(raw json.RawMessage) bool {
	var parts []struct{ Type string }
	return json.Unmarshal(raw, &parts) == nil && len(parts) > 0 && parts[len(parts)-1].Type == "web_search_tool_result"
}

// Whatever of a conversation a view lacks, changes and adds: instructions within it stay byte for byte, and stand where
// the API takes them.
func TestInstructionsStayWhereTheAPITakesThem(t *testing.T) {
	conversations, views, edited := full.Or(150, 4000), 0, 0
	for seed := range conversations {
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		raw := talk(random)
		if why := misplaced(t, raw); why != "" {
			t.Fatal(why, raw)
		}
		r := index(t, provider.Messages, raw)
		entries, view := numbered(r)
		open := len(view)
		for open > 0 && view[open-1].Content.Speaker != content.AI {
			open--
		}
		if got := edit(t, r, entries, view); got != raw {
			t.Fatalf("nothing changed, but\n%s", got)
		}
		for range 20 {
			var some []Shown
			share := random.IntN(5)
			for i, s := range view {
				line := content.Content{Speaker: []content.Speaker{content.AI, content.Human}[random.IntN(2)],
					Blocks: []content.Block{content.Text{Text: "Made."}}}
				if s.Content.Pinned() || random.IntN(4) < share {
					some = append(some, s)
				}
				// Between exchanges, and not where it would be the model's first words.
				if n := len(some); i < open && random.IntN(6) == 0 && (n > 0 || line.Speaker == content.Human) &&
					(n == 0 || some[n-1].Content.Speaker != content.AI) && s.Content.Speaker != content.AI {
					some = append(some, Shown{"", line})
				}
			}
			views++
			got := edit(t, r, entries, some)
			if why := misplaced(t, got); why != "" {
				t.Errorf("seed %d: %s in\n%s\nof\n%s", seed, why, got, raw)
			}
			if got != raw {
				edited++
			}
			for _, item := range r.Items {
				if said := raw[item.Start:item.End]; item.Pinned && !strings.Contains(got, said) {
					t.Errorf("seed %d: %s is gone or changed in\n%s", seed, said, got)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d conversations, %d views, %d of them edits", conversations, views, edited)
}

// What a plan keeps for that: the last words of a person, and a line where the model spoke.
func TestWhatInstructionsKeepBesideThem(t *testing.T) {
	const head, tail = `{"model":"m","messages":[`, `],"tools":[{"name":"f"}]}`
	user := func(n int) string { return fmt.Sprintf(`{"role":"user","content":"u%d"}`, n) }
	model := func(n int) string { return fmt.Sprintf(`{"role":"assistant","content":"m%d"}`, n) }
	removed := `{"role":"assistant","content":[{"type":"text","text":"` + unsaid + `"}]}`
	system := `{"role":"system","content":"s"}`
	for name, c := range map[string]struct {
		items  []string
		gone   []int // entries
		expect []string
	}{
		"words before them": {[]string{user(0), model(0), user(1), system, model(1), user(2)}, []int{2}, nil},
		"an answer": {[]string{user(0), system, model(0), user(1), model(1), user(2)}, []int{2},
			[]string{user(0), system, removed, user(1), model(1), user(2)}},
		"one section of two": {[]string{user(0), system, model(0), user(1), system, model(1), user(2)}, []int{2, 3},
			[]string{user(0), system, system, model(1), user(2)}},
		"an effort comes first": {[]string{effort, user(0), model(0), user(1), model(1), user(2)}, []int{0, 1},
			[]string{effort, user(1), model(1), user(2)}},
		"an effort anywhere": {[]string{user(0), model(0), effort, user(1), model(1), user(2)}, []int{1, 2},
			[]string{user(0), effort, model(1), user(2)}},
	} {
		raw := head + strings.Join(c.items, ",") + tail
		r := index(t, provider.Messages, raw)
		entries, view := numbered(r)
		for _, i := range slices.Backward(c.gone) {
			view = slices.Delete(view, i, i+1)
		}
		want := raw
		if c.expect != nil {
			want = head + strings.Join(c.expect, ",") + tail
		}
		if got := edit(t, r, entries, view); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}
