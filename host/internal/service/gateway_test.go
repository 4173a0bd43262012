package service_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/service"
)

// litellmHash is how LiteLLM finds in texts what the model may ask for.
var litellmHash = regexp.MustCompile(`hash=([a-f0-9]{24})`)

// A gateway that speaks Headroom's contract gets what it reads: the requests are LiteLLM's, with its members, headers
// and paths, and what is looked at is what its guardrail looks at.
func TestAGatewayOfHeadroomsContract(t *testing.T) {
	base, check := served(t), checks(t)
	do := func(method, path, token string, body any) (int, map[string]any) {
		t.Helper()
		var sent io.Reader
		params, result := "", "Error"
		for _, g := range service.Gateway() {
			if fixed, _, _ := strings.Cut(g.Path, "{"); g.Verb == method && strings.HasPrefix(path, fixed) {
				if result = g.Result.Name(); g.Params != nil {
					params = g.Params.Name()
				}
			}
		}
		if body != nil {
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			sent = strings.NewReader(string(text))
			if err := check(params, text); params != "" && err != nil {
				t.Errorf("%s %s: the request: %v", method, path, err)
			}
		}
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, sent)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		name, value, _ := strings.Cut(token, ": ")
		r.Header.Set(name, value)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != http.StatusOK {
			result = "Error"
		}
		if err := check(result, text); err != nil {
			t.Errorf("%s %s: the answer %s: %v", method, path, text, err)
		}
		var out map[string]any
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, out
	}
	messages := []any{
		map[string]any{"role": "system", "content": "You are a helpful assistant."},
		map[string]any{"role": "user", "content": "What is in main.go?"},
	}
	for i := range 14 { // the model reads a file again and again
		id := fmt.Sprintf("call_%d", i)
		messages = append(messages, map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"id": id, "type": "function",
			"function": map[string]any{"name": "read_file", "arguments": `{"file_path": "main.go"}`}}}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": fmt.Sprintf("package main // %d\n", i) +
				strings.Repeat("// words\n", 1500)})
	}
	bearer := "Authorization: Bearer token"
	// The model has few tokens, which LiteLLM does not say: Headroom's own name of that is known too.
	asked := map[string]any{"messages": messages, "model": "gpt-4o", "token_budget": 16_000, "strategy": "high-density",
		"config": map[string]any{"target_ratio": 0.5}}
	status, answer := do("POST", "/v1/compress", bearer, asked)
	made, _ := answer["messages"].([]any)
	before, _ := answer["tokens_before"].(float64)
	after, _ := answer["tokens_after"].(float64)
	ratio, _ := answer["compression_ratio"].(float64)
	if status != http.StatusOK || len(made) == 0 || after >= before/2 || ratio != after/before ||
		answer["tokens_saved"] != before-after || answer["tokensBefore"] != before {
		t.Fatalf("%d: %d messages, %v tokens of %v, %v", status, len(made), after, before, answer["error"])
	}
	var hashes [][]string // it looks into contents that are text, and into text parts
	for _, m := range made {
		of, object := m.(map[string]any) // it leaves out all others
		if !object {
			t.Errorf("a message is %v", m)
		}
		text, _ := of["content"].(string)
		parts, _ := of["content"].([]any)
		for _, part := range parts {
			of, _ := part.(map[string]any)
			more, _ := of["text"].(string)
			text += more
		}
		hashes = append(hashes, litellmHash.FindAllStringSubmatch(text, -1)...)
	}
	if len(hashes) == 0 {
		t.Fatalf("no id in %.2000v", made)
	}
	listed := fmt.Sprint(answer["ccr_hashes"])
	for _, found := range hashes {
		for path, body := range map[string]any{"GET /v1/retrieve/" + found[1] + "?query=words": nil,
			"POST /v1/retrieve": map[string]any{"hash": found[1]}} {
			method, path, _ := strings.Cut(path, " ")
			status, part := do(method, path, bearer, body)
			original, _ := part["original_content"].(string)
			if status != http.StatusOK || !strings.HasPrefix(original, "package main // ") || part["hash"] != found[1] ||
				!strings.Contains(listed, found[1]) {
				t.Errorf("%s: %d %.100v", path, status, part)
			}
		}
	}
	// What LiteLLM sends where the guardrail has no model, and Portkey's token.
	status, answer = do("POST", "/v1/compress", "X-Headroom-Proxy-Token: token", map[string]any{"messages": messages[:2]})
	if status != http.StatusOK || len(answer["messages"].([]any)) != 2 {
		t.Errorf("%d %v", status, answer)
	}
	for path, want := range map[string]int{"GET /v1/retrieve/" + strings.Repeat("0", 24): 404, "POST /v1/retrieve": 404,
		"POST /v1/compress": 400, "GET /v1/compress": 404} {
		method, path, _ := strings.Cut(path, " ")
		if status, answer := do(method, path, bearer, map[string]any{"messages": []any{}}); status != want ||
			answer["error"] == nil {
			t.Errorf("%s %s: %d %v", method, path, status, answer)
		}
	}
	if status, _ := do("POST", "/v1/compress", "Authorization: Bearer wrong", asked); status != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", status)
	}
}
