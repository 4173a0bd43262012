package summary

import (
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
)

// pointerHead introduces the path of the transcript. Earlier summaries are parsed by these fixed texts: if one changes,
// summaries in stored sessions are no longer taken apart but carried as plain text.
const pointerHead = "Full pre-compression transcript available at: "

// draft holds everything a summary consists of, before the choice of what fits.
type draft struct {
	snapshot string // what the model wrote, tags included
	messages []message
	more     bool // an earlier summary left messages out
	facts    facts
	pointer  string // where the transcript is
	// media are the attachments of what was said last. Older ones are left to the snapshot's words.
	media []sdk.Block
}

// compose returns the summary entry: the snapshot, then the chosen messages, facts up to factBytes bytes, and the
// pointer to the transcript, all in one text block. Attachments of the last message follow as blocks. The metadata marks
// the entry as a summary, so it is updated next time instead of being summarised again.
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

// readPointer reads the pointer that compose wrote at the start of text, and returns what follows it. path is "" and
// rest is text if there is none.
func readPointer(text string) (path, rest string) {
	after, ok := strings.CutPrefix(strings.TrimLeft(text, "\n"), pointerHead)
	if !ok {
		return "", text
	}
	path, rest, _ = strings.Cut(after, "\n")
	return strings.TrimSpace(path), rest
}

// quoteLength is how much of a message or of a todo the acknowledgement quotes, in characters.
const quoteLength = 200

// acknowledge returns the answer that the model supposedly gave to the summary. Roles have to alternate, and naming the
// request and the task keeps the model from asking what to do next. latest is the user's last message, "" if it follows
// the range anyway.
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

// current returns the first task in progress, else the first that is not completed, "" if there is none. Statuses are
// the agent's words; all but two count as "to do".
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

// quoted returns the beginning of a text on one line, so a quote cannot imitate the structure of the summary.
func quoted(text string) string { return strings.Join(strings.Fields(clipRun(text, quoteLength)), " ") }
