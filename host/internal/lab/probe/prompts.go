package probe

import (
	_ "embed"
	"fmt"
	"strings"
)

// PromptVersion is part of every moment's id: what was written, answered and graded with other prompts is not mixed in.
// Raise it with every change of a prompt.
const PromptVersion = 2

var (
	//go:embed readme.md
	readme string
	//go:embed prompts/questions.md
	questionsPrompt string
	//go:embed prompts/answers.md
	answersPrompt string
	//go:embed prompts/grades.md
	gradesPrompt string

	// What an answer sheet says about searching.
	//
	//go:embed prompts/search-nothing.md
	searchNothing string
	//go:embed prompts/search-command.md
	searchByCommand string
	//go:embed prompts/search-tool.md
	searchByTool string
)

// Prompts returns the prompts as they are printed for people. Words in double braces are filled in.
func Prompts() string {
	var b strings.Builder
	for _, p := range []struct{ name, text string }{
		{stageQuestions, questionsPrompt}, {stageAnswers, answersPrompt}, {stageGrades, gradesPrompt},
		{"{{search}} in " + stageAnswers, searchNothing},
		{"{{search}} in " + stageAnswers + " with --write and --search", searchByCommand},
		{"{{search}} in " + stageAnswers + " with --profile and --search", searchByTool},
	} {
		fmt.Fprintf(&b, "# %s (version %d)\n\n%s\n", p.name, PromptVersion, p.text)
	}
	return b.String()
}

// fill replaces the words in double braces, all at once: what is put in may contain braces itself.
func fill(prompt string, words ...string) string {
	for i := 0; i < len(words); i += 2 {
		words[i] = "{{" + words[i] + "}}"
	}
	return strings.NewReplacer(words...).Replace(prompt)
}
