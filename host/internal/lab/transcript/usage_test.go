package transcript_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/sdk/content"
)

func TestUsageIsReadFromEveryFormatThatHasIt(t *testing.T) {
	for name, tt := range map[string]struct {
		in   []string // lines
		want []transcript.Usage
	}{
		"claude code: once for a message, at its first entry, final output, also over a compaction": {
			in: []string{
				`{"type":"user","message":{"content":"go"}}`,
				`{"type":"assistant","message":{"id":"m1","model":"M","content":[{"type":"tool_use","id":"1",` +
					`"name":"f","input":{}}],"usage":{"input_tokens":3,"cache_creation_input_tokens":100,` +
					`"cache_read_input_tokens":20,"output_tokens":1}}}`,
				`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}}`,
				`{"type":"assistant","isSidechain":true,"message":{"id":"s1","content":[],"usage":{"input_tokens":9}}}`,
				`{"type":"assistant","message":{"id":"m1","model":"M","content":[],` +
					`"usage":{"input_tokens":3,"cache_creation_input_tokens":100,"cache_read_input_tokens":20,` +
					`"cache_creation":{"ephemeral_5m_input_tokens":40,"ephemeral_1h_input_tokens":60},` +
					`"output_tokens":8}}}`,
				`{"type":"assistant","message":{"id":"m2","model":"<synthetic>","content":[],` +
					`"usage":{"input_tokens":0,"output_tokens":0}}}`,
				`{"type":"system","subtype":"compact_boundary"}`,
				`{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"late"}],` +
					`"usage":{"input_tokens":3,"cache_creation_input_tokens":100}}}`,
				`{"type":"assistant","message":{"id":"m3","content":[],` +
					`"usage":{"input_tokens":5,"cache_read_input_tokens":null}}}`,
			},
			want: []transcript.Usage{
				{Entry: 1, Model: "M", PromptTokens: 123, CacheRead: 20, CacheWrite: 100, CacheWriteHour: 60, Output: 8},
				{Entry: 5, PromptTokens: 5},
			},
		},
		"claude code: a sub-agent's own file": {
			in: []string{
				`{"type":"user","isSidechain":true,"message":{"content":"find it"}}`,
				`{"type":"assistant","isSidechain":true,"message":{"id":"m1","content":[],"usage":{"input_tokens":7}}}`,
			},
			want: []transcript.Usage{{Entry: 1, PromptTokens: 7}},
		},
		"codex: at the first entry of the reply, also where it is reported behind the results, repeated, or never": {
			in: []string{
				`{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}`,
				`{"type":"response_item","payload":{"type":"reasoning","summary":[]}}`,
				`{"type":"response_item","payload":{"type":"web_search_call","action":{"query":"q"}}}`,
				`{"type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{}","call_id":"1"}}`,
				`{"type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"x"}}`,
				`{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":100,` +
					`"cached_input_tokens":80,"output_tokens":9,"total_tokens":109}}}}`,
				`{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":100,` +
					`"cached_input_tokens":80,"output_tokens":9,"total_tokens":109}}}}`,
				`{"type":"response_item","payload":{"type":"message","role":"assistant","content":"aborted"}}`,
				`{"type":"response_item","payload":{"type":"message","role":"user","content":"again"}}`,
				`{"type":"event_msg","payload":{"type":"token_count","info":null}}`,
				`{"type":"response_item","payload":{"type":"message","role":"assistant","content":"yes"}}`,
				`{"type":"event_msg","payload":{"type":"token_count",` +
					`"info":{"last_token_usage":{"input_tokens":120}}}}`,
				`{"type":"response_item","payload":{"type":"message","role":"assistant",` +
					`"content":"and on, in the same entry"}}`,
				`{"type":"event_msg","payload":{"type":"token_count",` +
					`"info":{"last_token_usage":{"input_tokens":130}}}}`,
				`{"type":"compacted","payload":{"message":"in short"}}`,
				`{"type":"event_msg","payload":{"type":"token_count",` +
					`"info":{"last_token_usage":{"input_tokens":140}}}}`,
				`{"type":"response_item","payload":{"type":"message","role":"assistant","content":"so"}}`,
				`{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":40}}}}`,
			},
			want: []transcript.Usage{
				{Entry: 1, PromptTokens: 100, CacheRead: 80, Output: 9},
				{Entry: 7, PromptTokens: 120},
				{Entry: 9, PromptTokens: 40},
			},
		},
		"codex: a report whose total has not grown repeats the one before": {
			in: []string{
				`{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}`,
				`{"type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{}","call_id":"1"}}`,
				`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":100},` +
					`"last_token_usage":{"input_tokens":100}}}}`,
				`{"type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"x"}}`,
				`{"type":"response_item","payload":{"type":"message","role":"assistant","content":"yes"}}`,
				`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":100},` +
					`"last_token_usage":{"input_tokens":100}}}}`,
				`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":220},` +
					`"last_token_usage":{"input_tokens":120}}}}`,
			},
			want: []transcript.Usage{{Entry: 1, PromptTokens: 100}, {Entry: 3, PromptTokens: 120}},
		},
		"gemini cli: the cached part is within the input, thoughts are output": {
			in: []string{`{"sessionId":"s","projectHash":"h","messages":[{"type":"user","content":"do"},` +
				`{"type":"gemini","content":"a","model":"G","tokens":{"input":30,"output":2,"cached":10,"thoughts":5,` +
				`"tool":0,"total":37}},` +
				`{"type":"gemini","content":"b","tokens":{"input":0,"output":0,"cached":0,"thoughts":0,"tool":0,` +
				`"total":0}}]}`},
			want: []transcript.Usage{{Entry: 1, Model: "G", PromptTokens: 30, CacheRead: 10, Output: 7}},
		},
		"openai chat": {
			in: []string{
				`{"role":"user","content":"a"}`,
				`{"role":"assistant","content":"b","usage":{"prompt_tokens":50,"completion_tokens":4,` +
					`"prompt_tokens_details":{"cached_tokens":40}}}`,
				`{"role":"assistant","content":"c","extra":{"response":{"usage":{"prompt_tokens":60.0,` +
					`"prompt_cache_hit_tokens":50,"prompt_tokens_details":null}}}}`,
				`{"role":"assistant","content":"d","usage":{"input_tokens":70,"output_tokens":1,` +
					`"input_tokens_details":{"cached_tokens":60}}}`,
				`{"role":"assistant","content":"e","usage":{"output_tokens":1}}`,
				`{"role":"user","content":"f","usage":{"prompt_tokens":80}}`,
			},
			want: []transcript.Usage{
				{Entry: 1, PromptTokens: 50, CacheRead: 40, Output: 4},
				{Entry: 2, PromptTokens: 60, CacheRead: 50},
				{Entry: 3, PromptTokens: 70, CacheRead: 60, Output: 1},
			},
		},
		"a log of one call, by a proxy that counts the cached parts apart from the prompt": {
			in: []string{`{"messages":[{"role":"user","content":"a"}],` +
				`"response":{"choices":[{"message":{"content":"b"}}],` +
				`"usage":{"prompt_tokens":6,"completion_tokens":1,"cache_creation_input_tokens":30,` +
				`"cache_read_input_tokens":4}}}`},
			want: []transcript.Usage{{Entry: 1, PromptTokens: 40, CacheRead: 4, CacheWrite: 30, Output: 1}},
		},
		"codex: the request of a compaction, which no item answers": {
			in: []string{
				`{"type":"turn_context","payload":{"model":"M"}}`,
				`{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}`,
				`{"type":"response_item","payload":{"type":"message","role":"assistant","content":"yes"}}`,
				`{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":10}}}}`,
				`{"type":"token_usage_record","payload":{"response_id":"r1","usage":{"input_tokens":10}}}`,
				`{"type":"token_usage_record","payload":{"response_id":"c1","usage":{"input_tokens":99,"output_tokens":7}}}`,
				`{"type":"compacted","payload":{"compaction_response_id":"c1","replacement_history":[]}}`,
				`{"type":"turn_context","payload":{"model":"M2"}}`,
				`{"type":"response_item","payload":{"type":"message","role":"assistant","content":"so"}}`,
				`{"type":"token_usage_record","payload":{"response_id":"r2","usage":{"input_tokens":20}}}`,
				`{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":20}}}}`,
			},
			want: []transcript.Usage{
				{Entry: 1, ID: "r1", Model: "M", PromptTokens: 10},
				{Entry: 1, ID: "c1", Model: "M", PromptTokens: 99, Output: 7},
				{Entry: 2, ID: "r2", Model: "M2", PromptTokens: 20},
			},
		},
		"cline, as an extension keeps it": {
			in: []string{`[{"role":"assistant","content":[{"type":"text","text":"x"}],"modelInfo":{"modelId":"C"},` +
				`"metrics":{"tokens":{"prompt":223,"completion":212,"cached":14650},"cost":0.05}}]`},
			want: []transcript.Usage{{Entry: 0, Model: "C", PromptTokens: 14873, CacheRead: 14650, Output: 212,
				USD: 0.05}},
		},
		"anthropic messages, as cline keeps them": {
			in: []string{`{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"x"}],` +
				`"modelInfo":{"id":"C"},"metrics":{"inputTokens":90,"outputTokens":3,"cacheReadTokens":70,` +
				`"cacheWriteTokens":10}}]}`},
			want: []transcript.Usage{{Entry: 0, Model: "C", PromptTokens: 90, CacheRead: 70, CacheWrite: 10,
				Output: 3}},
		},
		"opencode: reasoning is counted apart, and what a step cost is stated": {
			in: []string{`{"info":{"id":"ses_1"},"messages":[{"info":{"id":"m1","role":"user"},"parts":[{"type":"text","text":"go"}]},` +
				`{"info":{"id":"m2","role":"assistant","modelID":"hy3","cost":9},"parts":[{"type":"text","text":"a"},` +
				`{"type":"step-finish","cost":0.0035,"tokens":{"input":10,"output":7,"reasoning":5,"cache":{"read":30,"write":5}}},` +
				`{"type":"text","text":"b"},{"type":"step-finish","cost":0,"tokens":{"input":3,"reasoning":2,"cache":{"read":45}}}]}]}`},
			want: []transcript.Usage{
				{Entry: 1, Model: "hy3", PromptTokens: 45, CacheRead: 30, CacheWrite: 5, Output: 12, USD: 0.0035},
				{Entry: 2, Model: "hy3", PromptTokens: 48, CacheRead: 45, Output: 2},
			},
		},
		"claude code: speed": {
			in: []string{
				`{"type":"user","message":{"content":"go"}}`,
				`{"type":"assistant","message":{"id":"m1","model":"M","content":[],"usage":{"input_tokens":3,"speed":"fast"}}}`,
				`{"type":"user","message":{"content":"on"}}`,
				`{"type":"assistant","message":{"id":"m2","model":"M","content":[],"usage":{"input_tokens":4,"speed":"standard"}}}`,
			},
			want: []transcript.Usage{
				{Entry: 1, Model: "M", PromptTokens: 3, Fast: true}, {Entry: 3, Model: "M", PromptTokens: 4},
			},
		},
		"native": {
			in: []string{
				`{"speaker":"ai","blocks":[],"metadata":{"model":"N","usage":{"promptTokens":10,"completionTokens":2,` +
					`"totalTokens":12,"cachedTokens":6}}}`,
				`{"speaker":"ai","blocks":[],"metadata":{"usage":{"input":1,"output":2,"cacheRead":30,` +
					`"cacheWrite":4,"cost":{"input":0.1,"total":0.25}}}}`,
				`{"speaker":"ai","blocks":[],"metadata":{"usage":{"input":1,"output":2,"cost":"0.25"}}}`,
				`{"speaker":"ai","blocks":[],"metadata":{"usage":{"input":1,"output":2,"cost":-1}}}`,
				`{"speaker":"ai","blocks":[],"metadata":{"usage":{"input":1,"output":2,"cost":1e300}}}`,
				`{"speaker":"tool","blocks":[],"metadata":{"usage":{"promptTokens":11}}}`,
				`{"speaker":"ai","blocks":[],"metadata":{"usage":null}}`,
			},
			want: []transcript.Usage{
				{Entry: 0, Model: "N", PromptTokens: 10, CacheRead: 6, Output: 2},
				{Entry: 1, PromptTokens: 35, CacheRead: 30, CacheWrite: 4, Output: 2, USD: 0.25},
				{Entry: 2, PromptTokens: 1, Output: 2}, {Entry: 3, PromptTokens: 1, Output: 2}, {Entry: 4, PromptTokens: 1, Output: 2},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := read(t, strings.Join(tt.in, "\n"))
			if diff := cmp.Diff(tt.want, tr.Usage); diff != "" {
				t.Error(diff)
			}
			native, _ := write(t, tr, transcript.Native)
			if diff := cmp.Diff(tr.Usage, read(t, native).Usage); diff != "" {
				t.Errorf("converted to the native form:\n%s", diff)
			}
		})
	}
}

func TestUsageThatIsNoCountIsNotedAndNotUsed(t *testing.T) {
	for usage, want := range map[string]string{
		`{"prompt_tokens":-1}`:                       "prompt_tokens is -1, not a number of tokens",
		`{"prompt_tokens":1.5}`:                      "prompt_tokens is 1.5, not a number of tokens",
		`{"prompt_tokens":1e300}`:                    "prompt_tokens is 1e300, not a number of tokens",
		`{"prompt_tokens":1e999}`:                    "prompt_tokens is 1e999, not a number of tokens",
		`{"input_tokens":"7"}`:                       `input_tokens is "7", not a number of tokens`,
		`{"input_tokens":7,"output_tokens":[]}`:      "output_tokens is [], not a number of tokens",
		`{"input":7,"cacheRead":true}`:               "cacheRead is true, not a number of tokens",
		`{"input":100000000,"cacheRead":1}`:          "a prompt of 100000001 tokens exceeds the limit of every model",
		`[7]`:                                        "it is [7], not an object",
		`{"output_tokens":7}`:                        "",
		`{"prompt_tokens":0,"completion_tokens":0}`:  "",
		`{"prompt_tokens":null,"completion":"many"}`: "",
	} {
		tr := read(t, `[{"speaker":"human","blocks":[]},{"speaker":"ai","blocks":[],"metadata":{"usage":`+usage+`}}]`)
		var notes []string
		if want != "" {
			notes = []string{"line 1, entry 1: the usage is not used: " + want}
		}
		if diff := cmp.Diff(notes, messages(tr.Notes)); diff != "" || tr.Usage != nil {
			t.Errorf("%s: read as %v\n%s", usage, tr.Usage, diff)
		}
	}
}

func TestPromptsCountWhatWasInTheContextOfEachRequest(t *testing.T) {
	tr := read(t, `{"history":[
		{"speaker":"human","blocks":[]},
		{"speaker":"ai","blocks":[],"metadata":{"usage":{"promptTokens":5}}},
		{"speaker":"human","blocks":[]},
		{"speaker":"ai","blocks":[],"metadata":{"usage":{"promptTokens":5}}},
		{"speaker":"ai","blocks":[],"metadata":{"usage":{"promptTokens":5}}}],
		"boundaries":[{"index":1,"kind":"microcompact_boundary"},{"index":3,"kind":"compact_boundary"},{"index":5,"kind":"compacted"}]}`)
	if diff := cmp.Diff([]int{1, 0, 1000}, tr.Prompts([]int{1, 10, 100, 1000, 10000})); diff != "" {
		t.Error(diff)
	}
}

func TestTimeReadsWhatRecordersWrite(t *testing.T) {
	at := time.Date(2026, 3, 25, 0, 33, 44, 0, time.UTC)
	for metadata, want := range map[string]time.Time{
		`{"timestamp":"2026-03-25T00:33:44Z"}`:          at,
		`{"timestamp":"2026-03-25T02:33:44.250+02:00"}`: at.Add(250 * time.Millisecond),
		`{"timestamp":"2026-03-25T00:33:44.123456"}`:    at.Add(123456 * time.Microsecond),
		`{"timestamp":1774398824}`:                      at,
		`{"timestamp":1774398824.5}`:                    at.Add(500 * time.Millisecond),
		`{"timestamp":1774398824250}`:                   at.Add(250 * time.Millisecond),
		`{"timestamp":"yesterday"}`:                     {},
		`{"timestamp":"1774398824"}`:                    {},
		`{"timestamp":-5}`:                              {},
		`{"timestamp":0}`:                               {},
		`{"timestamp":1e30}`:                            {},
		`{"timestamp":null}`:                            {},
		`{"timestamp":{}}`:                              {},
		`{"model":"M"}`:                                 {},
		``:                                              {},
	} {
		got, ok := transcript.Time(content.Content{Metadata: []byte(metadata)})
		if !got.Equal(want) || ok == want.IsZero() {
			t.Errorf("%s: %v, %v", metadata, got, ok)
		}
	}
}
