package transcript

import (
	"fmt"
	"strings"
)

// Format is the name of a transcript format. The names occur in -o json output and in native files, so they never
// change.
type Format string

// The formats that can be read. [Native], [OpenAIChat], [OpenAIResponses] and [AnthropicMessages] can be written too.
const (
	// Native is this project's own form, also that of transcript logs.
	Native Format = "native"
	// The next three are what an agent records on disk, the two after them what is sent to a provider's API.
	ClaudeCode        Format = "claude-code"
	Codex             Format = "codex"
	GeminiCLI         Format = "gemini-cli"
	OpenAIChat        Format = "openai-chat"
	OpenAIResponses   Format = "openai-responses"
	AnthropicMessages Format = "anthropic-messages"
)

// FormatInfo describes a format for people, in `thresh` help and -o json.
type FormatInfo struct {
	Format      Format `json:"format"`
	Description string `json:"description"`
	Writes      bool   `json:"writes"`
}

// Formats lists the formats that can be read, and which of them can be written. The recordings of other agents are read
// only: they need fields that a history does not have.
func Formats() []FormatInfo {
	return []FormatInfo{
		{Native, "thresh's own: a list of entries, {\"history\": [...]}, or one entry a line", true},
		{ClaudeCode, "session of Claude Code (JSON lines)", false},
		{Codex, "rollout of Codex (JSON lines)", false},
		{GeminiCLI, "chat of Gemini CLI (JSON)", false},
		{OpenAIChat, "messages of the OpenAI chat API: a list, {\"messages\": [...]}, or one message a line", true},
		{OpenAIResponses, "request of the OpenAI Responses API: {\"input\": [...], \"instructions\": ...}", true},
		{
			AnthropicMessages, "messages of the Anthropic API: a list, {\"messages\": [...]}, or one message a line",
			true,
		},
	}
}

// ParseFormat returns the format of that name. The short names "openai", "responses" and "anthropic" are known too.
func ParseFormat(name string) (Format, error) {
	switch name {
	// What people type; files and outputs have the full names.
	case "openai":
		return OpenAIChat, nil
	case "responses":
		return OpenAIResponses, nil
	case "anthropic":
		return AnthropicMessages, nil
	}
	for _, f := range Formats() {
		if string(f.Format) == name {
			return f.Format, nil
		}
	}
	return "", fmt.Errorf("%w %q; known: %s", ErrUnknownFormat, name, formatNames(false))
}

// formatNames returns the names for error messages, of all formats or only of those that can be written.
func formatNames(writable bool) string {
	var names []string
	for _, f := range Formats() {
		if f.Writes || !writable {
			names = append(names, string(f.Format))
		}
	}
	return strings.Join(names, ", ")
}
