package transcript_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/sdk/content"
)

// agentSample is a small session in the form of an agent, with what it must become.
type agentSample struct {
	in         string
	format     transcript.Format
	want       string // see [brief]
	boundaries int
	notes      []string // warnings
	check      func(*testing.T, *transcript.Transcript)
}

// agentSamples are made up.
var agentSamples = map[string]agentSample{
	"gemini stream-json: pieces of a text are one": {
		in: `{"type":"init","timestamp":"T0","session_id":"s1","model":"gemini-2.5-pro"}
{"type":"message","timestamp":"T1","role":"user","content":"go"}
{"type":"message","timestamp":"T2","role":"assistant","content":"I ","delta":true}
{"type":"message","timestamp":"T2","role":"assistant","content":"read","delta":true}
{"type":"tool_use","timestamp":"T3","tool_name":"read_file","tool_id":"c1","parameters":{"path":"a"}}
{"type":"tool_result","timestamp":"T4","tool_id":"c1","status":"success","output":"one"}
{"type":"tool_use","timestamp":"T5","tool_name":"replace","tool_id":"c2","parameters":{}}
{"type":"tool_result","timestamp":"T6","tool_id":"c2","status":"error","output":"no","error":{"type":"e","message":"not found"}}
{"type":"result","timestamp":"T7","status":"success","stats":{}}`,
		format: transcript.GeminiStream,
		want: `human: go
ai: I read, call c1 read_file {"path":"a"}
tool: c1 read_file "one"
ai: call c2 replace {}
tool: c2 replace "no" failed: not found`,
		check: func(t *testing.T, tr *transcript.Transcript) {
			if tr.Model != "gemini-2.5-pro" || tr.ID != "s1" {
				t.Errorf("model %q, id %q", tr.Model, tr.ID)
			}
		},
	},
	"gemini stream-json: what is left of a run that failed": {
		in: `{"type":"error","timestamp":"T0","severity":"warning","message":"Loop detected"}
{"type":"message","timestamp":"T1","role":"user","content":"go"}
{"type":"message","timestamp":"T2","role":"assistant","content":"no","error":{"type":"e"}}
{"type":"result","timestamp":"T7","status":"error","error":{"type":"e","message":"m"},"stats":{}}`,
		format: transcript.GeminiStream,
		want:   "human: go\nai: no",
	},
	"gemini stream-json: a message first": {
		in: `{"type":"message","timestamp":"T1","role":"user","content":"go"}
{"type":"tool_use","timestamp":"T3","tool_name":"read_file","tool_id":"c1","parameters":{"path":"a"}}
{"type":"tool_result","timestamp":"T4","tool_id":"c1","status":"error","error":{"type":"e","message":"not found"}}`,
		format: transcript.GeminiStream,
		want:   "human: go\nai: call c1 read_file {\"path\":\"a\"}\ntool: c1 read_file \"not found\" failed: not found",
	},
	"gemini lines: a result that is only in the next message": {
		in: `{"sessionId":"s1","projectHash":"h","startTime":"T0"}
{"id":"m1","timestamp":"T1","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"read_file","args":{},"status":"executing"}]}
{"id":"m2","timestamp":"T2","type":"user","content":[{"functionResponse":{"id":"c1","name":"read_file","response":{"error":"no"}}},{"text":"and"}]}`,
		format: transcript.GeminiCLI,
		want: `ai: call c1 read_file {}
tool: c1 read_file {"error":"no"} failed: no
human: and`,
	},
	"gemini lines: a message is written again, taken back, and the context replaced": {
		in: `{"sessionId":"s1","projectHash":"h","startTime":"T0"}
{"$set":{"messages":[]}}
{"id":"m1","timestamp":"T1","type":"user","content":[{"text":"go"}]}
{"id":"m2","timestamp":"T2","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"read_file","args":{},"status":"executing"}]}
{"id":"m2","timestamp":"T2","type":"gemini","content":"","model":"gemini-3","tokens":{"input":9},"toolCalls":[{"id":"c1","name":"read_file","args":{},"status":"success","result":[{"functionResponse":{"id":"c1","name":"read_file","response":{"output":"one"}}}]}]}
{"id":"m2b","timestamp":"T2","type":"user","content":[{"functionResponse":{"id":"c1","name":"read_file","response":{"output":"one"}}}]}
{"id":"m3","timestamp":"T3","type":"user","content":"wrong"}
{"id":"m4","timestamp":"T3","type":"gemini","content":"way"}
{"$rewindTo":"m3"}
{"id":"m5","timestamp":"T4","type":"user","content":"on"}
{"$set":{"messages":[{"id":"m6","timestamp":"T5","type":"user","content":"in short"}]}}
{"id":"m7","timestamp":"T6","type":"gemini","content":"done"}`,
		format:     transcript.GeminiCLI,
		boundaries: 1,
		want: `human: go
ai: call c1 read_file {}
tool: c1 read_file {"output":"one"}
human: on
human: in short
ai: done`,
	},
	"claude code: attachments are what the model saw": {
		in: `{"type":"user","uuid":"1","timestamp":"T1","message":{"role":"user","content":"go on with @a.go"}}
{"type":"attachment","uuid":"2","timestamp":"T2","attachment":{"type":"file","filename":"/w/a.go","content":{"type":"text","file":{"filePath":"/w/a.go","content":"package a","numLines":1}}}}
{"type":"attachment","uuid":"3","timestamp":"T2","attachment":{"type":"hook_success","hookEvent":"PostToolUse","content":"fine","stdout":"fine"}}
{"type":"attachment","uuid":"4","timestamp":"T2","attachment":{"type":"hook_additional_context","hookEvent":"UserPromptSubmit","content":["be","brief"]}}
{"type":"assistant","uuid":"5","timestamp":"T3","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{}}]}}
{"type":"user","uuid":"6","timestamp":"T4","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"done"}]}}
{"type":"attachment","uuid":"7","timestamp":"T5","attachment":{"type":"queued_command","prompt":"and test it","commandMode":"prompt"}}
{"type":"attachment","uuid":"8","timestamp":"T5","attachment":{"type":"edited_text_file","filename":"/w/b.go","snippet":"3\tfunc b() {}"}}
{"type":"attachment","uuid":"9","timestamp":"T5","attachment":{"type":"task_reminder","content":[{"id":"1","subject":"test"}],"itemCount":1}}
{"type":"attachment","uuid":"9","timestamp":"T5","attachment":{"type":"task_reminder","content":[{"id":"1","subject":"test"}],"itemCount":1}}
{"type":"attachment","uuid":"a","timestamp":"T5","attachment":{"type":"deferred_tools_delta"}}
{"type":"mode","mode":"normal","sessionId":"s"}`,
		format: transcript.ClaudeCode,
		want: `human: go on with @a.go
human: package a
human: be, brief
ai: call c1 Bash {}
tool: c1 Bash "done"
human: and test it
human: 3	func b() {}
human: {"id":"1","subject":"test"}`,
		check: func(t *testing.T, tr *transcript.Transcript) {
			for i, want := range []string{
				`{"timestamp":"T2","isMeta":true,"attachment":"file"}`, `{"timestamp":"T5","attachment":"queued_command"}`,
			} {
				if got := string(tr.Entries[1+4*i].Metadata); got != want {
					t.Errorf("%s, want %s", got, want)
				}
			}
			for _, want := range []string{"hook_success, which the model did not see",
				"deferred_tools_delta, which the model saw in words that are not recorded"} {
				if notes := fmt.Sprint(tr.Notes); !strings.Contains(notes, want) {
					t.Errorf("%s\nlack %s", notes, want)
				}
			}
		},
	},
	"openclaw: parents are missing, and the session goes on at a leaf": {
		in: `{"type":"session","version":3,"id":"s1","timestamp":"T0","cwd":"/w"}
{"type":"message","id":"a","timestamp":"T1","message":{"role":"user","content":[{"type":"text","text":"go"}]}}
{"type":"message","id":"b","timestamp":"T2","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a"}}]}}
{"type":"message","id":"c","parentId":"gone","timestamp":"T3","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"one"}],"isError":false}}
{"type":"message","id":"d","parentId":"c","timestamp":"T4","message":{"role":"assistant","content":[{"type":"text","text":"wrong"}]}}
{"type":"leaf","id":"e","parentId":"d","targetId":"c","timestamp":"T5"}
{"type":"message","id":"f","parentId":"e","timestamp":"T6","message":{"role":"assistant","content":[{"type":"text","text":"right"}]}}
{"type":"message","id":"g","parentId":"f","timestamp":"T7","message":{"role":"user","content":"and"}}
{"type":"message","id":"h","parentId":"b","appendMode":"side","timestamp":"T8","message":{"role":"assistant","content":"aside"}}`,
		format: transcript.Pi,
		want: `human: go
ai: call c1 read {"path":"a"}
tool: c1 read "one"
ai: right
human: and`,
		notes: []string{`line 4: the record's parent "gone" is not in the file; the record before it is taken`},
	},
	"qwen: the parts of Gemini's API, without ids": {
		in: `{"uuid":"1","sessionId":"s1","timestamp":"T1","type":"user","cwd":"/w","version":"1","message":{"role":"user","parts":[{"text":"go"}]}}
{"uuid":"2","sessionId":"s1","timestamp":"T2","type":"assistant","cwd":"/w","model":"qwen3","contextWindowSize":131072,"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":7,"cachedContentTokenCount":40},"message":{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"read_file","args":{"path":"a"}}}]}}
{"uuid":"3","sessionId":"s1","timestamp":"T3","type":"tool_result","cwd":"/w","toolCallResult":{"resultDisplay":"one"},"message":{"role":"user","parts":[{"functionResponse":{"name":"read_file","response":{"output":"one"}}}]}}
{"uuid":"4","sessionId":"s1","timestamp":"T4","type":"system","subtype":"chat_compression","systemPayload":{"info":{"originalTokenCount":5},"compressedHistory":[{"role":"user","parts":[{"text":"in short"}]},{"role":"model","parts":[{"text":"ok"}]}]}}`,
		format:     transcript.QwenCode,
		boundaries: 1,
		want: `human: go
ai: (hm), call call_1 read_file {"path":"a"}
tool: call_1 read_file {"output":"one"}
human: in short
ai: ok`,
		check: func(t *testing.T, tr *transcript.Transcript) {
			want := []transcript.Usage{{Entry: 1, Model: "qwen3", PromptTokens: 100, CacheRead: 40, Output: 7}}
			if diff := cmp.Diff(want, tr.Usage); diff != "" || tr.ContextLimit != 131072 || tr.Dir != "/w" {
				t.Error(diff, tr.ContextLimit, tr.Dir)
			}
		},
	},
	"cline: results are text of the user": {
		in: `[{"role":"user","content":[{"type":"text","text":"<task>\ngo\n</task>"},{"type":"text","text":"<environment_details>\n</environment_details>"}]},
{"role":"assistant","content":[{"type":"text","text":"I read"},{"type":"tool_use","id":"c1","name":"read_file","input":{"path":"a"}}]},
{"role":"user","content":[{"type":"text","text":"[read_file for 'a'] Result:"},{"type":"text","text":"one"},{"type":"text","text":"<environment_details>\n</environment_details>"}]},
{"role":"assistant","content":[{"type":"text","text":"I write\n\n<write_to_file>\n<path>b.html</path>\n<content>\n<p>x</p>\n</content>\n</write_to_file>"}]},
{"role":"user","content":[{"type":"text","text":"[write_to_file for 'b.html'] Result:\nsaved"}]}]`,
		format: transcript.Cline,
		want: `human: <task>…, <environment_details>…
ai: I read, call c1 read_file {"path":"a"}
tool: c1 read_file "one"
human: <environment_details>…
ai: I write, call call_1 write_to_file {"path":"b.html","content":"<p>x</p>"}
tool: call_1 write_to_file "saved"`,
	},
	"copilot: a patch is text, and answers are counted without their prompts": {
		in: `{"type":"session.start","timestamp":"T0","data":{"sessionId":"s1"}}
{"type":"user.message","timestamp":"T1","data":{"content":"go"}}
{"type":"assistant.message","timestamp":"T2","data":{"content":"","outputTokens":40,"toolRequests":[{"toolCallId":"c1","name":"apply_patch","arguments":"*** Begin Patch"}]}}
{"type":"tool.execution_complete","timestamp":"T3","data":{"toolCallId":"c1","success":true,"result":{"content":"done"}}}
{"type":"assistant.message","timestamp":"T4","data":{"content":"so","outputTokens":2}}
{"type":"assistant.message","timestamp":"T4","data":{"content":"it is","outputTokens":3}}`,
		format: transcript.CopilotCLI,
		want: `human: go
ai: call c1 apply_patch {"input":"*** Begin Patch"}
tool: c1 apply_patch "done"
ai: so
ai: it is`,
		check: func(t *testing.T, tr *transcript.Transcript) {
			if r := tr.Requests(); len(r) != 2 || r[0].Output != 40 || r[1].Output != 5 || len(tr.Usage) > 0 {
				t.Errorf("%+v", r)
			}
		},
	},
	"copilot: a sub-agent's events are not the conversation": {
		in: `{"type":"session.start","data":{"sessionId":"s1","context":{"cwd":"/w"}},"timestamp":"T0"}
{"type":"user.message","data":{"content":"go","transformedContent":"now: go"},"timestamp":"T1"}
{"type":"assistant.message","data":{"content":"","model":"m","toolRequests":[{"toolCallId":"c1","name":"view","arguments":{"path":"a"}}]},"timestamp":"T2"}
{"type":"assistant.message","data":{"content":"side","parentToolCallId":"c1"},"timestamp":"T2"}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"result":{"content":"one","detailedContent":"…"}},"timestamp":"T3"}`,
		format: transcript.CopilotCLI,
		want: `human: now: go
ai: call c1 view {"path":"a"}
tool: c1 view "one"`,
	},
	"pi: the branch that the last record is on, and a compaction": {
		in: `{"type":"session","version":3,"id":"s1","cwd":"/w"}
{"type":"message","id":"a","parentId":null,"timestamp":"T1","message":{"role":"user","content":"go"}}
{"type":"message","id":"b","parentId":"a","timestamp":"T2","message":{"role":"assistant","content":[{"type":"text","text":"left"}]}}
{"type":"message","id":"c","parentId":"a","timestamp":"T3","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"usage":{"input":5},"model":"m"}}
{"type":"message","id":"d","parentId":"c","timestamp":"T4","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"one"}],"isError":true}}
{"type":"message","id":"e","parentId":"d","timestamp":"T5","message":{"role":"user","content":"kept"}}
{"type":"compaction","id":"f","parentId":"e","timestamp":"T6","summary":"in short","firstKeptEntryId":"e","tokensBefore":9}
{"type":"message","id":"g","parentId":"f","timestamp":"T7","message":{"role":"assistant","content":[{"type":"text","text":"done"}]}}`,
		format:     transcript.Pi,
		boundaries: 1,
		want: `human: go
ai: call c1 read {}
tool: c1 read "one" failed: the tool reported an error
human: kept
human: in short
human: kept
ai: done`,
	},
	"openhands: parallel calls are one answer": {
		in: `{"kind":"SystemPromptEvent","source":"agent","system_prompt":{"type":"text","text":"be brief"},"tools":[]}
{"kind":"MessageEvent","source":"user","timestamp":"T1","llm_message":{"role":"user","content":[{"type":"text","text":"go"}]}}
{"kind":"ActionEvent","source":"agent","timestamp":"T2","thought":[{"type":"text","text":"I read"}],"tool_name":"terminal","tool_call_id":"c1","tool_call":{"id":"c1","name":"terminal","arguments":"{\"command\":\"ls\"}"},"llm_response_id":"r1","action":{"kind":"x"}}
{"kind":"ActionEvent","source":"agent","timestamp":"T2","thought":[],"tool_name":"terminal","tool_call_id":"c2","tool_call":{"id":"c2","name":"terminal","arguments":"{}"},"llm_response_id":"r1"}
{"kind":"ObservationEvent","source":"environment","timestamp":"T3","tool_name":"terminal","tool_call_id":"c1","observation":{"output":"one","exit_code":0}}
{"kind":"AgentErrorEvent","source":"agent","timestamp":"T3","tool_name":"terminal","tool_call_id":"c2","error":"no command"}`,
		format: transcript.OpenHands,
		want: `human: go
ai: I read, call c1 terminal {"command":"ls"}, call c2 terminal {}
tool: c1 terminal {"output":"one","exit_code":0}, c2 terminal "no command" failed: no command`,
	},
	"opencode: an export, with a compaction that keeps the end, and what was taken back": {
		in: `{"info":{"id":"ses_1","directory":"/w","revert":{"messageID":"m9"}},"messages":[
{"info":{"id":"m1","role":"user","time":{"created":1}},"parts":[{"type":"text","text":"go"},{"type":"text","text":"no","ignored":true},{"type":"file","mime":"image/png","url":"data:image/png;base64,aGk="}]},
{"info":{"id":"m2","role":"assistant","modelID":"m","time":{"created":2},"path":{"cwd":"/w"}},"parts":[{"type":"step-start"},{"type":"reasoning","text":"hm"},{"type":"text","text":"I read"},{"type":"tool","callID":"c1","tool":"read","state":{"status":"completed","input":{"filePath":"a"},"output":"one","attachments":[{"type":"file","mime":"image/png","url":"data:image/png;base64,aGk="}]}},{"type":"step-finish","tokens":{"input":10,"output":7,"cache":{"read":30,"write":5}}},{"type":"step-start"},{"type":"tool","callID":"c2","tool":"bash","state":{"status":"error","input":{},"error":"denied"}},{"type":"tool","callID":"c3","tool":"bash","state":{"status":"running","input":{}}}]},
{"info":{"id":"m3","role":"user","time":{"created":3}},"parts":[{"type":"compaction","auto":true,"tail_start_id":"m2"}]},
{"info":{"id":"m4","role":"assistant","summary":true,"time":{"created":4}},"parts":[{"type":"text","text":"in short"}]},
{"info":{"id":"m9","role":"user"},"parts":[{"type":"text","text":"taken back"}]}]}`,
		format:     transcript.OpenCode,
		boundaries: 1,
		want: `human: go, media image/png
ai: (hm), I read, call c1 read {"filePath":"a"}
tool: c1 read "one", media image/png
ai: call c2 bash {}, call c3 bash {}
tool: c2 bash "denied" failed: denied
human: in short
ai: (hm), I read, call c1 read {"filePath":"a"}
tool: c1 read "one", media image/png
ai: call c2 bash {}, call c3 bash {}
tool: c2 bash "denied" failed: denied`,
		check: func(t *testing.T, tr *transcript.Transcript) {
			want := []transcript.Usage{{Entry: 1, Model: "m", PromptTokens: 45, CacheRead: 30, CacheWrite: 5, Output: 7}}
			if diff := cmp.Diff(want, tr.Usage); diff != "" || tr.Dir != "/w" || tr.ID != "ses_1" {
				t.Error(diff, tr.Dir, tr.ID)
			}
		},
	},
	"opencode: events, of which the last state counts": {
		in: `{"type":"server.connected","properties":{}}
{"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"s1","role":"user"}}}
{"type":"message.part.updated","properties":{"part":{"id":"p1","messageID":"msg_1","sessionID":"s1","type":"text","text":"go"}}}
{"type":"message.updated","properties":{"info":{"id":"msg_2","sessionID":"s1","role":"assistant","modelID":"m"}}}
{"type":"message.part.updated","properties":{"part":{"id":"p2","messageID":"msg_2","sessionID":"s1","type":"tool","tool":"read","callID":"c1","state":{"status":"running","input":{}}}}}
{"type":"message.part.updated","properties":{"part":{"id":"p9","messageID":"msg_9","sessionID":"s2","type":"text","text":"side"}}}
{"type":"message.part.updated","properties":{"part":{"id":"p2","messageID":"msg_2","sessionID":"s1","type":"tool","tool":"read","callID":"c1","state":{"status":"completed","input":{},"output":"one"}}}}`,
		format: transcript.OpenCode,
		want: `human: go
ai: call c1 read {}
tool: c1 read "one"`,
	},
	"opencode: what run prints": {
		in: `{"type":"step_start","timestamp":1,"sessionID":"s1","part":{"id":"p1","messageID":"msg_1","sessionID":"s1","type":"step-start"}}
{"type":"text","timestamp":1,"sessionID":"s1","part":{"id":"p2","messageID":"msg_1","sessionID":"s1","type":"text","text":"I read"}}
{"type":"tool_use","timestamp":1,"sessionID":"s1","part":{"id":"p3","messageID":"msg_1","sessionID":"s1","type":"tool","tool":"read","callID":"c1","state":{"status":"completed","input":{},"output":"one"}}}
{"type":"step_finish","timestamp":1,"sessionID":"s1","part":{"id":"p4","messageID":"msg_1","sessionID":"s1","type":"step-finish","tokens":{"input":3,"output":1}}}`,
		format: transcript.OpenCode,
		want: `ai: I read, call c1 read {}
tool: c1 read "one"`,
	},
	"openhands: a conversation with a condensation": {
		in: `{"base_state":{"id":"s1","agent":{"llm":{"model":"m"}},"workspace":{"working_dir":"/w"}},"events":[
{"kind":"MessageEvent","id":"e1","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"go"}]}},
{"kind":"ActionEvent","id":"e2","source":"agent","tool_name":"terminal","tool_call_id":"c1","tool_call":{"arguments":"{}"},"llm_response_id":"r1"},
{"kind":"ObservationEvent","id":"e3","source":"environment","tool_name":"terminal","tool_call_id":"c1","observation":{"output":"one"}},
{"kind":"MessageEvent","id":"e4","source":"agent","llm_message":{"role":"assistant","content":[{"type":"text","text":"so"}]}},
{"kind":"Condensation","id":"e5","source":"environment","forgotten_event_ids":["e2","e3"],"summary":"in short","summary_offset":1,"llm_response_id":"r2"},
{"kind":"MessageEvent","id":"e6","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"on"}]}}]}`,
		format:     transcript.OpenHands,
		boundaries: 1,
		want: `human: go
ai: call c1 terminal {}
tool: c1 terminal {"output":"one"}
ai: so
human: go
human: in short
ai: so
human: on`,
		check: func(t *testing.T, tr *transcript.Transcript) {
			if tr.Model != "m" || tr.Dir != "/w" || tr.ID != "s1" {
				t.Error(tr.Model, tr.Dir, tr.ID)
			}
		},
	},
	"openhands: a conversation that went on with another tool": {
		in: `{"base_state":{},"events":[
{"kind":"SystemPromptEvent","source":"agent","system_prompt":{"type":"text","text":"be brief"},"tools":[{"title":"f"}]},
{"kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"go"}]}},
{"kind":"SystemPromptUpdateEvent","source":"agent","reason":"tools_changed","system_prompt":{"type":"text","text":"` + strings.Repeat("be brief ", 200) + `"},"tools":[{"title":"f"},{"title":"g"}]},
{"kind":"ActionEvent","source":"agent","tool_name":"g","tool_call_id":"c1","tool_call":{"arguments":"{}"},"llm_response_id":"r1"}]}`,
		format: transcript.OpenHands,
		want: `human: go
ai: call c1 g {}`,
		check: func(t *testing.T, tr *transcript.Transcript) {
			if len(tr.System) != 1 || !strings.HasPrefix(tr.System[0].(content.Text).Text, "be brief be brief") ||
				string(tr.Tools) != `[{"title":"f"},{"title":"g"}]` {
				t.Errorf("%v %s", tr.System, tr.Tools)
			}
		},
	},
	"responses: a list of items": {
		in: `[{"role":"user","content":"go"},{"type":"reasoning","summary":[],"encrypted_content":"e"},
{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"one"}]`,
		format: transcript.OpenAIResponses,
		want: `human: go
ai: (), call c1 f {}
tool: c1 f "one"`,
	},
	"responses: an item a line": {
		in: `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}
{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}
{"type":"function_call_output","call_id":"c1","output":"one"}`,
		format: transcript.OpenAIResponses,
		want: `human: go
ai: call c1 f {}
tool: c1 f "one"`,
	},
	"codex: usage in records of its own": {
		in: `{"timestamp":"T0","type":"event_msg","payload":{"type":"task_started","model_context_window":258400}}
{"timestamp":"T1","type":"world_state","payload":{"full":true,"state":{}}}
{"timestamp":"T2","type":"response_item","payload":{"type":"function_call","name":"f","call_id":"c1","arguments":"{}","internal_chat_message_metadata_passthrough":{"turn_id":"1"}}}
{"timestamp":"T3","type":"token_usage_record","payload":{"usage":{"input_tokens":50,"cached_input_tokens":20,"output_tokens":6}}}
{"timestamp":"T4","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"one"}}`,
		format: transcript.Codex,
		want:   "ai: call c1 f {}\ntool: c1 f \"one\"",
		check: func(t *testing.T, tr *transcript.Transcript) {
			want := []transcript.Usage{{PromptTokens: 50, CacheRead: 20, Output: 6}}
			if diff := cmp.Diff(want, tr.Usage); diff != "" || tr.ContextLimit != 258400 {
				t.Error(diff, tr.ContextLimit)
			}
		},
	},
	"codex: images in a result, and what a compaction left": {
		in: `{"timestamp":"T0","type":"turn_context","payload":{"cwd":"/w","model":"gpt-5.5"}}
{"timestamp":"T1","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"},{"type":"input_image","image_url":"data:image/png;base64,aGk="}]}}
{"timestamp":"T2","type":"response_item","payload":{"type":"function_call","name":"view_image","call_id":"c1","arguments":"{}"}}
{"timestamp":"T3","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"it"},{"type":"input_image","image_url":"data:image/png;base64,aGk="}]}}
{"timestamp":"T4","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":50},"model_context_window":258400}}}
{"timestamp":"T5","type":"compacted","payload":{"message":"","replacement_history":[{"type":"compaction","encrypted_content":"xyz"}]}}`,
		format:     transcript.Codex,
		boundaries: 1,
		want: `human: go, media image/png
ai: call c1 view_image {}
tool: c1 view_image "it", media image/png
ai: compaction`,
		check: func(t *testing.T, tr *transcript.Transcript) {
			if tr.Model != "gpt-5.5" || tr.ContextLimit != 258400 {
				t.Errorf("model %q, context limit %d", tr.Model, tr.ContextLimit)
			}
		},
	},
}

// brief renders a history with a line for each entry.
func brief(tr *transcript.Transcript) string {
	var lines []string
	for _, c := range tr.Entries {
		var parts []string
		for _, b := range c.Blocks {
			parts = append(parts, briefBlock(b))
		}
		lines = append(lines, string(c.Speaker)+": "+strings.Join(parts, ", "))
	}
	return strings.Join(lines, "\n")
}

func briefBlock(b content.Block) string {
	first := func(s string) string {
		if line, _, more := strings.Cut(s, "\n"); more {
			return line + "…"
		}
		return s
	}
	switch b := b.(type) {
	case content.Text:
		return first(b.Text)
	case content.Thinking:
		return "(" + b.Thought + ")"
	case content.ToolCall:
		return fmt.Sprintf("call %s %s %s", b.ID, b.Name, b.Parameters)
	case content.ToolResponse:
		out := fmt.Sprintf("%s %s %s", b.CallID, b.ToolName, b.Result)
		if b.Failed() {
			out += " failed: " + b.Error
		}
		return out
	case content.Media:
		return "media " + b.MimeType
	}
	return b.Kind()
}

func TestSessionsOfAgentsReadAs(t *testing.T) {
	for name, tt := range agentSamples {
		t.Run(name, func(t *testing.T) {
			tr := read(t, tt.in)
			if diff := cmp.Diff(tt.want, brief(tr)); diff != "" || tr.Format != tt.format {
				t.Errorf("%s as %s\n%s", diff, tr.Format, brief(tr))
			}
			if len(tr.Boundaries) != tt.boundaries {
				t.Errorf("%d boundaries: %v", len(tr.Boundaries), tr.Boundaries)
			}
			var warnings []string
			for _, n := range tr.Notes {
				if !n.Routine {
					warnings = append(warnings, n.String())
				}
			}
			if diff := cmp.Diff(tt.notes, warnings); diff != "" {
				t.Error(diff)
			}
			if tt.check != nil {
				tt.check(t, tr)
			}
			// The form that was found may be named too.
			if again, err := transcript.Read(strings.NewReader(tt.in), transcript.Options{From: tt.format}); err != nil ||
				brief(again) != tt.want {
				t.Errorf("with --from %s: %v", tt.format, err)
			}
		})
	}
}

func TestAFormatMustExplainTheFile(t *testing.T) {
	long := strings.Repeat("what a tool printed ", 100)
	// Results in a field that Anthropic's messages do not have, and results that are taken for a person's words.
	unknownField := `[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},` +
		`{"role":"user","content":[],"results":["` + long + `"]}]`
	asWords := `[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},` +
		`{"role":"user","content":"f says: ` + long + `"}]`
	for name, tt := range map[string]struct{ in, want string }{
		"an unknown field": {unknownField, `field "results" of a message`},
		"a result as words": {asWords,
			"words of a person where results of calls should be"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := transcript.Read(strings.NewReader(tt.in), transcript.Options{})
			if !errors.Is(err, transcript.ErrUnknownFormat) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			tr, err := transcript.Read(strings.NewReader(tt.in),
				transcript.Options{From: transcript.AnthropicMessages})
			if err != nil || len(tr.Notes) == 0 || !strings.Contains(tr.Notes[0].Message, tt.want) {
				t.Errorf("with the format given: %v, %v", tr, err)
			}
		})
	}
	// Some of it is unknown: a warning says what.
	some := read(t, `[{"role":"user","content":"`+long+long+long+long+`"},{"role":"user","content":"x","odd":"`+long+`"}]`)
	if got := messages(some.Notes); len(got) != 2 ||
		!strings.Contains(got[0], `only 80 % of it could be read as openai-chat; not understood: 20 % field "odd" of a message`) {
		t.Errorf("got %q", got)
	}
	// Interrupting the model is no sign of another format.
	if tr := read(t, `[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},`+
		`{"role":"user","content":"stop"},{"role":"assistant","content":"yes"}]`); len(tr.Notes) > 0 {
		t.Errorf("got %v", tr.Notes)
	}
}

func TestTheNearestFormatsAreNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session")
	line := `{"type":"message","id":"1","message":{"role":"user","content":"` + strings.Repeat("go ", 300) + `"}}` + "\n"
	if err := os.WriteFile(file, []byte(`{"role":"user","content":"hi"}`+"\n"+line+line), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := transcript.ReadFile(file, transcript.Options{})
	if err == nil || !strings.Contains(err.Error(), "as openai-chat") ||
		!strings.Contains(err.Error(), "nearest: pi (100 %)") {
		t.Fatalf("got %v", err)
	}
	if _, err := transcript.ReadFile(file, transcript.Options{From: "nonsense"}); !errors.Is(err,
		transcript.ErrUnknownFormat) {
		t.Errorf("an unknown format: %v", err)
	}
}

func TestAFileThatWasCutIsReadToItsLastWholeRecord(t *testing.T) {
	const chat = `{"messages":[{"role":"user","content":"a \"quoted] word"},
{"role":"assistant","content":"b"},{"role":"user","con`
	for name, in := range map[string]string{
		"over lines": chat, "on one line": strings.ReplaceAll(chat, "\n", ""), "a list": chat[len(`{"messages":`):],
	} {
		if _, err := transcript.Read(strings.NewReader(in), transcript.Options{}); !errors.Is(err, transcript.ErrTruncated) {
			t.Errorf("%s: %v", name, err)
		}
		tr, err := transcript.Read(strings.NewReader(in), transcript.Options{AllowCut: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff([]string{"the file is cut off and was read to its last whole record"},
			messages(tr.Notes)); diff != "" || brief(tr) != "human: a \"quoted] word\nai: b" {
			t.Error(name, diff, brief(tr))
		}
	}
	if _, err := transcript.Read(strings.NewReader(`[{"role":`), transcript.Options{AllowCut: true}); !errors.Is(
		err, transcript.ErrTruncated) {
		t.Errorf("without a whole record: %v", err)
	}
}

// TestSessionsOfAgentsSurviveTheWayThroughEveryForm: words, calls and results come back. What a provider wants in
// addition is marked as such, and a note says so; ids may change.
func TestSessionsOfAgentsSurviveTheWayThroughEveryForm(t *testing.T) {
	ids := regexp.MustCompile(`^(call|result) \S+`)
	for name, sample := range agentSamples {
		tr := read(t, sample.in)
		for _, f := range transcript.Formats() {
			if !f.Writes {
				continue
			}
			out, notes := write(t, tr, f.Format)
			back, err := transcript.Read(strings.NewReader(out), transcript.Options{From: f.Format})
			if err != nil {
				t.Errorf("%s as %s: %v", name, f.Format, err)
				continue
			}
			plain := func(entries []content.Content) (lines []string) {
				for _, line := range said(entries) {
					switch {
					case strings.Contains(line, "[no result was recorded]"), strings.Contains(line, "[the beginning is not"):
						if len(notes) == 0 {
							t.Errorf("%s as %s: %s: without a note", name, f.Format, line)
						}
					default:
						lines = append(lines, ids.ReplaceAllString(line, "$1"))
					}
				}
				return lines
			}
			if diff := cmp.Diff(plain(tr.Entries), plain(back.Entries)); diff != "" {
				t.Errorf("%s as %s: %s\n%q", name, f.Format, diff, notes)
			}
		}
	}
}

// An agent that is killed, or writes from two processes, leaves a line that is none: the others are the session.
func TestABrokenLineCostsThatLine(t *testing.T) {
	const line = `{"type":"user","message":{"content":"hi"}}` + "\n"
	for name, tt := range map[string]struct{ in, note string }{
		"broken":    {line + "\n{]\n" + line, "line 3: broken JSON (byte 45): unexpected ']', "},
		"cut":       {line + `{"type":"user","mess` + "\n" + line, "line 2: broken JSON (byte 63)"},
		"NUL":       {line + "{\"a\":\x00}\n" + line, "line 2: broken JSON (byte 48): unexpected NUL byte"},
		"no object": {line + "[1]\n" + line, "line 2: malformed transcript"},
		"no message": {line + `{"type":"user"}` + "\n" + line,
			"line 2: malformed transcript: a record of type user has no message object"},
	} {
		tr := read(t, tt.in)
		got := messages(tr.Notes)
		if brief(tr) != "human: hi\nhuman: hi" || len(got) != 1 || !strings.HasPrefix(got[0], tt.note) ||
			!strings.HasSuffix(got[0], "; the line is left out") || tr.Notes[0].Routine {
			t.Errorf("%s: %s\n%q", name, brief(tr), got)
		}
	}
	// A file that is mostly something else is no session.
	_, err := transcript.Read(strings.NewReader(line+strings.Repeat("{ this is a log }\n", 100)), transcript.Options{})
	if !errors.Is(err, transcript.ErrUnknownFormat) || !strings.Contains(err.Error(), "100 % broken lines") {
		t.Error(err)
	}
}

// Two processes that write to one file, or one that was killed and began again, leave lines of several records.
func TestRecordsThatShareALineAreRead(t *testing.T) {
	const a, b, end = `{"type":"user","message":{"content":"hi"}}`, `{"type":"user","message":{"content":"ho"}}`, "\n"
	for name, tt := range map[string]struct{ in, want, note string }{
		"two":                       {a + end + a + b + end + a, "hi hi ho hi", ""},
		"with white space":          {a + end + a + " \t" + b + " \r\n" + a, "hi hi ho hi", ""},
		"on the first line":         {a + b + end + a, "hi ho hi", ""},
		"on the only line":          {a + b, "hi ho", ""},
		"many":                      {a + end + strings.Repeat(b, 50) + end, "hi" + strings.Repeat(" ho", 50), ""},
		"the first cut in a text":   {a + end + a[:38] + b + a + end + a, "hi ho hi hi", "line 2: broken JSON (byte 83)"},
		"the first cut in a name":   {a + end + a[:5] + b + end + a, "hi ho hi", "line 2: broken JSON (byte 50)"},
		"the first cut behind one":  {a + end + a[:14] + b + end + a, "hi ho hi", "line 2: broken JSON (byte 57)"},
		"the last one cut":          {a + end + a + b[:30] + end + b, "hi hi ho", "line 2: broken JSON (byte 115)"},
		"the last of the file cut":  {a + end + a + b[:30], "hi hi", "line 2: the last record is cut off"},
		"cut behind an inner value": {a + end + a[:len(a)-1] + end + b, "hi ho", "line 2: broken JSON"},
		"an inner value is none":    {a + end + a[:len(a)-1] + ",}" + end + b, "hi ho", "line 2: broken JSON"},
	} {
		tr, err := transcript.Read(strings.NewReader(tt.in), transcript.Options{AllowCut: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := strings.ReplaceAll(strings.ReplaceAll(brief(tr), "human: ", ""), "\n", " ")
		var notes []string
		for _, n := range tr.Notes {
			if !n.Routine {
				notes = append(notes, n.String())
			}
		}
		if got != tt.want || len(notes) != min(len(tt.note), 1) || len(notes) > 0 && !strings.HasPrefix(notes[0], tt.note) {
			t.Errorf("%s: %s\n%q", name, got, notes)
		}
	}
}
