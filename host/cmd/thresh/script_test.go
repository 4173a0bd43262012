package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// pruning is a session in which a write makes an earlier read stale, with an inclusion that comes twice.
const pruning = `[
{"speaker":"human","blocks":[{"type":"text","text":"look:\n--- a.ts ---\none\n--- End of content ---\nthanks"}]},
{"speaker":"ai","blocks":[{"type":"text","text":"reading"},{"type":"tool_call","id":"1","name":"read_file","parameters":{"file_path":"b.ts"}}]},
{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"read_file","result":"content of b.ts"}]},
{"speaker":"ai","blocks":[{"type":"tool_call","id":"2","name":"write_file","parameters":{"file_path":"/w/b.ts","content":"n"}}]},
{"speaker":"tool","blocks":[{"type":"tool_response","callId":"2","toolName":"write_file","result":"ok"}]},
{"speaker":"human","blocks":[{"type":"text","text":"--- a.ts ---\ntwo\n--- End of content ---"}]}
]
`

// object is any JSON object.
type object = map[string]any

func parseJSON[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return v
}

// turns is a session of n questions and long answers.
func turns(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"speaker":"human","blocks":[{"type":"text","text":"question %d"}]}`+"\n", i)
		fmt.Fprintf(&b, `{"speaker":"ai","blocks":[{"type":"text","text":"%s %d"}]}`+"\n",
			strings.Repeat("a long answer, ", 100), i)
	}
	return b.String()
}
