package transcript_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// recorded is what a record of any format may say of usage.
type recorded struct {
	Type        string
	IsSidechain bool
	Message     struct { // Claude Code
		ID    string
		Usage anthropicUsage
	}
	Payload struct { // Codex
		Info struct {
			Last anthropicUsage `json:"last_token_usage"`
		}
	}
	Messages []struct {
		Tokens  struct{ Input int }       // Gemini CLI
		Metrics struct{ InputTokens int } // Cline
		Extra   struct{ Response openAIResponse }
	}
	Response openAIResponse
}

type anthropicUsage struct {
	Input int `json:"input_tokens"`
	Write int `json:"cache_creation_input_tokens"`
	Read  int `json:"cache_read_input_tokens"`
}

type openAIResponse struct {
	Usage struct {
		Prompt int `json:"prompt_tokens"`
	}
}

// promptsOf returns the size of each request that a native file tells of, read without a notion of entries.
func promptsOf(t *testing.T, file string) []int {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	var out []int
	seen := map[string]bool{}
	for d := json.NewDecoder(f); ; {
		var r recorded
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(file, err)
		}
		var sizes []int
		if u := r.Message.Usage; !r.IsSidechain && !seen[r.Message.ID] {
			sizes = append(sizes, u.Input+u.Write+u.Read)
			seen[r.Message.ID] = true
		}
		sizes = append(sizes, r.Payload.Info.Last.Input)
		for _, m := range r.Messages {
			sizes = append(sizes, m.Tokens.Input, m.Metrics.InputTokens, m.Extra.Response.Usage.Prompt)
		}
		for _, n := range append(sizes, r.Response.Usage.Prompt) {
			if n > 0 {
				out = append(out, n)
			}
		}
	}
}

func TestRecordedSessionsHaveTheUsageThatTheirRecordersWrote(t *testing.T) {
	dir := repo.Shared(t, "sessions")
	for native, requests := range map[string]int{
		"agentv/claude-7a-d2528cc37f-0.jsonl":                                    15,
		"agentv/codex-3c-162d1d8ad4-1.jsonl":                                     132,
		"agentv/codex-a5-7b22d8d4bd-0.jsonl":                                     55,
		"cipher-box/81-2995ab46e2-3.jsonl":                                       95,
		"cline/session.messages.json":                                            16,
		"entireio-cli-gemini/session-15f05963.json":                              6,
		"entireio-cli-gemini/session-f7633853.json":                              14,
		"entireio-cli/0f-c364a22bea-0.jsonl":                                     202,
		"entireio-cli/37-995ebed6e4-3.jsonl":                                     32,
		"entireio-cli/b7-bf94398dc9-1.jsonl":                                     54,
		"entireio-cli/bb-781d6f3a8e-0.jsonl":                                     72,
		"mini-swe-agent/deepseek_chat_test_1-100-django__django-13265.traj.json": 156,
		"openhands/completion-claude-sonnet-4.json":                              1,
		"packmind-context-evaluator/7b-904be9fc93-0.jsonl":                       38,
		"tau-bench/airline-task2-trial1.json":                                    0,
	} {
		t.Run(native, func(t *testing.T) {
			file := filepath.Join(dir, "native", native)
			tr, err := transcript.ReadFile(file, transcript.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for i, u := range tr.Usage {
				got = append(got, u.PromptTokens)
				if i > 0 && u.Entry <= tr.Usage[i-1].Entry {
					t.Errorf("request %d is at entry %d, the one before at %d", i, u.Entry, tr.Usage[i-1].Entry)
				}
				if _, ok := transcript.Time(tr.Entries[u.Entry]); !ok && tr.Format != transcript.OpenAIChat {
					t.Errorf("no time at entry %d: %s", u.Entry, tr.Entries[u.Entry].Metadata)
				}
			}
			if diff := cmp.Diff(promptsOf(t, file), got); diff != "" {
				t.Error(diff)
			}
			if len(got) != requests {
				t.Errorf("%d requests, want %d", len(got), requests)
			}
		})
	}
}
