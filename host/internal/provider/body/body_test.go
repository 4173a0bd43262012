package body

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A conversation of each API with all that must stay: reasoning, signatures, two calls at once, instructions in the
// middle, markers, and white space as no encoder writes it.
var bodies = map[provider.API]string{
	provider.Messages: `{"model":"m", "max_tokens":10,"messages":[ {"role":"user","content":"Fix it."},
		{"role":"system","content":"Be brief."},
		{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s1"},{"type":"text","text":"Look."},` +
		`{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"a"}},` +
		`{"type":"tool_use","id":"t2","name":"Bash","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"one"},` +
		`{"tool_use_id":"t2","type":"tool_result","content":[{"type":"text","text":"two"}],` +
		`"cache_control":{"type":"ephemeral"}},{"type":"text","text":"And?"}]},
		{"role":"assistant","content":[{"type":"text","text":"Again."},{"type":"tool_use","id":"t3","name":"Read","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","content":"three"}]} ],
		"tools":[{"name":"Read"}]}`,
	provider.Chat: `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"Fix it."},
		{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[` +
		`{"id":"t1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}},` +
		`{"id":"t2","type":"function","function":{"name":"bash","arguments":""}}]},
		{"role":"tool","tool_call_id":"t1","content":"one"} , {"role":"tool","tool_call_id":"t2","content":"two"},
		{"role":"user","content":[{"type":"text","text":"And?"}]},
		{"role":"assistant","content":"Again.","tool_calls":[{"id":"t3","function":{"name":"bash","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"t3","content":"three"}],"tools":[{"type":"function"}]}`,
	provider.Responses: `{"input":[{"role":"developer","content":"s"},{"type":"message","role":"user","content":"Fix it."},
		{"type":"reasoning","id":"rs1","summary":[],"encrypted_content":"e1"},
		{"type":"function_call","id":"fc1","call_id":"t1","name":"read_file","arguments":"{}"},
		{"type":"custom_tool_call","call_id":"t2","name":"apply_patch","input":"*** Begin"},
		{"type":"function_call_output","call_id":"t1","output":"one"},{"type":"custom_tool_call_output","call_id":"t2",` +
		`"output":"two"},{"type":"custom_tool_call_output","call_id":"t2","output":"more"},
		{"type":"agent_message","author":"/root/a","recipient":"/root","content":[{"type":"input_text","text":"Done."}]},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hm."}]},
		{"role":"user","content":"And?"},
		{"type":"function_call","id":"fc3","call_id":"t3","name":"bash","arguments":"{}"},
		{"type":"function_call_output","call_id":"t3","output":"three"}],"tools":[{"type":"function"}]}`,
	provider.Gemini: `{"contents":[{"role":"user","parts":[{"text":"Fix it."}]},
		{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"read_file","args":{}},` +
		`"thoughtSignature":"s1"},{"functionCall":{"name":"bash","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"read_file","response":{"output":"one"}}},` +
		`{"functionResponse":{"name":"bash","response":{"output":"two"}}}]},
		{"role":"model","parts":[{"text":"Well."}]}, {"role":"user","parts":[{"text":"And?"}]},
		{"role":"model","parts":[{"functionCall":{"id":"t3","name":"bash","args":{}},"thoughtSignature":"s3"}]},
		{"role":"user","parts":[{"functionResponse":{"id":"t3","name":"bash","response":{"output":"three"}}}]}],
		"tools":[{"functionDeclarations":[{}]}]}`,
}

func index(t testing.TB, api provider.API, raw string) *Request {
	t.Helper()
	r, err := Index(api, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if r.Reason != "" {
		t.Fatalf("not to be changed: %s", r.Reason)
	}
	return r
}

// numbered returns a request's entries with ids, and the view that shows them all.
func numbered(r *Request) (entries []Entry, view []Shown) {
	entries = r.Entries(0)
	for i := range entries {
		entries[i].ID = fmt.Sprint("e", i)
		view = append(view, Shown{entries[i].ID, entries[i].Content})
	}
	return entries, view
}

// edit makes the edits for a view and checks the result.
func edit(t testing.TB, r *Request, entries []Entry, view []Shown) string {
	t.Helper()
	plan, err := r.NewPlan(entries, view)
	if err != nil {
		t.Fatal(err)
	}
	edits := r.Edits(plan)
	out := Apply(r.Raw, edits)
	now, err := Index(r.API, out)
	if err == nil {
		err = Validate(r, edits, now)
	}
	if err == nil && !r.form.Flat && r.alternates() && !now.alternates() {
		err = errors.New("two messages of the same role follow each other")
	}
	if err == nil && now.Count() != len(now.Entries(0)) {
		err = fmt.Errorf("%d entries are said to be sent, not %d", now.Count(), len(now.Entries(0)))
	}
	if err != nil {
		t.Errorf("%v in\n%s", err, out)
	}
	return string(out)
}

func TestEntriesOfARequest(t *testing.T) {
	for api, raw := range bodies {
		var got []string
		for _, e := range index(t, api, raw).Entries(0) {
			var kinds []string
			for _, b := range e.Content.Blocks {
				s := b.Kind()
				switch b := b.(type) {
				case content.ToolCall:
					s += ":" + b.Name
				case content.ToolResponse:
					s += ":" + b.ToolName + "=" + b.ResultText()
				}
				kinds = append(kinds, s)
			}
			got = append(got, string(e.Content.Speaker)+" "+strings.Join(kinds, " "))
		}
		all := strings.Join(got, "\n")
		for _, want := range []string{"human text", "tool_call:bash", "tool_response:bash=three", "=one"} {
			if !strings.Contains(strings.ToLower(all), strings.ToLower(want)) && api != provider.Messages {
				t.Errorf("%s: no %q in\n%s", api, want, all)
			}
		}
		if api == provider.Messages && all != "human text\nhuman text\nai thinking text tool_call:Read tool_call:Bash\n"+
			"tool tool_response:Read=one tool_response:Bash=two\nhuman text\nai text tool_call:Read\ntool "+
			"tool_response:Read=three" {
			t.Errorf("messages:\n%s", all)
		}
	}
}

// apart are conversations whose turns are in several items: LangChain sends each result alone, Google's own client each
// part of a streamed answer.
var apart = map[provider.API]string{
	provider.Messages: strings.Replace(bodies[provider.Messages], `"content":"one"},`, `"content":"one"}]},{"role":"user","content":[`, 1),
	provider.Gemini: strings.NewReplacer(`}}},{"functionResponse"`, `}}}]},{"role":"user","parts":[{"functionResponse"`,
		`true},{"functionCall"`, `true}]},{"role":"model","parts":[{"functionCall"`).Replace(bodies[provider.Gemini]),
}

// An attachment counts as what it is, also where the form does not say so, and words as what they say.
func TestAnAttachmentIsOfItsKind(t *testing.T) {
	for part, want := range map[string]string{
		`chat {"type":"image_url","image_url":{"url":"https://e.org/i"}}`:         "image/*",
		`chat {"type":"input_audio","input_audio":{"data":"aGk="}}`:               "audio/*",
		`chat {"type":"refusal","refusal":"no"}`:                                  content.KindText,
		`chat {"type":"file","file":{"file_id":"f"}}`:                             "application/octet-stream",
		`responses {"type":"input_image","file_id":"f"}`:                          "image/*",
		`responses {"type":"refusal","refusal":"no"}`:                             content.KindText,
		`messages {"type":"image","source":{"type":"url","url":"https://e.org"}}`: "image/*",
		`messages {"type":"image","source":{"media_type":"image/png"}}`:           "image/png",
		`messages {"type":"search_result","source":"s","title":"t"}`:              content.KindText,
	} {
		api, raw, _ := strings.Cut(part, " ")
		list := map[string]string{"responses": "input"}[api]
		r := index(t, provider.API(api), fmt.Sprintf(`{%q:[{"role":"user","content":[%s]}],"tools":[{}]}`,
			cmp.Or(list, "messages"), raw))
		block := r.Entries(0)[0].Content.Blocks[0]
		got := block.Kind()
		if m, ok := block.(content.Media); ok {
			got = m.MimeType
		}
		if got != want {
			t.Errorf("%s is %s, not %s", part, got, want)
		}
	}
}

// A view that shows everything edits nothing; every other view gives a request that is valid, whatever it leaves out.
func TestEveryViewGivesAValidRequest(t *testing.T) {
	everyView(t, bodies)
	everyView(t, apart)
}

func everyView(t *testing.T, bodies map[provider.API]string) {
	for api, raw := range bodies {
		r := index(t, api, raw)
		entries, view := numbered(r)
		if got := edit(t, r, entries, view); got != raw {
			t.Errorf("%s: nothing changed, but\n%s", api, got)
		}
		step := max(1, 1<<len(view)/500) | 1 // of long conversations, views of all kinds
		for mask := 0; mask < 1<<len(view); mask += step {
			some := chosen(view, mask)
			edit(t, r, entries, some)
			edit(t, r, entries, append([]Shown{{"made", said("A summary.")}}, some...))
			noted := content.Content{Speaker: content.AI, Blocks: []content.Block{content.Text{Text: "Calls were removed."}}}
			for i := range some { // behind a person's words, whatever follows
				if entry := some[i].Content; entry.Speaker == content.Human {
					edit(t, r, entries, slices.Insert(slices.Clone(some), i+1, Shown{"made", noted}))
				}
			}
		}
	}
}

// What the model has not seen yet stays, also where another agent's words follow it: these are not the model's own.
func TestWhatIsNewStays(t *testing.T) {
	r := index(t, provider.Responses, strings.Replace(bodies[provider.Responses], `"output":"three"}`, `"output":"three"},
		{"type":"agent_message","content":[{"type":"input_text","text":"Done, too."}]}`, 1))
	entries, _ := numbered(r)
	if got := edit(t, r, entries, nil); !strings.Contains(got, "three") {
		t.Errorf("got %s", got)
	}
}

// A model repeats itself: turns that read alike are told apart by where they stand, also where calls have no ids.
func TestTurnsThatReadAlikeAreToldApart(t *testing.T) {
	call := `{"functionCall":{"name":"run_tests","args":{}}}`
	turn := func(parts, result string) string {
		return `,{"role":"model","parts":[` + parts + `]},{"role":"user","parts":[{"functionResponse":{"name":"run_tests",` +
			`"response":{"output":"` + result + `"}}}]}`
	}
	r := index(t, provider.Gemini, `{"contents":[{"role":"user","parts":[{"text":"Fix it."}]}`+turn(call, "one")+
		turn(call+`,{"text":"Hm."}`, "two")+turn(`{"text":"hm","thought":true},`+call, "three")+turn(call, "four")+
		turn(call, "five")+`],"tools":[{"functionDeclarations":[{}]}]}`)
	entries, view := numbered(r)
	for mask := range 1 << len(view) {
		edit(t, r, entries, chosen(view, mask))
	}
}

// chosen is what a mask has of a view.
func chosen(view []Shown, mask int) (some []Shown) {
	for i, s := range view {
		if mask>>i&1 == 1 {
			some = append(some, s)
		}
	}
	return some
}

func said(text string) content.Content {
	return content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: text}}}
}

// A call that a strategy removes alone stays with its signature, and its result is blanked if that is shorter.
func TestACallGoesOnlyWithItsTurn(t *testing.T) {
	for api, raw := range bodies {
		long := strings.Repeat("long ", 40)
		r := index(t, api, strings.Replace(raw, "one", long, 1))
		entries, view := numbered(r)
		for i, s := range view {
			c := s.Content
			c.Blocks = slices.DeleteFunc(slices.Clone(c.Blocks), func(b content.Block) bool {
				call, ok := b.(content.ToolCall)
				response, answered := b.(content.ToolResponse)
				return ok && strings.EqualFold(call.Name[:4],
					"read") && i < 3 || answered && response.ResultText() == long
			})
			view[i].Content = c
		}
		want := strings.Replace(raw, "one", blanked, 1)
		if got := edit(t, r, entries, view); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", api, got, want)
		}
	}
}

// Some servers' models give all calls of a turn one id. Which of them goes cannot be told to the provider, so they stay,
// each with its own result.
func TestCallsOfATurnWithOneIDAreToldApart(t *testing.T) {
	raw := `{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[` +
		`{"type":"tool_use","id":"1","name":"read","input":{"path":"a"}},` +
		`{"type":"tool_use","id":"1","name":"read","input":{"path":"b"}}]},{"role":"user","content":[` +
		`{"type":"tool_result","tool_use_id":"1","content":"of a"},{"type":"tool_result","tool_use_id":"1","content":"of b"}]},` +
		`{"role":"assistant","content":"Done."},{"role":"user","content":"on"}]}`
	r := index(t, provider.Messages, raw)
	for gone := range 2 {
		entries, view := numbered(r)
		for i := range view {
			if c := &view[i].Content; len(c.Blocks) == 2 {
				c.Blocks = slices.Delete(slices.Clone(c.Blocks), gone, gone+1)
			}
		}
		if got := edit(t, r, entries, view); got != raw {
			t.Errorf("without call %d: %s", gone, got)
		}
	}
}

// A marker on a block that goes moves to the block before it; a text alone becomes a block for it.
func TestACacheMarkerMoves(t *testing.T) {
	r := index(t, provider.Messages, bodies[provider.Messages])
	entries, view := numbered(r)
	got := edit(t, r, entries, slices.Delete(view, 2, 4))
	if !strings.Contains(got, `"content":[{"type":"text","text":"Fix it.","cache_control":{"type":"ephemeral"}}]`) {
		t.Errorf("got %s", got)
	}
}

// The chain is the same where a client moved its marker or wrote a text in the other form, and no other change.
func TestTheChainKnowsWhatIsTheSame(t *testing.T) {
	last := func(raw string) Sum {
		chain := index(t, provider.Messages, raw).Chain()
		return chain[len(chain)-1]
	}
	raw := bodies[provider.Messages]
	deep := func(args string) Sum { return last(strings.Replace(raw, `{"file_path":"a"}`, args, 1)) }
	if deep(`{"b":[{"y":{"z":1,"a":"\/\u00e9\b"}}],"c":2}`) != deep(`{"c":2,"b":[{"y":{"a":"/é\u0008","z":1}}]}`) {
		t.Error("arguments in another order, and with other escapes, are not the same")
	}
	if deep(`{"cache_control":1}`) == deep(`{"cache_control":2}`) {
		t.Error("what a tool is called with is no marker")
	}
	for name, tt := range map[string]struct {
		raw  string
		same bool
	}{
		"without the marker": {strings.Replace(raw, `,"cache_control":{"type":"ephemeral"}`, "", 1), true},
		"a text as a block":  {strings.Replace(raw, `"Fix it."`, `[{"type":"text","text":"Fix it."}]`, 1), true},
		"fields in other order": {strings.Replace(raw, `"type":"text","text":"Look."`, `"text":"Look.",`+
			`"type":"text"`, 1), true},
		"a result as a block": {strings.Replace(raw, `"content":"one"`, `"content":[{"type":"text","text":"one",`+
			`"cache_control":{"type":"ephemeral"}}]`, 1), true},
		"a result's block as a text": {strings.Replace(raw, `[{"type":"text","text":"two"}]`, `"two"`, 1), true},
		"a result in two blocks":     {strings.Replace(raw, `"text":"two"}`, `"text":"t"},{"type":"text","text":"wo"}`, 1), false},
		"escaped":                    {strings.Replace(raw, `"three"`, `"\u0074hree"`, 1), true},
		"another word":               {strings.Replace(raw, "Look.", "Look!", 1), false},
		"another signature":          {strings.Replace(raw, `"s1"`, `"s2"`, 1), false},
		"another system":             {strings.Replace(raw, `"model":"m"`, `"model":"n"`, 1), true},
	} {
		if got := last(tt.raw) == last(raw); got != tt.same {
			t.Errorf("%s: same %v", name, got)
		}
	}
}

// What must stay is checked on the bytes, whatever made them.
func TestValidateSeesWhatIsMissing(t *testing.T) {
	for name, tt := range map[string]struct {
		api      provider.API
		old, new string
	}{
		"a signature":           {provider.Messages, `"signature":"s1"`, `"signature":"s2"`},
		"thinking taken out":    {provider.Messages, `{"type":"thinking","thinking":"","signature":"s1"},`, ``},
		"instructions":          {provider.Messages, "Be brief.", "Be long."},
		"a call's input":        {provider.Messages, `"file_path":"a"`, `"file_path":"b"`},
		"a tool":                {provider.Messages, `"tools":[{"name":"Read"}]`, `"tools":[{"name":"Reed"}]`},
		"one marker more":       {provider.Messages, `"content":"one"`, `"content":"one","cache_control":{"type":"ephemeral"}`},
		"a result without call": {provider.Messages, `"tool_use_id":"t3"`, `"tool_use_id":"t4"`},
		"reasoning alone": {provider.Responses, `{"type":"function_call","id":"fc1","call_id":"t1",` +
			`"name":"read_file","arguments":"{}"},`, ``},
		"encrypted reasoning": {provider.Responses, `"e1"`, `"e2"`},
		"a thought signature": {provider.Gemini, `"s3"`, `"s4"`},
		"a message in between": {provider.Chat, `{"role":"tool","tool_call_id":"t2"`, `{"role":"user","content":"x"},` +
			`{"role":"tool","tool_call_id":"t2"`},
		"no person at the start": {provider.Gemini, `{"role":"user","parts":[{"text":"Fix it."}]},`, ``},
		"broken JSON":            {provider.Chat, `"two"}`, `"two"`},
	} {
		raw := bodies[tt.api]
		at := strings.Index(raw, tt.old)
		if at < 0 {
			t.Fatalf("%s: %q is not there", name, tt.old)
		}
		edits := []Edit{{Span{at, at + len(tt.old)}, []byte(tt.new)}}
		now, err := Index(tt.api, Apply([]byte(raw), edits))
		if err == nil {
			err = Validate(index(t, tt.api, raw), edits, now)
		}
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Whatever a body is, it is read or refused; and whatever a view leaves out of one that is read, the result is JSON.
func FuzzEdits(f *testing.F) {
	apis := []provider.API{provider.Messages, provider.Chat, provider.Responses, provider.Gemini}
	for i, api := range apis {
		f.Add(byte(i), []byte(bodies[api]), uint64(0x5))
	}
	f.Fuzz(func(t *testing.T, n byte, raw []byte, choice uint64) {
		r, err := Index(apis[n%4], raw)
		if err != nil {
			return
		}
		if !json.Valid(raw) {
			t.Fatal("read, but no JSON")
		}
		if r.Chain(); r.Reason != "" {
			return
		}
		entries, view := numbered(r)
		var some []Shown
		for i, s := range view {
			switch choice >> (2 * i % 64) & 3 {
			case 0:
				continue
			case 1:
				s.Content.Blocks = slices.Clone(s.Content.Blocks)
				for j, b := range s.Content.Blocks {
					if response, ok := b.(content.ToolResponse); ok {
						s.Content.Blocks[j] = response.WithResultText("gone\x00\"")
					}
				}
			case 2:
				some = append(some, Shown{"made", said("A summary.")})
			}
			some = append(some, s)
		}
		plan, err := r.NewPlan(entries, some)
		if err != nil {
			return
		}
		edits := r.Edits(plan)
		for i := 1; i < len(edits); i++ {
			if edits[i].Start < edits[i-1].End {
				t.Fatalf("edits overlap: %v", edits)
			}
		}
		out := Apply(raw, edits)
		if !json.Valid(out) {
			t.Fatalf("no JSON: %s", out)
		}
		if whole, err := r.NewPlan(entries, view); err != nil || !bytes.Equal(Apply(raw, r.Edits(whole)), raw) {
			t.Fatalf("the whole view changes something: %v", err)
		}
		if now, err := Index(r.API, out); err == nil {
			_ = Validate(r, edits, now)
		}
	})
}
