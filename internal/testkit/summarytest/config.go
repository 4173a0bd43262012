package summarytest

import (
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/summary"
)

// Snapshot is a valid answer of a model. The least that a strategy accepts: closed, and not empty.
const Snapshot = "<state_snapshot><overall_goal>ship it</overall_goal></state_snapshot>"

// prompt is the text of the prompt for summaries.
const prompt = "Write a snapshot."

// Config is a host with a model of the given context window, in tokens, and with a prompt for summaries.
func Config(window int, g sdktest.GenerateFunc) sdktest.Config {
	return sdktest.Config{
		Model:    &sdk.Model{Name: "m", ContextLimit: window},
		Generate: g,
		Prompts:  map[string]string{summary.PromptName: prompt},
	}
}

// Said is an entry with one text.
func Said(by sdk.Speaker, text string) sdk.Content {
	return sdk.Content{Speaker: by, Blocks: []sdk.Block{sdk.Text{Text: text}}}
}

// Text returns the texts of an entry, joined by line breaks.
func Text(e sdk.Content) string {
	var parts []string
	for _, b := range e.Blocks {
		if text, ok := b.(sdk.Text); ok {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// Texts returns the texts of all entries, each followed by a line break.
func Texts(entries []sdk.Content) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(Text(e) + "\n")
	}
	return b.String()
}
