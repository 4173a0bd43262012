package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// answers are what providers report, streamed and not.
var answers = []struct {
	api    provider.API
	stream bool
	text   string
	want   provider.Usage
}{
	{provider.Messages, true, "event: message_start\ndata: " +
		"{\"message\":{\"usage\":{\"input_tokens\":3,\"cache_read_input_tokens\":40," +
		"\"cache_creation_input_tokens\":5,\"output_tokens\":1}}}\n\nevent: message_delta\r\ndata: " +
		"{\"usage\":{\"output_tokens\":9}}\r\n\r\n",
		used(3, 40, 5, 9)},
	{provider.Messages, false, `{"usage":{"input_tokens":3,"cache_read_input_tokens":40,"output_tokens":9}}`, used(3, 40,
		0, 9)},
	{provider.Chat, true, "data: " +
		"{\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"prompt_tokens_details\":{\"cached_tokens\":40}," +
		"\"completion_tokens\":7}}\n\ndata: [DONE]\n\n", used(10, 40, 0, 7)},
	{provider.Responses, true, "event: response.completed\ndata: {\"response\":{\"usage\":{\"input_tokens\":50," +
		"\"input_tokens_details\":{\"cached_tokens\":40},\"output_tokens\":7}}}", used(10, 40, 0, 7)},
	{provider.Gemini, true, "data: {\"usageMetadata\":{\"promptTokenCount\":50,\"cachedContentTokenCount\":40," +
		"\"candidatesTokenCount\":7,\"thoughtsTokenCount\":30}}\r\n\r\n", used(10, 40, 0, 37)},
}

func used(input, read, write, output int) provider.Usage {
	return provider.Usage{Input: input, CacheRead: read, CacheWrite: write, Output: output}
}

// through reads an answer through a tee.
func through(api provider.API, header http.Header, answer io.Reader) (out []byte, got provider.Usage, err error) {
	t := newTee(&http.Response{Header: header, Body: io.NopCloser(answer), ContentLength: -1}, api, nil, func([]provider.Window) {}, func(u provider.Usage, _ []byte) { got = u })
	out, err = io.ReadAll(t)
	return out, got, err
}

func typed(stream bool) http.Header {
	if stream {
		return http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}
	}
	return http.Header{"Content-Type": {"application/json"}}
}

// Usage is read however the answer is cut, and what passes is the answer.
func TestUsageIsReadOnTheWay(t *testing.T) {
	for _, a := range answers {
		for name, r := range map[string]io.Reader{
			"whole":        bytes.NewReader([]byte(a.text)),
			"byte by byte": iotest.OneByteReader(bytes.NewReader([]byte(a.text))),
		} {
			out, got, err := through(a.api, typed(a.stream), r)
			if err != nil || string(out) != a.text || got != a.want {
				t.Errorf("%s %s: %+v, want %+v; %v", a.api, name, got, a.want, err)
			}
		}
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(answers[1].text))
	_ = z.Close()
	header := typed(false)
	header.Set("Content-Encoding", "gzip")
	if out, got, _ := through(provider.Messages, header, bytes.NewReader(zipped.Bytes())); got != answers[1].want ||
		!bytes.Equal(out, zipped.Bytes()) {
		t.Errorf("gzip: %+v", got)
	}
}

// Whatever a provider sends passes as it is, wherever it is cut, and the cuts make no difference.
func FuzzTee(f *testing.F) {
	for _, a := range answers {
		f.Add([]byte(a.text), a.stream, uint8(3))
	}
	up := modelapi.New(modelapi.Options{})
	defer up.Close()
	const words = `[{"role":"user","content":"x"}]`
	for _, ask := range []struct {
		path, body string
		stream     bool
	}{
		{"/v1/messages", `{"model":"m","max_tokens":9,"messages":` + words + `}`, false},
		{"/v1/messages", `{"model":"m","max_tokens":9,"stream":true,"messages":` + words + `}`, true},
		{"/v1/chat/completions", `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":` +
			words + `}`, true},
		{"/v1/responses", `{"model":"m","stream":true,"input":` + words + `}`, true},
		{"/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`, true},
	} {
		request, _ := http.NewRequest(http.MethodPost, up.URL+ask.path, strings.NewReader(ask.body))
		request.Header = http.Header{"Anthropic-Version": {"2023-06-01"}, "X-Api-Key": {"k"}, "X-Goog-Api-Key": {"k"},
			"Authorization": {"Bearer k"}, "Content-Type": {"application/json"}}
		res, err := http.DefaultClient.Do(request)
		if err != nil {
			f.Fatal(err)
		}
		answer, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(`"usage`)) {
			f.Fatalf("%s: %d %s %v", ask.path, res.StatusCode, answer, err)
		}
		f.Add(answer, ask.stream, uint8(0)) // cut behind each byte
	}
	f.Fuzz(func(t *testing.T, answer []byte, stream bool, cut uint8) {
		for _, api := range []provider.API{provider.Messages, provider.Chat, provider.Responses, provider.Gemini} {
			_, whole, _ := through(api, typed(stream), bytes.NewReader(answer))
			var pieces []io.Reader
			for rest := answer; len(rest) > 0; {
				n := min(len(rest), int(cut)+1)
				pieces, rest = append(pieces, bytes.NewReader(rest[:n])), rest[n:]
			}
			out, got, err := through(api, typed(stream), io.MultiReader(pieces...))
			if err != nil || !bytes.Equal(out, answer) || got != whole {
				t.Fatalf("%s: %q, %v; %+v and %+v", api, out, err, got, whole)
			}
		}
	})
}
