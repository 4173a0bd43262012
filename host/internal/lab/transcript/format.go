package transcript

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/host/internal/provider/responses"
)

// Format is the name of a transcript format. The names occur in -o json output and in native files, so they never
// change.
type Format string

// The formats that can be read. [Native], [OpenAIChat], [OpenAIResponses] and [AnthropicMessages] can be written too.
const (
	// Native is this project's own form, also in transcript logs.
	Native Format = "native"
	// What agents record on disk; the last three are what is sent to a provider's API.
	ClaudeCode        Format = "claude-code"
	Codex             Format = "codex"
	GeminiCLI         Format = "gemini-cli"
	GeminiStream      Format = "gemini-stream"
	QwenCode          Format = "qwen-code"
	CopilotCLI        Format = "copilot-cli"
	Cline             Format = "cline"
	Pi                Format = "pi"
	OpenCode          Format = "opencode"
	OpenHands         Format = "openhands"
	Amp               Format = "amp"
	Droid             Format = "droid"
	Goose             Format = "goose"
	Kimi              Format = "kimi"
	OpenAIChat        Format = chat.Name
	OpenAIResponses   Format = responses.Name
	AnthropicMessages Format = anthropic.Name
)

// FormatInfo describes a format for people, in `thresh` help and -o json.
type FormatInfo struct {
	Format      Format `json:"format"`
	Description string `json:"description"`
	Writes      bool   `json:"writes"`
}

// Formats lists the formats that can be read, ours first, then those of agents and of providers, and which of them can
// be written. The recordings of other agents are read only: they need fields that a history does not have. The
// descriptions are parts of sentences in help and errors, without a full stop.
func Formats() []FormatInfo {
	return []FormatInfo{
		{Native, "thresh's own: a list of entries, {\"history\": [...]}, or one entry a line", true},
		{ClaudeCode, "session of Claude Code (JSON lines)", false},
		{Codex, "rollout of Codex (JSON lines)", false},
		{GeminiCLI, "chat of Gemini CLI (JSON, or JSON lines)", false},
		{GeminiStream, "what 'gemini --output-format stream-json' prints (JSON lines)", false},
		{QwenCode, "session of Qwen Code (JSON lines)", false},
		{CopilotCLI, "events of Copilot CLI (JSON lines)", false},
		{Cline, "history of a task of Cline or Roo Code (JSON)", false},
		{Pi, "session of pi or OpenClaw (JSON lines)", false},
		{OpenCode, "session of opencode, as 'opencode export' prints it (JSON), or its events (JSON lines)", false},
		{OpenHands, "events of OpenHands (JSON, or JSON lines)", false},
		{Amp, "thread of Amp (JSON)", false},
		{Droid, "session of Factory's droid (JSON lines)", false},
		{Goose, "session of goose, as 'goose session export --format json' prints it (JSON), or a file of older " +
			"versions (JSON lines)", false},
		{Kimi, "session of Kimi Code, or of kimi-cli: wire.jsonl (JSON lines)", false},
		{OpenAIChat, "messages of the OpenAI chat API: a list, {\"messages\": [...]}, or one message a line", true},
		{
			OpenAIResponses,
			"request of the OpenAI Responses API: {\"input\": [...], \"instructions\": ...}, or its items", true,
		},
		{
			AnthropicMessages, "messages of the Anthropic API: a list, {\"messages\": [...]}, or one message a line",
			true,
		},
	}
}

// api returns the API whose messages the format is; nil for those of agents.
func (f Format) api() *messages.API {
	for _, a := range []*messages.API{&chat.Messages, &responses.Messages, &anthropic.Messages} {
		if a.Name == string(f) {
			return a
		}
	}
	return nil
}

// ParseFormat returns the format of that name, or of the short names "openai", "responses" and "anthropic".
func ParseFormat(name string) (Format, error) {
	switch name {
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

func formatNames(writable bool) string {
	var names []string
	for _, f := range Formats() {
		if f.Writes || !writable {
			names = append(names, string(f.Format))
		}
	}
	return strings.Join(names, ", ")
}

// lineReaders are the formats of one record a line, documentReaders those of one JSON value: what "--from FORMAT" can
// name. A format may be in both: a recorder that changed from one to the other, or a list that people split into lines.
var (
	lineReaders = map[Format]func(*builder) lineReader{
		Native:            func(b *builder) lineReader { return &nativeLines{b: b} },
		ClaudeCode:        newClaude,
		Codex:             newCodex,
		GeminiCLI:         newGeminiLines,
		GeminiStream:      func(b *builder) lineReader { return &geminiStream{speech: newSpeech(b)} },
		QwenCode:          newQwen,
		CopilotCLI:        func(b *builder) lineReader { return &copilot{newSpeech(b)} },
		Pi:                func(b *builder) lineReader { return &pi{speech: newSpeech(b)} },
		OpenCode:          func(b *builder) lineReader { return newOpenCode(b) },
		OpenHands:         func(b *builder) lineReader { return newOpenHands(b) },
		Droid:             func(b *builder) lineReader { return &droid{speech: newSpeech(b)} },
		Goose:             func(b *builder) lineReader { return newGoose(b) },
		Kimi:              newKimi,
		OpenAIChat:        newMessages,
		AnthropicMessages: newMessages,
		OpenAIResponses:   func(b *builder) lineReader { return newItems(b) },
	}
	documentReaders = map[Format]documentReader{
		Native:    readNative,
		GeminiCLI: readGemini,
		OpenCode:  readOpenCode,
		OpenHands: inList(readOpenHands),
		Amp:       readAmp,
		Goose:     readGoose,
		// The messages decide which of these three it was: Cline stores those of Anthropic's API.
		Cline:             inList(readMessages),
		OpenAIChat:        inList(readMessages),
		AnthropicMessages: inList(readMessages),
		OpenAIResponses:   inList(readResponses),
	}
)

// inList returns a reader of a document that is a list, or has it in one of the usual fields. read gets the name of
// that field, "" for the document itself.
func inList(read func(list string) documentReader) documentReader {
	return func(b *builder, d *document) error {
		for _, name := range []string{"messages", "history", "traj", "events", "input"} {
			if ordered.Kind(d.top.Raw(name)) == '[' {
				return read(name)(b, d)
			}
		}
		return read("")(b, d)
	}
}

// lines returns the format's reader of lines.
func (f Format) lines(b *builder) (lineReader, error) {
	made, ok := lineReaders[f]
	if !ok {
		return nil, fail(ErrUnknownFormat, "the file has one record a line, and %s is one JSON value", f)
	}
	b.t.Format = f
	return made(b), nil
}

// document returns the format's reader of a document, which may be a file of one line.
func (f Format) document() (documentReader, error) {
	if read, ok := documentReaders[f]; ok {
		return read, nil
	}
	if _, ok := lineReaders[f]; !ok {
		return nil, fmt.Errorf("%w %q; known: %s", ErrUnknownFormat, f, formatNames(false))
	}
	return f.onlyLine(), nil
}

// onlyLine returns the reader of a file of the one line d.
func (f Format) onlyLine() documentReader {
	return func(b *builder, d *document) error {
		reader, err := f.lines(b)
		if err != nil {
			return err
		}
		if err := reader.record(record{line: d.line, whole: d.data, Object: d.top}); err != nil {
			return err
		}
		return reader.end()
	}
}
