package transcript_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/internal/testkit/hostile"
)

// repeat joins n strings made by f.
func repeat(n int, sep string, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(f(i))
	}
	return b.String()
}

// FuzzGrown: a recording in which anything is nested or repeated takes time in proportion, in whatever form it is read,
// and as a message that an agent adds.
func FuzzGrown(f *testing.F) {
	names := slices.Sorted(maps.Keys(agentSamples))
	for i := range names {
		f.Add(uint8(i), uint16(31*i))
	}
	for name, n := range map[string]uint16{
		"claude code: attachments are what the model saw":                                    86, // nested
		"openhands: a conversation with a condensation":                                      366,
		"opencode: an export, with a compaction that keeps the end, and what was taken back": 471,
	} {
		f.Add(uint8(slices.Index(names, name)), n)
	}
	f.Fuzz(func(t *testing.T, sample uint8, n uint16) {
		made := hostile.Pick(agentSamples[names[int(sample)%len(names)]].in, int(n))
		hostile.Check(t, made, func(text string) {
			_, _ = transcript.Read(strings.NewReader(text), transcript.Options{AllowCut: true})
		})
	})
}

// BenchmarkHostile reads and writes input made to be slow, at two sizes: twice the input should take twice the time.
func BenchmarkHostile(b *testing.B) {
	same := func(s string) func(int) string { return func(int) string { return s } }
	for name, make := range map[string]func(n int) string{
		"fields of an entry": func(n int) string {
			return `[{"speaker":"ai","blocks":[{"type":"text","text":"x",` +
				repeat(n, ",", func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) + `}]}]`
		},
		"fields of a wrapper": func(n int) string {
			return `{"history":[],` + repeat(n, ",", func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) + `}`
		},
		"fields of a message": func(n int) string {
			return `[{"role":"user","content":"x",` +
				repeat(n, ",", func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) + `}]`
		},
		"one letter": func(n int) string {
			return `[{"speaker":"ai","blocks":[{"type":"text","text":"` + strings.Repeat("a", 10*n) + `"}]}]`
		},
		"null blocks": func(n int) string {
			return `[{"speaker":"ai","blocks":[` + repeat(n, ",", same("null")) +
				`]}]`
		},
		"calls with one id": func(n int) string {
			return `[{"speaker":"ai","blocks":[` + repeat(n, ",", same(`{"type":"tool_call","id":"1","name":"n"}`)) +
				`]},` +
				repeat(n, ",", same(`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n",`+
					`"result":1}]}`)) + `]`
		},
		"orphans": func(n int) string {
			return `[` + repeat(n, ",",
				same(`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n","result":1}]}`)) +
				`]`
		},
		"lines of one message": func(n int) string {
			return repeat(n, "\n",
				same(`{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"x"}],`+
					`"usage":{"n":1}}}`))
		},
		"kinds of record": func(n int) string {
			return `{"type":"user","message":{"content":"x"}}` + "\n" +
				repeat(n, "\n", func(i int) string { return fmt.Sprintf(`{"type":"t%d"}`, i) })
		},
		"items of codex": func(n int) string {
			return repeat(n, "\n", same(`{"type":"response_item","payload":{"type":"reasoning","summary":[]}}`+"\n"+
				`{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"n":1}}}}`))
		},
	} {
		for _, n := range []int{20_000, 40_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				in := make(n)
				b.SetBytes(int64(len(in)))
				for b.Loop() {
					t, err := transcript.Read(strings.NewReader(in), transcript.Options{})
					if err != nil {
						b.Fatal(err)
					}
					for _, f := range []transcript.Format{transcript.Native, transcript.OpenAIChat,
						transcript.AnthropicMessages} {
						if _, err := transcript.Write(&bytes.Buffer{}, t, f); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}
