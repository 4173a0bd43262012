package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

// codexTurn is a turn of Codex with one request, at a minute of an hour; id is that of the turn, stamp the minute at
// which the record was written.
func codexTurn(id string, stamp, prompt int) string {
	at := fmt.Sprintf(`{"timestamp":"2026-04-24T18:%02d:00Z",`, stamp)
	return at + `"type":"turn_context","payload":{"turn_id":"` + id + `","model":"m"}}
` + at + `"type":"response_item","payload":{"type":"message","role":"user","content":"go"}}
` + at + `"type":"response_item","payload":{"type":"message","role":"assistant","content":"done"}}
` + at + fmt.Sprintf(`"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":%d}}}}
`, prompt)
}

// uuid7 is an id that was made at a minute.
func uuid7(minute int) string { return fmt.Sprintf("019dc0d3-%04x-7000-8000-000000000000", minute) }

func codexHead(id, parent string, minute int) string {
	return fmt.Sprintf(`{"timestamp":"2026-04-24T18:%02d:00Z","type":"session_meta","payload":{"id":"%s","forked_from_id":"%s"}}
`, minute, id, parent)
}

func claudeTurn(session, id string, minute, prompt int, more string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"u%[2]s","sessionId":"%[1]s","message":{"content":"go"}%[5]s}
{"type":"assistant","uuid":"a%[2]s","sessionId":"%[1]s","requestId":"r%[2]s","timestamp":"2026-04-24T18:%02[3]d:00Z",`+
		`"message":{"id":"%[2]s","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":%[4]d}}%[5]s}
`, session, id, minute, prompt, more)
}

func piTurn(id string, minute, prompt int) string {
	return fmt.Sprintf(`{"type":"message","id":"%[1]su","timestamp":"2026-04-24T18:%02[2]d:00Z","message":{"role":"user","content":"go"}}
{"type":"message","id":"%[1]s","timestamp":"2026-04-24T18:%02[2]d:00Z","message":{"role":"assistant",`+
		`"content":[{"type":"text","text":"done"}],"usage":{"input":%[3]d}}}
`, id, minute, prompt)
}

func piHead(minute int, more string) string {
	return fmt.Sprintf(`{"type":"session","id":"s","cwd":"/w","timestamp":"2026-04-24T18:%02d:00Z"%s}
`, minute, more)
}

func prompts(tr *transcript.Transcript) (out []int) {
	for _, r := range tr.Requests() {
		for _, u := range r.Usage {
			out = append(out, u.PromptTokens)
		}
	}
	return out
}

func TestAForkHasNoneOfTheRequestsThatItCopied(t *testing.T) {
	copied := codexTurn(uuid7(1), 30, 10) + codexTurn(uuid7(2), 30, 20)
	for name, tt := range map[string]struct {
		in   string
		want []int
	}{
		"codex: copies are stamped anew": {codexHead(uuid7(30), uuid7(1), 30) + codexHead(uuid7(1), "", 30) + copied +
			codexTurn(uuid7(31), 31, 30), []int{30}},
		"codex: over seconds": {codexHead(uuid7(30), uuid7(1), 30) + copied + codexTurn(uuid7(3), 31, 25) +
			codexTurn(uuid7(32), 32, 30), []int{30}},
		"codex: a version without ids of turns": {codexHead("b", "a", 30) + codexTurn("", 30, 10) +
			codexTurn("", 30, 20) + codexTurn("", 31, 30) + codexTurn("", 31, 40), []int{30, 40}},
		"codex: it was begun before it was written": {strings.Replace(codexHead("b", "a", 30), `{"id"`,
			`{"timestamp":"2026-04-24T18:15:00Z","id"`, 1) + codexTurn("", 30, 10) + codexTurn("", 31, 30), []int{30}},
		"codex: copies have the times of the parent": {codexHead("b", "a", 30) + codexTurn("", 10, 10) +
			codexTurn("", 20, 20) + codexTurn("", 31, 30), []int{30}},
		"codex: no request yet":     {codexHead(uuid7(30), uuid7(1), 30) + copied, nil},
		"codex: a session, resumed": {codexHead("a", "", 30) + codexHead("a", "", 30) + copied, []int{10, 20}},
		"claude code":               {claudeTurn("b", "m1", 1, 10, `,"forkedFrom":{}`) + claudeTurn("b", "m2", 2, 20, ""), []int{20}},
		"pi: its parent is named":   {piHead(2, `,"parentSession":"/a"`) + piTurn("1", 1, 10) + piTurn("2", 3, 20), []int{20}},
		"pi: a session of its own":  {piHead(2, "") + piTurn("1", 1, 10) + piTurn("2", 3, 20), []int{10, 20}},
	} {
		t.Run(name, func(t *testing.T) {
			tr := read(t, tt.in)
			if got := prompts(tr); !slices.Equal(got, tt.want) || len(tr.Requests()) != len(tt.want) {
				t.Errorf("%d requests with prompts of %v tokens, want %v", len(tr.Requests()), got, tt.want)
			}
			if said := fmt.Sprint(tr.Notes); strings.Contains(said, "another session") != (tr.Elsewhere > 0) {
				t.Errorf("%d requests are another session's: %s", tr.Elsewhere, said)
			}
			// The whole conversation is there, and in the native form too.
			native, _ := write(t, tr, transcript.Native)
			if again := read(t, native); !slices.Equal(prompts(again), tt.want) {
				t.Errorf("in the native form: %v", prompts(again))
			}
		})
	}
}

func TestARequestInSeveralSessionsCountsOnce(t *testing.T) {
	first, second := piTurn("1", 1, 10), piTurn("2", 2, 20)
	for name, tt := range map[string]struct {
		in   []string
		want [][]int
	}{
		"a checkpoint is a copy": {[]string{piHead(0, "") + first, piHead(0, "") + first + second}, [][]int{nil, {10, 20}}},
		"two copies":             {[]string{piHead(0, "") + first, piHead(0, "") + first}, [][]int{{10}, nil}},
		"a resumed session": {[]string{
			claudeTurn("b", "m1", 1, 10, "") + claudeTurn("b", "m3", 3, 30, ""),
			claudeTurn("a", "m1", 1, 10, "") + claudeTurn("a", "m2", 2, 20, ""),
		}, [][]int{{30}, {10, 20}}},
		"requests that are alike at different times": {[]string{piHead(0, "") + first, piHead(0, "") + piTurn("1", 3, 10)},
			[][]int{{10}, {10}}},
		"requests of gateways that name no answer twice": {[]string{
			claudeTurn("a", "m1", 1, 10, ""), strings.ReplaceAll(claudeTurn("b", "m1", 2, 11, ""), "rm1", "other"),
		}, [][]int{{10}, {11}}},
		"without times nothing is known": {[]string{
			`{"messages":[{"role":"assistant","content":"a","usage":{"prompt_tokens":5}}]}`,
			`{"messages":[{"role":"assistant","content":"a","usage":{"prompt_tokens":5}}]}`,
		}, [][]int{{5}, {5}}},
	} {
		t.Run(name, func(t *testing.T) {
			var all []*transcript.Transcript
			for _, in := range tt.in {
				all = append(all, read(t, in))
			}
			transcript.CountOnce(all)
			var got [][]int
			for i, tr := range all {
				got = append(got, prompts(tr))
				if len(tr.Requests()) != len(tt.want[i]) {
					t.Errorf("session %d has %d requests", i, len(tr.Requests()))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatAProviderRanIsNoRequest(t *testing.T) {
	tr := read(t, `{"type":"response_item","payload":{"type":"message","role":"user","content":"go"}}
{"type":"response_item","payload":{"type":"web_search_call","action":{"query":"q"}}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":"so"}}
{"type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{}","call_id":"1"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"x"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":"done"}}`)
	if r := tr.Requests(); len(r) != 2 || r[0].Entry != 1 || r[1].Entry != len(tr.Entries)-1 {
		t.Errorf("%+v", r)
	}
}
