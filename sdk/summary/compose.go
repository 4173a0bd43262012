package summary

import (
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
)

const pointerHead = "Full pre-compression transcript available at: "

// draft is all that a summary is made of.
type draft struct {
	snapshot string
	messages []message
	more     bool // an earlier summary left messages out
	facts    facts
	pointer  string // where the transcript is
	media    []sdk.Block
}

// compose returns the summary entry: the snapshot, then the chosen messages, as many facts as fit into factBytes, and
// the pointer to the transcript (REQ-HD-012.2), all in one text. What the person attached to the last message follows.
func (d *draft) compose(keep []bool, kept, factBytes int) sdk.Content {
	var b strings.Builder
	b.WriteString(d.snapshot)
	writeMessages(&b, d.messages, keep, kept, d.more)
	writeFacts(&b, d.facts, factBytes)
	if d.pointer != "" {
		b.WriteString("\n\n" + pointerHead + d.pointer)
	}
	return sdk.Content{
		Speaker:  sdk.Human,
		Blocks:   append([]sdk.Block{sdk.Text{Text: b.String()}}, d.media...),
		Metadata: json.RawMessage(`{"isSummary":true,"synthetic":true,"reason":"` + reasonSnapshot + `"}`),
	}
}

// readPointer reads the pointer to the transcript at the start of text, and returns what follows.
func readPointer(text string) (path, rest string) {
	after, ok := strings.CutPrefix(strings.TrimLeft(text, "\n"), pointerHead)
	if !ok {
		return "", text
	}
	path, rest, _ = strings.Cut(after, "\n")
	return strings.TrimSpace(path), rest
}

// The acknowledgement quotes this much of a message or of a todo, in characters.
const quoteLength = 200

// acknowledge returns what the model is made to have answered to the summary. latest is what the person said last, if
// that does not follow anyway.
func acknowledge(latest string, todos []sdk.Todo) sdk.Content {
	text := "Understood."
	if quote := quoted(latest); quote != "" {
		text += ` The most recent request of the user: "` + quote + `".`
	}
	if todo := current(todos); todo != "" {
		text += ` I continue with the current task: "` + todo + `".`
	} else {
		text += " I continue with the current task."
	}
	return sdk.Content{
		Speaker:  sdk.AI,
		Blocks:   []sdk.Block{sdk.Text{Text: text}},
		Metadata: json.RawMessage(`{"synthetic":true,"reason":"` + reasonContinuation + `"}`),
	}
}

// current returns the task that is being worked on, else the first that is to be.
func current(todos []sdk.Todo) string {
	first := ""
	for _, todo := range todos {
		switch todo.Status {
		case "in_progress":
			return quoted(todo.Content)
		case "completed":
		default:
			if first == "" {
				first = quoted(todo.Content)
			}
		}
	}
	return first
}

// quoted returns the beginning of a text on one line.
func quoted(text string) string { return strings.Join(strings.Fields(clipRun(text, quoteLength)), " ") }
