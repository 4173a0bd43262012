package llm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/host/internal/llm"
)

// Servers that call themselves compatible report errors in shapes of their own.
func TestTheShapesOfErrors(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want [3]string // kind, code, message
	}{
		"OpenAI": {`{"error":{"message":"m","type":"t","param":null,"code":"c"}}`, [3]string{"t", "c", "m"}},
		"Anthropic": {`{"type":"error","error":{"type":"t","message":"m"},"request_id":"r"}`,
			[3]string{"t", "", "m"}},
		"a numeric code": {`{"error":{"message":"m","code":502,"metadata":{}}}`, [3]string{"", "502", "m"}},
		"only text":      {`{"error":"m"}`, [3]string{"", "", "m"}},
		"flat":           {`{"object":"error","message":"m","type":"t","code":404}`, [3]string{"t", "404", "m"}},
		"detail":         {`{"detail":"m"}`, [3]string{"", "", "m"}},
		"null":           {`{"error":null}`, [3]string{}},
		"a list":         {`[{"error":{"message":"m"}}]`, [3]string{}},
		"no JSON":        {`<html>`, [3]string{}},
		"nothing":        {``, [3]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, llm.ReadWords([]byte(c.body))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzTheShapesOfErrors(f *testing.F) {
	f.Add([]byte(`{"error":{"message":{"a":1},"type":[],"code":1e9}}`))
	f.Add([]byte(`{"error":[1,2],"detail":[{"msg":"x"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if w := llm.ReadWords(body); len(w[2]) > len(body) {
			t.Errorf("%d bytes were made of %d", len(w[2]), len(body))
		}
	})
}
