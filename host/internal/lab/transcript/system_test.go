package transcript_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

// The system prompt comes through the native form into every format that can be written, and never into the history.
func TestTheSystemPromptSurvivesEveryConversion(t *testing.T) {
	codex := `{"type":"session_meta","payload":{"base_instructions":{"text":"be brief"}}}` + "\n" +
		`{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text",` +
		`"text":"rules"}]}}` + "\n" +
		`{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}` + "\n" +
		`{"type":"compacted","payload":{"replacement_history":[{"type":"message","role":"developer",` +
		`"content":"rules"},{"type":"message","role":"user","content":"hi"}]}}`
	for name, c := range map[string]struct {
		in      string
		entries int
		want    map[transcript.Format]string // how the request begins
	}{
		"openai chat": {
			in: `{"messages":[{"role":"system","content":"be brief"},{"role":"developer","content":[{"type":"text",` +
				`"text":"rules"},{"type":"text","text":"more"}]},` +
				`{"role":"user","content":"hi"},{"role":"system","content":"now be long"}]}`,
			entries: 2,
			want: map[transcript.Format]string{
				transcript.OpenAIChat: `{"messages":[` + "\n" + `{"role":"system","content":"be brief"},` + "\n" +
					`{"role":"developer","content":[{"type":"text","text":"rules"},{"type":"text","text":"more"}]},` +
					"\n" + `{"role":"user"`,
				transcript.AnthropicMessages: `{"system":[{"type":"text","text":"be brief"},` +
					`{"type":"text","text":"rules"},{"type":"text","text":"more"}],`,
				transcript.OpenAIResponses: `{"instructions":"be brief",` + "\n" + `"input":[` + "\n" +
					`{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"},` +
					`{"type":"input_text","text":"more"}]},`,
				transcript.Native: `{"format":"openai-chat",` + "\n" + `"system":[{"type":"text","text":"be brief"},` +
					`{"type":"text","text":"rules","role":"developer"},{"type":"text","text":"more"}],` + "\n" +
					`"history":[` + "\n" + `{"speaker":"human","blocks":[{"type":"text","text":"hi"}]},`,
			},
		},
		"anthropic": {
			in: `{"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],` +
				`"messages":[{"role":"user","content":[{"type":"text","text":"hi","citations":{}}]}]}`,
			entries: 1,
			want: map[transcript.Format]string{
				transcript.AnthropicMessages: `{"system":[{"type":"text","text":"be brief",` +
					`"cache_control":{"type":"ephemeral"}}],`,
				transcript.OpenAIChat: `{"messages":[` + "\n" + `{"role":"system","content":"be brief"},`,
			},
		},
		"codex": {
			in: codex, entries: 2, // the developer's message is not in the history a second time
			want: map[transcript.Format]string{
				transcript.OpenAIResponses: `{"instructions":"be brief",` + "\n" + `"input":[` + "\n" +
					`{"type":"message","role":"developer","content":"rules"},`,
				transcript.OpenAIChat: `{"messages":[` + "\n" + `{"role":"system","content":"be brief"},` + "\n" +
					`{"role":"developer","content":"rules"},`,
			},
		},
		"responses": {
			in: `{"instructions":"be brief","input":[{"role":"developer","content":"rules"},` +
				`{"role":"user","content":"hi"}]}`,
			entries: 1,
			want: map[transcript.Format]string{
				transcript.OpenAIResponses: `{"instructions":"be brief",` + "\n" + `"input":[` + "\n" +
					`{"type":"message","role":"developer","content":"rules"},`,
			},
		},
		"native": {
			in: `{"system":[{"type":"text","text":"be brief"}],` +
				`"history":[{"speaker":"human","blocks":[{"type":"text","text":"hi"}]}]}`,
			entries: 1,
			want: map[transcript.Format]string{
				transcript.Native: `{"system":[{"type":"text","text":"be brief"}],` + "\n" + `"history":[` + "\n" +
					`{"speaker":"human"`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			first := read(t, c.in)
			native, _ := write(t, first, transcript.Native)
			again := read(t, native)
			for _, tr := range []*transcript.Transcript{first, again} {
				if len(tr.Entries) != c.entries {
					t.Errorf("%d entries: %s", len(tr.Entries), entries(tr))
				}
				for f, want := range c.want {
					if tr == again && f == transcript.Native {
						continue // it says what it was read from, once
					}
					if got, _ := write(t, tr, f); !strings.HasPrefix(got, want) {
						t.Errorf("%s:\n%s\nwant\n%s", f, got, want)
					}
				}
			}
			if second, _ := write(t, again, transcript.Native); second != native {
				t.Error(cmp.Diff(native, second))
			}
		})
	}
}

func TestANativeSystemPromptIsText(t *testing.T) {
	const history = `,"history":[{"speaker":"human","blocks":[{"type":"text","text":"hi"}]}]}`
	if tr := read(t, `{"system":"be brief"`+history); string(blocks(tr.System)) != `{"type":"text","text":"be brief"}` {
		t.Errorf("%s", blocks(tr.System))
	}
	for _, system := range []string{`7`, `[{"type":"media"}]`, `["be brief"]`} {
		_, err := transcript.Read(bytes.NewReader([]byte(`{"system":`+system+history)), transcript.Options{})
		if !errors.Is(err, transcript.ErrMalformed) || !strings.Contains(err.Error(), "system is") {
			t.Errorf("%s: %v", system, err)
		}
	}
}
