// Command agent is an agent for tests: it asks the model once, in the words of its last argument, and ends with status 7.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	prompt := os.Args[len(os.Args)-1]
	body, _ := json.Marshal(map[string]any{
		"model": "claude-sonnet-4-5", "max_tokens": 100,
		"messages": []any{map[string]any{"role": "user", "content": prompt}},
	})
	answer, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", bytes.NewReader(body))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	text, _ := io.ReadAll(answer.Body)
	fmt.Printf("asked %q: %s %s\n", prompt, answer.Status, text)
	os.Exit(7)
}
