package transcript_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/sdk/content"
)

// TestFormatsReadAs holds small samples of each format, with its traps, against the entries that they must become.
func TestFormatsReadAs(t *testing.T) {
	tests := map[string]struct {
		in         []string // lines
		format     transcript.Format
		system     string   // blocks
		want       []string // entries
		boundaries []transcript.Boundary
		notes      []string
	}{
		"claude code: lines of one message are one entry, also around a result": {
			in: []string{
				`{"type":"summary","leafUuid":"x","summary":"a title"}`,
				`{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"T1","cwd":"/w","planContent":"p",` +
					`"slug":null,"message":{"role":"user","content":"go","mood":1}}`,
				`{"type":"assistant","uuid":"u2","timestamp":"T2","message":{"id":"m1","model":"M",` +
					`"content":[{"type":"thinking","thinking":"hm","signature":"sig"}],"usage":{"output_tokens":1}}}`,
				`{"type":"assistant","uuid":"u3","timestamp":"T3","message":{"id":"m1","model":"M",` +
					`"content":[{"type":"tool_use","id":"c1","name":"Read","input":{"file_path":"a","limit":1.0}}],` +
					`"usage":{"output_tokens":2}}}`,
				`{"type":"progress","data":{"type":"bash_progress"}}`,
				`{"type":"user","uuid":"u4","timestamp":"T4","toolUseResult":{"originalFile":"…"},` +
					`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"one"}]}}`,
				`{"type":"assistant","uuid":"u5","timestamp":"T5","message":{"id":"m1","model":"M",` +
					`"content":[{"type":"tool_use","id":"c2","name":"Bash","input":{}}],"usage":{"output_tokens":9}}}`,
				`{"type":"user","uuid":"u6","timestamp":"T6","message":{"role":"user",` +
					`"content":[{"type":"tool_result","tool_use_id":"c2","is_error":true,"content":[{"type":"text",` +
					`"text":"two"},{"type":"image","source":{"type":"base64","media_type":"image/png",` +
					`"data":"aGk="}}]},{"type":"text","text":"and test it"}]}}`,
				`{"type":"progress","data":{"type":"hook_progress"}}`,
				`{"type":"from-the-future"}`,
			},
			format: transcript.ClaudeCode,
			want: []string{
				`{"speaker":"human","blocks":[{"type":"text","text":"go"}],"metadata":{"timestamp":"T1"}}`,
				`{"speaker":"ai","blocks":[{"type":"thinking","thought":"hm","signature":"sig"},` +
					`{"type":"tool_call","id":"c1","name":"Read","parameters":{"file_path":"a","limit":1.0}},` +
					`{"type":"tool_call","id":"c2","name":"Bash","parameters":{}}],` +
					`"metadata":{"timestamp":"T2","model":"M","usage":{"output_tokens":9}}}`,
				`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"c1","toolName":"Read",` +
					`"result":"one"}],"metadata":{"timestamp":"T4"}}`,
				`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"c2","toolName":"Bash","result":"two",` +
					`"error":"the tool reported an error"},{"type":"media","mimeType":"image/png","data":"aGk=",` +
					`"encoding":"base64"}],"metadata":{"timestamp":"T6"}}`,
				`{"speaker":"human","blocks":[{"type":"text","text":"and test it"}],"metadata":{"timestamp":"T6"}}`,
			},
			notes: []string{
				`line 10: 1 × record of the unknown type from-the-future left out`,
				`~ line 1: 1 × record of type summary, which is not part of the conversation, left out`,
				`~ line 2: 1 × field "planContent" of a record of type user left out`,
				`~ line 2: 1 × field "mood" of the message in a record of type user left out`,
				`~ line 5: 2 × record of type progress, which is not part of the conversation, left out (the ` +
					`first is here)`,
			},
		},
		"claude code: compactions, meta messages, sub-agents, repeated records": {
			in: []string{
				`{"type":"user","uuid":"u1","message":{"content":"a"}}`,
				`{"type":"assistant","uuid":"u2","message":{"id":"m1","content":[{"type":"text","text":"b"}]}}`,
				`{"type":"assistant","uuid":"s1","isSidechain":true,"message":{"id":"m9","content":[{"type":"text",` +
					`"text":"side"}]}}`,
				`{"type":"user","uuid":"u1","message":{"content":"a"}}`,
				`{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":5}}`,
				`{"type":"user","uuid":"u3","isCompactSummary":true,"isVisibleInTranscriptOnly":true,` +
					`"message":{"content":"in short"}}`,
				`{"type":"assistant","uuid":"u4","message":{"id":"m1","content":[{"type":"redacted_thinking",` +
					`"data":"x"}]}}`,
				`{"type":"system","subtype":"microcompact_boundary","microcompactMetadata":{"tokensSaved":7}}`,
				`{"type":"user","uuid":"u5","isMeta":true,"message":{"content":"caveat"}}`,
			},
			format: transcript.ClaudeCode,
			want: []string{
				`{"speaker":"human","blocks":[{"type":"text","text":"a"}]}`,
				`{"speaker":"ai","blocks":[{"type":"text","text":"b"}]}`,
				`{"speaker":"human","blocks":[{"type":"text","text":"in short"}],"metadata":{"isSummary":true}}`,
				`{"speaker":"ai","blocks":[{"type":"redacted_thinking","data":"x"}]}`,
				`{"speaker":"human","blocks":[{"type":"text","text":"caveat"}],"metadata":{"isMeta":true}}`,
			},
			boundaries: []transcript.Boundary{
				{Index: 2, Kind: transcript.BoundaryCompact, Meta: []byte(`{"trigger":"auto","preTokens":5}`)},
				{Index: 4, Kind: transcript.BoundaryMicrocompact, Meta: []byte(`{"tokensSaved":7}`)},
			},
			notes: []string{
				`~ line 3: 1 × message of a sub-agent (isSidechain) left out (the first is here)`,
				`~ line 4: 1 × record that repeats an earlier one (same uuid and message) left out`,
			},
		},
		"claude code: a sub-agent's own file": {
			in: []string{
				`{"type":"user","isSidechain":true,"message":{"content":"find it"}}`,
				`{"type":"assistant","isSidechain":true,"message":{"id":"m1","content":[{"type":"text",` +
					`"text":"found"}]}}`,
			},
			format: transcript.ClaudeCode,
			want: []string{
				`{"speaker":"human","blocks":[{"type":"text","text":"find it"}]}`,
				`{"speaker":"ai","blocks":[{"type":"text","text":"found"}]}`,
			},
			notes: []string{`every message is a sub-agent's (isSidechain): this is the transcript of a sub-agent`},
		},
		"codex: items in a row are one entry, events are not doubled": {
			in: []string{
				`{"timestamp":"T0","type":"session_meta","payload":{"id":"s1",` +
					`"base_instructions":{"text":"be brief"}}}`,
				`{"timestamp":"T1","type":"response_item","payload":{"type":"message","role":"developer",` +
					`"content":[{"type":"input_text","text":"rules"}]}}`,
				`{"timestamp":"T2","type":"response_item","payload":{"type":"message","role":"user",` +
					`"content":[{"type":"input_text","text":"hi"},` +
					`{"type":"input_image","image_url":"data:image/png;base64,aGk="}]}}`,
				`{"timestamp":"T2","type":"event_msg","payload":{"type":"user_message","message":"hi"}}`,
				`{"timestamp":"T3","type":"response_item","payload":{"type":"reasoning",` +
					`"summary":[{"type":"summary_text","text":"plan"}],"encrypted_content":"e"}}`,
				`{"timestamp":"T4","type":"response_item","payload":{"type":"message","role":"assistant",` +
					`"content":[{"type":"output_text","text":"ok"}]}}`,
				`{"timestamp":"T5","type":"response_item","payload":{"type":"function_call","name":"exec_command",` +
					`"arguments":"{\"cmd\":\"ls\",\"n\":1.50}","call_id":"c1","namespace":"mcp","status":"done"}}`,
				`{"timestamp":"T6","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch",` +
					`"input":"*** Begin Patch\n","call_id":"c2"}}`,
				`{"timestamp":"T7","type":"response_item","payload":{"type":"function_call_output","call_id":"c1",` +
					`"output":"Exit code: 1"}}`,
				`{"timestamp":"T8","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2",` +
					`"output":"done"}}`,
				`{"timestamp":"T9","type":"event_msg","payload":{"type":"token_count",` +
					`"info":{"last_token_usage":{"input_tokens":10}}}}`,
				`{"timestamp":"T9","type":"event_msg","payload":{"type":"token_count","info":null}}`,
				`{"timestamp":"TA","type":"response_item","payload":{"type":"web_search_call","status":"completed",` +
					`"action":{"type":"search","query":"q"}}}`,
				`{"timestamp":"TB","type":"response_item","payload":{"type":"function_call","name":"f",` +
					`"arguments":"not json","call_id":"c3"}}`,
				`{"timestamp":"TC","type":"response_item","payload":{"type":"ghost_snapshot","commit":"x"}}`,
			},
			format: transcript.Codex,
			system: `{"type":"text","text":"be brief"}{"type":"text","text":"rules","role":"developer"}`,
			want: []string{
				`{"speaker":"human","blocks":[{"type":"text","text":"hi"},` +
					`{"type":"media","mimeType":"image/png","data":"aGk=","encoding":"base64"}],` +
					`"metadata":{"timestamp":"T2"}}`,
				`{"speaker":"ai","blocks":[{"type":"thinking","thought":"plan","encryptedContent":"e"},` +
					`{"type":"text","text":"ok"},{"type":"tool_call","id":"c1","name":"exec_command",` +
					`"parameters":{"cmd":"ls","n":1.50}},{"type":"tool_call","id":"c2","name":"apply_patch",` +
					`"parameters":{"input":"*** Begin Patch\n"}}],` +
					`"metadata":{"timestamp":"T3","usage":{"input_tokens":10}}}`,
				`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"c1","toolName":"exec_command",` +
					`"result":"Exit code: 1"},{"type":"tool_response","callId":"c2","toolName":"apply_patch",` +
					`"result":"done"}],"metadata":{"timestamp":"T7"}}`,
				`{"speaker":"ai","blocks":[{"type":"tool_call","id":"prov_3","name":"web_search_call",` +
					`"parameters":{"type":"search","query":"q"}}],"metadata":{"timestamp":"TA"}}`,
				`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"prov_3","toolName":"web_search_call",` +
					`"result":null}],"metadata":{"timestamp":"TA","providerExecuted":true}}`,
				`{"speaker":"ai","blocks":[{"type":"tool_call","id":"c3","name":"f","parameters":"not json"},` +
					`{"type":"ghost_snapshot","commit":"x"}],"metadata":{"timestamp":"TB"}}`,
			},
			notes: []string{
				`line 14, entry 5: block 1 is of the unknown kind "ghost_snapshot"; it is carried unchanged`,
				`~ line 4: 1 × record of type event_msg/user_message, which repeats the conversation or reports its ` +
					`progress, left out`,
				`~ line 7: 1 × field "namespace" of an item of type function_call left out`,
			},
		},
		"codex: what replaced the history stands behind the boundary": {
			in: []string{
				`{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}`,
				`{"type":"response_item","payload":{"type":"message","role":"assistant","content":"ho"}}`,
				`{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user",` +
					`"content":"hi"},{"type":"compaction","encrypted_content":"e"}],"window_id":2}}`,
				`{"type":"response_item","payload":{"type":"message","role":"assistant","content":"so"}}`,
				`{"type":"compacted","payload":{"message":"in short"}}`,
			},
			format: transcript.Codex,
			want: []string{
				`{"speaker":"human","blocks":[{"type":"text","text":"hi"}]}`,
				`{"speaker":"ai","blocks":[{"type":"text","text":"ho"}]}`,
				`{"speaker":"human","blocks":[{"type":"text","text":"hi"}],"metadata":{"fromCompaction":true}}`,
				`{"speaker":"ai","blocks":[{"type":"compaction","encrypted_content":"e"}],` +
					`"metadata":{"fromCompaction":true}}`,
				`{"speaker":"ai","blocks":[{"type":"text","text":"so"}]}`,
				`{"speaker":"human","blocks":[{"type":"text","text":"in short"}],` +
					`"metadata":{"fromCompaction":true,"isSummary":true}}`,
			},
			boundaries: []transcript.Boundary{
				{Index: 2, Kind: transcript.BoundaryCompacted, Meta: []byte(`{"message":"","window_id":2}`)},
				{Index: 5, Kind: transcript.BoundaryCompacted, Meta: []byte(`{"message":"in short"}`)},
			},
		},
		"gemini cli: calls and results of a message are taken apart": {
			in: []string{
				`{"sessionId":"s1","projectHash":"h","mood":"good","messages":[`,
				`{"type":"user","timestamp":"T1","content":"do"},`,
				`{"type":"gemini","timestamp":"T2","content":"","model":"M","thoughts":[{"subject":"S",` +
					`"description":"D"}],"tokens":{"input":3},"mood":1,"toolCalls":[`,
				`  {"id":"a","name":"read_file","args":{"path":"x"},` +
					`"result":[{"functionResponse":{"id":"a","name":"read_file","response":{"output":"text"}}}],` +
					`"status":"success"},`,
				`  {"id":"b","name":"replace","args":{},` +
					`"result":[{"functionResponse":{"response":{"error":"no match"}}}],"status":"error"},`,
				`  {"id":"c","name":"replace","args":{},"status":"cancelled","mood":1},`,
				`  {"id":"d","name":"shell","args":{},"status":"executing"}]},`,
				`{"type":"info","content":"Update available"},{"type":"oracle","content":"hm"},`,
				`{"type":"user","content":[{"text":"see"},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}]}`,
			},
			format: transcript.GeminiCLI,
			want: []string{
				`{"speaker":"human","blocks":[{"type":"text","text":"do"}],"metadata":{"timestamp":"T1"}}`,
				`{"speaker":"ai","blocks":[{"type":"thinking","thought":"S: D"},` +
					`{"type":"tool_call","id":"a","name":"read_file","parameters":{"path":"x"}},` +
					`{"type":"tool_call","id":"b","name":"replace","parameters":{}},` +
					`{"type":"tool_call","id":"c","name":"replace","parameters":{}},` +
					`{"type":"tool_call","id":"d","name":"shell","parameters":{}}],` +
					`"metadata":{"timestamp":"T2","model":"M","usage":{"input":3}}}`,
				`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"a","toolName":"read_file",` +
					`"result":{"output":"text"}},{"type":"tool_response","callId":"b","toolName":"replace",` +
					`"result":{"error":"no match"},"error":"no match"},` +
					`{"type":"tool_response","callId":"c","toolName":"replace","error":"status: cancelled"}],` +
					`"metadata":{"timestamp":"T2"}}`,
				`{"speaker":"human","blocks":[{"type":"text","text":"see"},` +
					`{"type":"media","mimeType":"image/png","data":"aGk=","encoding":"base64"}]}`,
			},
			notes: []string{
				`~ top-level fields left out: mood`,
				`line 8: 1 × message of the unknown type oracle left out`,
				`~ line 3: 1 × field "mood" of a gemini message left out`,
				`~ line 3: 1 × field "mood" of a call left out`,
				`~ line 8: 1 × message of type info, which the model never saw, left out`,
			},
		},
		"openai chat": {
			in: []string{
				`{"model":"gpt","tools":[{"type":"function","function":{"name":"f"}}],"messages":[`,
				`{"role":"system","content":"be brief"},`,
				`{"role":"user","name":"ann","content":[{"type":"text","text":"see"},` +
					`{"type":"image_url","image_url":{"url":"https://e.org/i.png","detail":"low"}}]},`,
				`{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"1","type":"function",` +
					`"function":{"name":"f","arguments":"{\"b\":1.0,\"a\":2}"}},` +
					`{"id":"2","type":"function","function":{"name":"g","arguments":"{"}},` +
					`{"id":"3","function":{"name":"h","arguments":""}}]},`,
				`{"role":"tool","tool_call_id":"2","content":[{"type":"text","text":"G"}]},`,
				`{"role":"tool","tool_call_id":"1","content":"F"},`,
				`{"role":"assistant","reasoning_content":"hm","content":"done","extra":{"x":1}},`,
				`{"role":"assistant","content":"","function_call":{"name":"old","arguments":"{}"}},`,
				`{"role":"function","name":"old","content":"O"},`,
				`{"role":"exit","content":"bye"}]}`,
			},
			format: transcript.OpenAIChat,
			system: `{"type":"text","text":"be brief"}`,
			want: []string{
				`{"speaker":"human","blocks":[{"type":"text","text":"see"},` +
					`{"type":"media","mimeType":"image/*","data":"https://e.org/i.png","encoding":"url",` +
					`"detail":"low"}],"name":"ann"}`,
				`{"speaker":"ai","blocks":[{"type":"tool_call","id":"1","name":"f","parameters":{"b":1.0,"a":2}},` +
					`{"type":"tool_call","id":"2","name":"g","parameters":"{"},` +
					`{"type":"tool_call","id":"3","name":"h"}]}`,
				`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"2","toolName":"g","result":"G"}]}`,
				`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"f","result":"F"}]}`,
				`{"speaker":"ai","blocks":[{"type":"thinking","thought":"hm"},{"type":"text","text":"done"}]}`,
				`{"speaker":"ai","blocks":[{"type":"tool_call","id":"function_1","name":"old","parameters":{}}]}`,
				`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"function_1","toolName":"old",` +
					`"result":"O"}]}`,
				`{"speaker":"human","blocks":[{"type":"text","text":"bye"}],"metadata":{"role":"exit"}}`,
			},
			notes: []string{
				`line 4, entry 1: the arguments of the call "2" are not JSON; they are kept as text`,
				`line 10, entry 7: unknown role "exit"; read as the human's, kept in metadata.role`,
				`~ top-level fields left out: model`,
			},
		},
		"openai chat, one message a line": {
			in:     []string{`{"role":"user","content":"a"}`, `{"role":"assistant","content":"b"}`},
			format: transcript.OpenAIChat,
			want: []string{
				`{"speaker":"human","blocks":[{"type":"text","text":"a"}]}`,
				`{"speaker":"ai","blocks":[{"type":"text","text":"b"}]}`,
			},
		},
		"openai chat, a log of one call": {
			in: []string{
				`{"messages":[{"role":"user","content":"a"}],"response":{"choices":[{"message":{"content":"b",` +
					`"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}}],` +
					`"usage":{"total_tokens":3}}}`,
			},
			want: []string{
				`{"speaker":"human","blocks":[{"type":"text","text":"a"}]}`,
				`{"speaker":"ai","blocks":[{"type":"text","text":"b"},` +
					`{"type":"tool_call","id":"1","name":"f","parameters":{}}],` +
					`"metadata":{"usage":{"total_tokens":3}}}`,
			},
			format: transcript.OpenAIChat,
			notes:  []string{`~ line 1, entry 1: the provider's response is read as the last message`},
		},
		"anthropic messages": {
			in: []string{
				`{"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],"messages":[`,
				`{"role":"user","content":"hi"},`,
				`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},` +
					`{"type":"tool_use","id":"1","name":"f","input":{}},` +
					`{"type":"tool_use","id":"2","name":"g","input":{}}]},`,
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"json",` +
					`"json":{}}]},{"type":"tool_result","tool_use_id":"2"},` +
					`{"type":"image","source":{"type":"url","url":"https://e.org/i"}}]}]}`,
			},
			format: transcript.AnthropicMessages,
			system: `{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}`,
			want: []string{
				`{"speaker":"human","blocks":[{"type":"text","text":"hi"}]}`,
				`{"speaker":"ai","blocks":[{"type":"thinking","thought":"hm","signature":"s"},` +
					`{"type":"tool_call","id":"1","name":"f","parameters":{}},` +
					`{"type":"tool_call","id":"2","name":"g","parameters":{}}]}`,
				`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"f",` +
					`"result":[{"type":"json","json":{}}]},{"type":"tool_response","callId":"2","toolName":"g"}]}`,
				`{"speaker":"human","blocks":[{"type":"media","mimeType":"image/*","data":"https://e.org/i",` +
					`"encoding":"url"}]}`,
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tr := read(t, strings.Join(tt.in, "\n"))
			if tr.Format != tt.format {
				t.Errorf("read as %s", tr.Format)
			}
			if diff := cmp.Diff(tt.want, strings.Split(strings.TrimSpace(entries(tr)), "\n")); diff != "" {
				t.Error(diff)
			}
			if got := string(blocks(tr.System)); got != tt.system {
				t.Errorf("the system prompt is %s", got)
			}
			if diff := cmp.Diff(tt.boundaries, tr.Boundaries); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.notes, messages(tr.Notes)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func blocks(list []content.Block) (out []byte) {
	for _, b := range list {
		out = content.AppendBlock(out, b)
	}
	return out
}
