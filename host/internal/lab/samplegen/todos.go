package main

import "strings"

type todo struct{ status, text string }

// parseTodos reads the body of @todo: lines "done text", "doing text" and "open text".
func parseTodos(body string) []todo {
	status := map[string]string{"done": "completed", "doing": "in_progress", "open": "pending"}
	var todos []todo
	for _, line := range strings.Split(body, "\n") {
		word, text, _ := strings.Cut(line, " ")
		todos = append(todos, todo{status[word], text})
	}
	return todos
}
