package main

import "strings"

// todo is one task of the agent's list. The status is in the words that all three agents use.
type todo struct{ status, text string }

// parseTodos reads the body of @todo: lines "done text", "doing text" and "open text". An unknown word gives an empty
// status, which no reader knows.
func parseTodos(body string) []todo {
	status := map[string]string{"done": "completed", "doing": "in_progress", "open": "pending"}
	var todos []todo
	for _, line := range strings.Split(body, "\n") {
		word, text, _ := strings.Cut(line, " ")
		todos = append(todos, todo{status[word], text})
	}
	return todos
}
