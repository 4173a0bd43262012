package apis_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/apis"
)

// A refusal says that a request has too many tokens in the API's own fields, or with the whole beginning of its message.
// What is about bytes, quotes a request, or has a number near such words says nothing.
func TestWhichRefusalsAreAboutTokens(t *testing.T) {
	no, unnamed := provider.Refusal{Limit: -1}, provider.Refusal{}
	const quote = "messages.3: invalid `prompt is too long: 9 tokens > 8192 maximum`, the context size (default 8192) of it"
	refusal := func(limit, tokens int) provider.Refusal { return provider.Refusal{Limit: limit, Tokens: tokens} }
	for _, c := range []struct {
		api    provider.API
		status int
		answer string
		want   provider.Refusal
	}{
		{provider.Messages, 400, `{"type":"error","error":{"type":"invalid_request_error","message":` +
			`"prompt is too long: 210000 tokens > 200000 maximum"}}`, refusal(200_000, 210_000)},
		{provider.Messages, 400, `{"type":"error","error":{"type":"invalid_request_error","message":` +
			`"prompt is too long: 210000 tokens \u003e 200000 maximum"}}`, refusal(200_000, 210_000)},
		{provider.Messages, 400, `{"error":{"type":"invalid_request_error","message":"input length and ` +
			"`max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length\"}}", refusal(200_000, 190_000)},
		{provider.Messages, 400, `{"error":{"message":"Input is too long for requested model."}}`, unnamed},
		{provider.Messages, 413, `{"type":"error","error":{"type":"request_too_large","message":` +
			`"Request exceeds the maximum size"}}`, no},
		{provider.Messages, 400, `{"error":{"type":"invalid_request_error","message":"` + quote + `"}}`, no},
		{provider.Messages, 429, `{"error":{"type":"rate_limit_error","message":"prompt is too long: 9 tokens > 8192 ` +
			`maximum"}}`, no},
		{provider.Messages, 400, "prompt is too long: 210000 tokens > 200000 maximum", no},
		{provider.Chat, 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your ` +
			`messages resulted in 130000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`,
			refusal(128_000, 130_000)},
		{provider.Chat, 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, ` +
			`you requested 9000 tokens (5000 in the messages, 4000 in the completion).","type":"BadRequestError",` +
			`"code":400}`, refusal(4096, 5000)},
		{provider.Chat, 400, `{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you ` +
			`requested about 9000 tokens (5000 in the messages, 3000 in the functions, 1000 in the completion)","code":400}}`,
			refusal(131_072, 8000)},
		{provider.Chat, 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try ` +
			`increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`, refusal(8192, 9000)},
		{provider.Responses, 400, `{"error":{"message":"Your input exceeds the context window of this model.","type":` +
			`"invalid_request_error","code":"context_length_exceeded"}}`, unnamed},
		{provider.Chat, 400, `{"error":{"message":"` + quote + `","type":"invalid_request_error","code":null}}`, no},
		{provider.Chat, 400, `{"error":{"message":"Invalid parameter: see the note that sets the context size (default ` +
			`8192) of the local model"}}`, no},
		{provider.Chat, 413, `{"error":{"message":"Request Entity Too Large","code":"context_length_exceeded"}}`, no},
		{provider.Gemini, 400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum ` +
			`number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, refusal(1_048_576, 1_200_000)},
		{provider.Gemini, 400, `{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 bytes.",` +
			`"status":"INVALID_ARGUMENT"}}`, no},
		{provider.Gemini, 400, `{"error":{"message":"` + quote + `"}}`, no},
		{provider.Gemini, 500, `not JSON`, no},
	} {
		got, ok := apis.Of(c.api).TooLong(c.status, []byte(c.answer))
		if !ok {
			got = no
		}
		if got != c.want {
			t.Errorf("%s, %d %s: %+v, want %+v", c.api, c.status, c.answer, got, c.want)
		}
	}
}
