package transcript

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
)

// A documentReader reads a file that is one JSON value. Formats are detected from the shape of their records, never
// from file names: recorders are known to label a file as another agent's.
type documentReader func(*builder, *document) error

// sniffDocument detects the format of a file that is one JSON value. The most specific shapes come first: "history" and
// "messages" occur in several formats, so the first element of the list decides. An object that fits none of them may
// be a file of records with a single line.
func sniffDocument(d *document) (documentReader, error) {
	if ordered.Kind(d.data) == '[' {
		return sniffList(d)
	}
	top := d.top
	// The first case also skips a history that is no list if another field holds the conversation. Cases that do
	// nothing lead to the next switch.
	switch first := ordered.FirstObject(top.Raw("history")); {
	case top.Raw("history") == nil, ordered.Kind(top.Raw("history")) != '[' && isConversation(top):
	case isEntry(first):
		return readNative, nil
	case first.Has("role") && top.Has("trajectory"):
		return nil, fail(ErrUnsupportedFormat,
			"it is a trajectory of SWE-agent; give its conversation as messages of a provider's API, or use mini-swe-agent")
	case isOpenHandsEvent(first):
		return readOpenHands("history"), nil
	case first.Has("role"):
		return readMessages("history"), nil
	default:
		return readNative, nil
	}
	switch first := ordered.FirstObject(top.Raw("messages")); {
	case ordered.Kind(top.Raw("messages")) != '[':
	// Messages of agents come before those of providers: they have a role too.
	case isAmp(top, first):
		return readAmp, nil
	case isGemini(top, first):
		return readGemini, nil
	case isOpenCodeExport(first):
		return readOpenCode, nil
	case first == nil, first.Has("role"):
		return readMessages("messages"), nil
	}
	if isGooseHead(top) && top.Has("conversation") {
		return readGoose, nil
	}
	// Also an empty list, a request before its first item.
	if first := ordered.FirstObject(top.Raw("input")); ordered.Kind(top.Raw("input")) == '[' &&
		(first == nil || first.Has("role") || first.Has("type")) {
		return readResponses("input"), nil
	}
	if isOpenHandsEvent(ordered.FirstObject(top.Raw("events"))) {
		return readOpenHands("events"), nil
	}
	if ordered.FirstObject(top.Raw("traj")).Has("role") {
		return readMessages("traj"), nil
	}
	rec := record{line: d.line, whole: d.data, Object: top}
	f, err := sniffLine(rec)
	if f == "" && err == nil {
		err = unknownObject(rec)
	}
	if err != nil {
		return nil, err
	}
	return f.onlyLine(), nil
}

// sniffList detects the format of a file that is one list. An empty list is an empty native history.
func sniffList(d *document) (documentReader, error) {
	// Anthropic's and OpenAI's messages are last: a message only needs a role, which most records have.
	first := ordered.FirstObject(d.data)
	switch {
	case first == nil, isEntry(first):
		return readNative, nil
	case isOpenHandsEvent(first):
		return readOpenHands(""), nil
	case hasResponsesItem(d.data):
		return readResponses(""), nil
	case first.Has("role"):
		return readMessages(""), nil
	case isConversation(first):
		return nil, fail(ErrMalformed, "it is a list of conversations; give one conversation at a time")
	default:
		return nil, unknownObject(record{line: d.lineAt(0), Object: first})
	}
}

// sniffLine detects the format of a file with one record per line. It returns "" if this record does not tell, and the
// caller tries the next one: a file may begin with unknown records.
func sniffLine(r record) (Format, error) {
	t, o := r.Text("type"), r.Object
	switch {
	// Shapes that other fields tell come first, then formats that only differ in the values of "type".
	case isEntry(o), isSystemLine(o):
		return Native, nil
	case isGeminiStream(t, o):
		return GeminiStream, nil
	case isGeminiHead(o):
		return GeminiCLI, nil
	case isResponsesItem(o):
		return OpenAIResponses, nil
	case isGooseHead(o):
		return Goose, nil
	case o.Has("role"):
		return OpenAIChat, nil // or Anthropic's; the messages decide
	case isConversation(o):
		return "", failAt(
			r.line, ErrMalformed,
			"the line is a whole conversation and more lines follow; give one conversation at a time",
		)
	case ordered.Kind(o.Raw("payload")) == '{' && isCodexType(t):
		return Codex, nil
	case isOpenHandsEvent(o):
		return OpenHands, nil
	// By a type and one more field each, since types are common words.
	case isDroidRecord(t, o):
		return Droid, nil
	case isKimiRecord(t, o):
		return Kimi, nil
	case isCopilotEvent(t, o):
		return CopilotCLI, nil
	case isOpenCodeEvent(t, o):
		return OpenCode, nil
	case isPiRecord(t, o):
		return Pi, nil
	case isQwenRecord(t, o):
		return QwenCode, nil
	case isClaudeRecord(t, o):
		return ClaudeCode, nil
	}
	return "", nil
}

// isEntry reports whether o is meant to be an entry of the native form. One of the fields suffices: a malformed entry
// gets an error about itself instead of "unknown format".
func isEntry(o ordered.Object) bool { return o.Raw("speaker") != nil || o.Raw("blocks") != nil }

func isConversation(o ordered.Object) bool {
	return ordered.Kind(o.Raw("messages")) == '[' || ordered.Kind(o.Raw("history")) == '[' || ordered.Kind(o.Raw("traj")) == '['
}

// isGemini reports whether top is a chat of Gemini CLI; first is its first message. The messages have a type and no
// role. An empty chat is recognised by a field of the file.
func isGemini(top, first ordered.Object) bool {
	t := first.Text("type")
	return !first.Has("role") && (isGeminiType(t) || first == nil && top.Has("projectHash"))
}

// hasResponsesItem reports whether one of the first elements of a list is an item of the Responses API. The first may
// be a message that the Chat API has too.
func hasResponsesItem(raw []byte) bool {
	looked, found := 0, false
	ordered.FindObject(raw, func(o ordered.Object) bool {
		looked++
		found = isResponsesItem(o)
		return found || looked == maxUndecided
	})
	return found
}

// unknownObject lists up to 8 of the found fields: users see whether they named the wrong file.
func unknownObject(r record) error {
	var names []string
	for _, f := range r.Object {
		if len(names) == 8 {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("%q", ordered.Clip([]byte(f.Name))))
	}
	seen := "an empty JSON object"
	if len(names) > 0 {
		seen = "a JSON object with the fields " + strings.Join(names, ", ")
	}
	if t := r.Text("type"); t != "" {
		seen += fmt.Sprintf(" and the type %q", ordered.Clip([]byte(t)))
	}
	return failAt(r.line, ErrUnknownFormat, "%s; supported: %s", seen, formatNames(false))
}
