package transcript_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk/content"
)

// plain is an entry without what converters may word differently: metadata, the words for a flagged error, and fields
// for encrypted reasoning.
type plain struct {
	Line    int `json:"-"`
	Speaker string
	Blocks  []string
}

// plainEntries has the system prompt before the entries: the normalised sessions have it there.
func plainEntries(t *testing.T, tr *transcript.Transcript) []plain {
	t.Helper()
	var out []plain
	for _, c := range append(systemEntries(tr.System), tr.Entries...) {
		p := plain{Speaker: string(c.Speaker)}
		for _, b := range c.Blocks {
			switch b := b.(type) {
			case content.Text:
				p.Blocks = append(p.Blocks, "text "+b.Text)
			case content.Thinking:
				p.Blocks = append(p.Blocks, "thinking "+b.Thought+" "+b.Signature)
			case content.ToolCall:
				p.Blocks = append(p.Blocks, "call "+b.ID+" "+b.Name+" "+value(t, b.Parameters))
			case content.ToolResponse:
				failed := ""
				if b.Failed() {
					failed = " failed"
				}
				p.Blocks = append(p.Blocks, "response "+b.CallID+" "+b.ToolName+" "+value(t, b.Result)+failed)
			default:
				p.Blocks = append(p.Blocks, string(content.AppendBlock(nil, b)))
			}
		}
		out = append(out, p)
	}
	return out
}

// systemEntries returns the messages of a system prompt as entries.
func systemEntries(system []content.Block) (out []content.Content) {
	for _, b := range system {
		if len(out) == 0 || b.(content.Text).Extra.Has("role") {
			out = append(out, content.Content{Speaker: content.Human})
		}
		last := &out[len(out)-1]
		last.Blocks = append(last.Blocks, b)
	}
	return out
}

// value returns raw JSON in one spelling.
func value(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if raw == nil {
		return "absent"
	}
	out, err := json.Marshal(vectors.Value(t, raw))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestRecordedSessionsReadAsAnIndependentConverterReadsThem(t *testing.T) {
	dir := repo.Shared(t, "sessions")
	for native, want := range map[string]transcript.Format{
		"agentv/claude-7a-d2528cc37f-0.jsonl":                                    transcript.ClaudeCode,
		"cipher-box/81-2995ab46e2-3.jsonl":                                       transcript.ClaudeCode,
		"entireio-cli/0f-c364a22bea-0.jsonl":                                     transcript.ClaudeCode,
		"entireio-cli/37-995ebed6e4-3.jsonl":                                     transcript.ClaudeCode,
		"entireio-cli/b7-bf94398dc9-1.jsonl":                                     transcript.ClaudeCode,
		"entireio-cli/bb-781d6f3a8e-0.jsonl":                                     transcript.ClaudeCode,
		"packmind-context-evaluator/7b-904be9fc93-0.jsonl":                       transcript.ClaudeCode,
		"agentv/codex-3c-162d1d8ad4-1.jsonl":                                     transcript.Codex,
		"agentv/codex-a5-7b22d8d4bd-0.jsonl":                                     transcript.Codex,
		"entireio-cli-gemini/session-15f05963.json":                              transcript.GeminiCLI,
		"entireio-cli-gemini/session-f7633853.json":                              transcript.GeminiCLI,
		"tau-bench/airline-task2-trial1.json":                                    transcript.OpenAIChat,
		"tau-bench/airline-task33-trial0.json":                                   transcript.OpenAIChat,
		"openhands/completion-claude-sonnet-4.json":                              transcript.OpenAIChat,
		"cline/session.messages.json":                                            transcript.AnthropicMessages,
		"mini-swe-agent/deepseek_chat_test_1-100-django__django-13265.traj.json": transcript.OpenAIChat,
		"agentv/copilot-26-9e1b9e5502-0.jsonl":                                   transcript.CopilotCLI,
		"pi-mono/large-session.jsonl":                                            transcript.Pi,
		"openhands/safety-open-features.json":                                    transcript.OpenHands,
	} {
		t.Run(native, func(t *testing.T) {
			got, err := transcript.ReadFile(filepath.Join(dir, "native", native), transcript.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Format != want {
				t.Errorf("read as %s", got.Format)
			}
			name := strings.ReplaceAll(strings.TrimSuffix(native, ".jsonl"), "/", "-")
			name = strings.TrimSuffix(strings.TrimSuffix(name, ".traj"), ".json") + ".json"
			norm, err := transcript.ReadFile(filepath.Join(dir, "normalized", name), transcript.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plainEntries(t, norm), plainEntries(t, got)); diff != "" {
				t.Errorf("%.4000s", diff)
			}
			for i := range got.Boundaries {
				got.Boundaries[i].Index += len(systemEntries(got.System))
			}
			if diff := cmp.Diff(norm.Boundaries, got.Boundaries); diff != "" {
				t.Error(diff)
			}
			for _, n := range got.Notes {
				t.Log(n)
			}
		})
	}
}

func TestNormalizedSessionsSurviveANativeRoundTrip(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repo.Shared(t, "sessions", "normalized"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := transcript.Read(bytes.NewReader(data), transcript.Options{})
		if err != nil {
			t.Fatal(file, err)
		}
		var out bytes.Buffer
		if notes, err := transcript.Write(&out, tr, transcript.Native); err != nil || len(notes) > 0 {
			t.Fatal(file, notes, err)
		}
		if value(t, data) != value(t, out.Bytes()) {
			t.Errorf("%s: changed", file)
		}
	}
}
