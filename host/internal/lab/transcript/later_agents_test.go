package transcript_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

func init() { maps.Copy(agentSamples, laterAgentSamples) }

// laterAgentSamples are small sessions, made up, of the agents whose readers came last.
var laterAgentSamples = map[string]agentSample{
	"amp: a thread with calls that failed, were cancelled, and were never whole": {
		in: `{"v":7,"id":"T-1","created":1768178184664,"agentMode":"smart","nextMessageId":9,
"env":{"initial":{"trees":[{"displayName":"x","uri":"file:///w/proj%20x"}]}},"messages":[
{"role":"user","messageId":0,"content":[{"type":"text","text":"go"}],"meta":{"sentAt":1768178271390}},
{"role":"assistant","messageId":1,"content":[{"type":"thinking","thinking":"hm","signature":"s","provider":"anthropic"},
 {"type":"tool_use","complete":true,"id":"c1","name":"Bash","input":{"cmd":"ls"}},
 {"type":"tool_use","complete":true,"id":"c2","name":"edit_file","input":{}},
 {"type":"tool_use","complete":true,"id":"c3","name":"Bash","input":{}}],"state":{"type":"complete","stopReason":"tool_use"},
 "usage":{"model":"claude-x","maxInputTokens":168000,"inputTokens":12,"outputTokens":80,"cacheCreationInputTokens":900,
  "cacheReadInputTokens":3400,"totalInputTokens":4312,"timestamp":"2026-01-12T00:37:55.000Z"}},
{"role":"user","messageId":2,"content":[
 {"type":"tool_result","toolUseID":"c1","run":{"status":"done","result":{"output":"a.go","exitCode":0}}},
 {"type":"tool_result","toolUseID":"c2","run":{"status":"error","error":{"message":"no such file"}}},
 {"type":"tool_result","toolUseID":"c3","run":{"status":"rejected-by-user","reason":"not that"}}]},
{"role":"info","messageId":3,"content":[{"type":"summary","summary":{"type":"message","summary":"in short"}}]},
{"role":"assistant","messageId":4,"content":[{"type":"tool_use","complete":false,"id":"c4","name":"Bash","input":{}}],
 "state":{"type":"cancelled"}},
{"role":"assistant","messageId":5,"content":[{"type":"text","text":"done"}],"state":{"type":"complete"}}]}`,
		format:     transcript.Amp,
		boundaries: 1,
		want: `human: go
ai: (hm), call c1 Bash {"cmd":"ls"}, call c2 edit_file {}, call c3 Bash {}
tool: c1 Bash {"output":"a.go","exitCode":0}, c2 edit_file "no such file" failed: no such file, c3 Bash "not that" failed: not that
human: in short
ai: done`,
		check: func(t *testing.T, tr *transcript.Transcript) {
			want := []transcript.Usage{{Entry: 1, Model: "claude-x", PromptTokens: 4312, CacheRead: 3400, CacheWrite: 900, Output: 80}}
			if diff := cmp.Diff(want, tr.Usage); diff != "" || tr.Dir != "/w/proj x" || tr.ContextLimit != 168000 {
				t.Error(diff, tr.Dir, tr.ContextLimit)
			}
		},
	},
	"droid: a compaction keeps what is behind its anchor": {
		in: `{"type":"session_start","id":"s1","title":"t","owner":"o","version":2,"cwd":"/w"}
{"type":"message","id":"m1","timestamp":"T1","message":{"role":"user","content":[{"type":"text","text":"today is Monday"}],"visibility":"llm_only"}}
{"type":"message","id":"m2","timestamp":"T1","message":{"role":"user","content":[{"type":"text","text":"go"}]}}
{"type":"message","id":"m3","timestamp":"T2","message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Read","input":{"file_path":"a"}}],"modelId":"m","openaiEncryptedContent":"sealed","openaiReasoningSummary":"look"}}
{"type":"message","id":"m4","timestamp":"T3","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"none"}]}}
{"type":"message","id":"m5","timestamp":"T3","message":{"role":"user","content":[{"type":"text","text":"a banner"}],"visibility":"user_only"}}
{"type":"message","id":"m6","timestamp":"T4","message":{"role":"assistant","content":[{"type":"tool_use","id":"c2","name":"LS","input":{}}],"modelId":"m"}}
{"type":"message","id":"m7","timestamp":"T5","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","is_error":false,"content":"b"}]}}
{"type":"compaction_state","id":"k","timestamp":"T6","summaryText":"in short","systemInfoText":"on Linux","anchorMessage":{"id":"m5","index":4},"removedCount":5}
{"type":"message","id":"m8","timestamp":"T7","message":{"role":"assistant","content":[{"type":"text","text":"done"}],"modelId":"m"}}
{"type":"agent_turn_outcome","turnId":"m2","reason":"completed","resultKind":"text"}`,
		format:     transcript.Droid,
		boundaries: 1,
		want: `human: today is Monday
human: go
ai: (look), call c1 Read {"file_path":"a"}
tool: c1 Read "none" failed: the tool reported an error
ai: call c2 LS {}
tool: c2 LS "b"
human: in short, on Linux
ai: call c2 LS {}
tool: c2 LS "b"
ai: done`,
		check: func(t *testing.T, tr *transcript.Transcript) {
			if n := len(tr.Requests()); n != 3 || tr.Dir != "/w" || tr.Model != "m" {
				t.Errorf("%d requests, in %s, of %s: what a compaction kept is none", n, tr.Dir, tr.Model)
			}
		},
	},
	"droid: a fork begins with copies": {
		in: `{"type":"session_start","id":"s2","owner":"o","cwd":"/w","parent":"s1","forkedAtMessageId":"m2"}
{"type":"message","id":"m1","timestamp":"T1","message":{"role":"user","content":[{"type":"text","text":"go"}]}}
{"type":"message","id":"m2","timestamp":"T2","message":{"role":"assistant","content":[{"type":"text","text":"gone"}]}}
{"type":"message","id":"m3","timestamp":"T3","message":{"role":"user","content":[{"type":"text","text":"and"}]}}
{"type":"message","id":"m4","timestamp":"T4","message":{"role":"assistant","content":[{"type":"text","text":"then"}]}}`,
		format: transcript.Droid,
		want:   "human: go\nai: gone\nhuman: and\nai: then",
		notes:  []string{"1 × request of another session, whose conversation this one repeats: it is counted there alone"},
		check: func(t *testing.T, tr *transcript.Transcript) {
			if tr.Elsewhere != 1 || len(tr.Requests()) != 1 {
				t.Errorf("%d elsewhere, %d requests", tr.Elsewhere, len(tr.Requests()))
			}
		},
	},
	"goose: an answer of several messages, a compaction, and a row of usage for each request": {
		in: `{"id":"20260102_1","working_dir":"/w","model_config":{"model_name":"m","context_limit":128000},"conversation":[
{"id":"a","role":"user","created":1767312000,"content":[{"type":"text","text":"go"}],"metadata":{"userVisible":true,"agentVisible":false}},
{"id":"b","role":"assistant","created":1767312001,"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look"}],
 "metadata":{"userVisible":true,"agentVisible":false}},
{"id":"c","role":"assistant","created":1767312001,"content":[{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls"}}}}],
 "metadata":{"userVisible":true,"agentVisible":false}},
{"id":"d","role":"user","created":1767312002,"content":[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":{"isError":false,"content":[
  {"type":"text","text":"a.go","annotations":{"audience":["assistant"]}},{"type":"text","text":"1 file","annotations":{"audience":["user"]}}]}}}],
 "metadata":{"userVisible":true,"agentVisible":false}},
{"id":"e","role":"assistant","created":1767312003,"content":[{"type":"toolRequest","id":"c2","toolCall":{"status":"error","error":"-32602: no JSON"}}],
 "metadata":{"userVisible":true,"agentVisible":false}},
{"id":"f","role":"user","created":1767312003,"content":[{"type":"toolResponse","id":"c2","toolResult":{"status":"error","error":"not run"}}],
 "metadata":{"userVisible":true,"agentVisible":false}},
{"id":"n","role":"assistant","created":1767312003,"content":[{"type":"systemNotification","notificationType":"inlineMessage","msg":"compacted"}],
 "metadata":{"userVisible":true,"agentVisible":false}},
{"id":"g","role":"user","created":1767312004,"content":[{"type":"text","text":"in short"}],"metadata":{"userVisible":false,"agentVisible":true}},
{"id":"h","role":"assistant","created":1767312004,"content":[{"type":"text","text":"Go on"}],"metadata":{"userVisible":false,"agentVisible":true}},
{"id":"i","role":"user","created":1767312004,"content":[{"type":"text","text":"go"}],"metadata":{"userVisible":true,"agentVisible":true}},
{"id":"j","role":"assistant","created":1767312005,"content":[{"type":"text","text":"done"}],"metadata":{"userVisible":true,"agentVisible":true}}],
"usage_ledger":[
{"model":"m","input_tokens":100,"output_tokens":5,"cache_read_tokens":80,"cache_write_tokens":null,"cost":0.25,"cost_source":"estimated","is_compaction":0},
{"model":"m","input_tokens":120,"output_tokens":6,"cache_read_tokens":null,"cache_write_tokens":null,"cost":null,"cost_source":"","is_compaction":0},
{"model":"m","input_tokens":130,"output_tokens":7,"cache_read_tokens":0,"cache_write_tokens":0,"cost":null,"cost_source":"","is_compaction":1},
{"model":"m","input_tokens":40,"output_tokens":8,"cache_read_tokens":10,"cache_write_tokens":20,"cost":0.5,"cost_source":"","is_compaction":0}]}`,
		format:     transcript.Goose,
		boundaries: 1,
		want: `human: go
ai: (hm), I look, call c1 developer__shell {"command":"ls"}
tool: c1 developer__shell "a.go"
ai: call c2 unknown {"error":"-32602: no JSON"}
tool: c2 unknown "not run" failed: not run
human: in short
ai: Go on
human: go
ai: done`,
		check: func(t *testing.T, tr *transcript.Transcript) {
			want := []transcript.Usage{
				{Entry: 1, Model: "m", PromptTokens: 100, CacheRead: 80, Output: 5, USD: 0.25},
				{Entry: 3, Model: "m", PromptTokens: 120, Output: 6},
				{Entry: 3, Model: "m", PromptTokens: 130, Output: 7},
				{Entry: 8, Model: "m", PromptTokens: 40, CacheRead: 10, CacheWrite: 20, Output: 8, USD: 0.5},
			}
			if diff := cmp.Diff(want, tr.Usage); diff != "" || tr.ContextLimit != 128000 || len(tr.Requests()) != 3 {
				t.Error(diff, tr.ContextLimit, len(tr.Requests()))
			}
		},
	},
	"goose: a file of an older version, and usage that fits no answers": {
		in: `{"working_dir":"/w","description":"x","message_count":2,"total_tokens":9}
{"role":"user","created":1750000000,"content":[{"type":"text","text":"go"}]}
{"role":"assistant","created":1750000001,"content":[{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"f","arguments":{}}}}]}
{"role":"user","created":1750000002,"content":[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":[{"type":"text","text":"one"}]}}]}`,
		format: transcript.Goose,
		want:   "human: go\nai: call c1 f {}\ntool: c1 f \"one\"",
	},
	"kimi: steps, a message while a call runs, what is taken back, and a compaction": {
		in: `{"type":"metadata","protocol_version":"1.5","created_at":1}
{"type":"profile.bind","modelAlias":"k","systemPrompt":"be brief","environmentDisclosure":{"cwd":"/w"},"time":1}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"go"}],"toolCalls":[],"origin":{"kind":"user"}},"time":2}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"today is Monday"}],"toolCalls":[],"origin":{"kind":"injection","variant":"date"}},"time":3}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s1"},"time":4}
{"type":"llm.request","kind":"loop","model":"kimi-x","time":4}
{"type":"usage.record","model":"k","usage":{"inputOther":100,"output":9,"inputCacheRead":20,"inputCacheCreation":5},"usageScope":"turn","time":5}
{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"s1","part":{"type":"think","think":"hm","encrypted":"s"}},"time":5}
{"type":"context.append_loop_event","event":{"type":"tool.call","stepUuid":"s1","toolCallId":"c1","name":"Read","args":{"path":"a"}},"time":5}
{"type":"context.append_loop_event","event":{"type":"tool.call","stepUuid":"s1","toolCallId":"c2","name":"Bash","args":{}},"time":5}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"also test"}],"toolCalls":[]},"time":6}
{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"c1","result":{"output":"one","note":"1 line"}},"time":7}
{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"c2","result":{"output":"no","isError":true}},"time":7}
{"type":"context.append_loop_event","event":{"type":"step.end","uuid":"s1","usage":{"inputOther":100,"output":9,"inputCacheRead":20,"inputCacheCreation":5},"messageId":"msg_1"},"time":8}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"wrong"}],"toolCalls":[],"origin":{"kind":"user"}},"time":9}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s2"},"time":9}
{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"s2","part":{"type":"text","text":"way"}},"time":9}
{"type":"context.undo","count":1,"time":10}
{"type":"full_compaction.begin","source":"auto","time":11}
{"type":"usage.record","model":"k","usage":{"inputOther":200,"output":7},"usageScope":"session","time":11}
{"type":"context.apply_compaction","summary":"raw","contextSummary":"in short","compactedCount":5,"keptUserMessageCount":2,"time":12}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s3"},"time":13}
{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"s3","part":{"type":"text","text":"done"}},"time":13}`,
		format:     transcript.Kimi,
		boundaries: 1,
		want: `human: go
human: today is Monday
ai: (hm), call c1 Read {"path":"a"}, call c2 Bash {}
tool: c1 Read "one\n1 line", c2 Bash "<system>ERROR: Tool execution failed.</system>\nno" failed: the tool reported an error
human: also test
human: go
human: also test
human: in short
ai: done`,
		notes: []string{"line 18: 2 × entry that was taken back left out, with the usage of its requests"},
		check: func(t *testing.T, tr *transcript.Transcript) {
			want := []transcript.Usage{
				{Entry: 2, ID: "msg_1", Model: "kimi-x", PromptTokens: 125, CacheRead: 20, CacheWrite: 5, Output: 9},
				{Entry: 2, Model: "kimi-x", PromptTokens: 200, Output: 7},
			}
			if diff := cmp.Diff(want, tr.Usage); diff != "" || tr.Dir != "/w" || len(tr.System) != 1 {
				t.Error(diff, tr.Dir, tr.System)
			}
		},
	},
	"kimi: a compaction of an older version keeps the last messages": {
		in: `{"type":"metadata","protocol_version":"1.2","created_at":1}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"go"}],"toolCalls":[]},"time":2}
{"type":"context.append_message","message":{"role":"assistant","content":[{"type":"text","text":"I look"}],"toolCalls":[{"type":"function","id":"c1","name":"f","arguments":"{}"}]},"time":3}
{"type":"context.append_message","message":{"role":"tool","content":[{"type":"text","text":"one"}],"toolCallId":"c1","toolCalls":[]},"time":4}
{"type":"context.apply_compaction","summary":{"role":"user","content":[{"type":"text","text":"in short"}]},"count":1,"time":5}
{"type":"context.append_message","message":{"role":"assistant","content":[{"type":"text","text":"done"}],"toolCalls":[]},"time":6}`,
		format:     transcript.Kimi,
		boundaries: 1,
		want: `human: go
ai: I look, call c1 f {}
tool: c1 f "one"
human: in short
ai: I look, call c1 f {}
tool: c1 f "one"
ai: done`,
	},
	"kimi: a fork begins with copies": {
		in: `{"type":"metadata","protocol_version":"1.5","created_at":1}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"go"}],"toolCalls":[]},"time":2}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s1"},"time":3}
{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"s1","part":{"type":"text","text":"gone"}},"time":3}
{"type":"context.append_loop_event","event":{"type":"step.end","uuid":"s1","usage":{"inputOther":100,"output":9}},"time":4}
{"type":"forked","agentId":"main","time":5}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"and"}],"toolCalls":[]},"time":6}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s2"},"time":7}
{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"s2","part":{"type":"text","text":"then"}},"time":7}
{"type":"context.append_loop_event","event":{"type":"step.end","uuid":"s2","usage":{"inputOther":200,"output":7}},"time":8}`,
		format: transcript.Kimi,
		want:   "human: go\nai: gone\nhuman: and\nai: then",
		notes:  []string{"1 × request of another session, whose conversation this one repeats: it is counted there alone"},
		check: func(t *testing.T, tr *transcript.Transcript) {
			want := []transcript.Usage{{Entry: 3, PromptTokens: 200, Output: 7}}
			if diff := cmp.Diff(want, tr.Usage); diff != "" || len(tr.Requests()) != 1 {
				t.Error(diff, len(tr.Requests()))
			}
		},
	},
	"kimi-cli: what it showed": {
		in: `{"type":"metadata","protocol_version":"1.3"}
{"timestamp":1770983426.5,"message":{"type":"TurnBegin","payload":{"user_input":[{"type":"text","text":"go"}]}}}
{"timestamp":1770983426.6,"message":{"type":"StepBegin","payload":{"n":1}}}
{"timestamp":1770983427,"message":{"type":"ContentPart","payload":{"type":"think","think":"hm","encrypted":null}}}
{"timestamp":1770983427,"message":{"type":"ToolCall","payload":{"type":"function","id":"c1","function":{"name":"Shell","arguments":"{\"command\":\"ls\"}"},"extras":null}}}
{"timestamp":1770983427,"message":{"type":"StatusUpdate","payload":{"context_usage":0.1,"max_context_tokens":262144,"token_usage":{"input_other":100,"output":50,"input_cache_read":10,"input_cache_creation":0},"message_id":"m1"}}}
{"timestamp":1770983428,"message":{"type":"ToolResult","payload":{"tool_call_id":"c1","return_value":{"is_error":false,"output":"a.go","message":"It ran.","display":[],"extras":null}}}}
{"timestamp":1770983429,"message":{"type":"StepBegin","payload":{"n":2}}}
{"timestamp":1770983429,"message":{"type":"ContentPart","payload":{"type":"text","text":"done"}}}
{"timestamp":1770983430,"message":{"type":"CompactionBegin","payload":{}}}
{"timestamp":1770983431,"message":{"type":"CompactionEnd","payload":{}}}
{"timestamp":1770983431,"message":{"type":"TurnEnd","payload":{}}}`,
		format:     transcript.Kimi,
		boundaries: 1,
		want: `human: go
ai: (hm), call c1 Shell {"command":"ls"}
tool: c1 Shell "<system>It ran.</system>\na.go"
ai: done`,
		notes: []string{"line 11: the summary of a compaction is in another file: what the model saw after it is not known"},
		check: func(t *testing.T, tr *transcript.Transcript) {
			want := []transcript.Usage{{Entry: 1, ID: "m1", PromptTokens: 110, CacheRead: 10, Output: 50}}
			if diff := cmp.Diff(want, tr.Usage); diff != "" || tr.ContextLimit != 262144 {
				t.Error(diff, tr.ContextLimit)
			}
		},
	},
}
