package transcript

import (
	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// attachment reads what Claude Code put into the conversation besides: files that a person mentioned, changes of files,
// output of hooks, lists of tasks and tools, and what a person said while the model was working. The record has the
// content; the words around it are the agent's own, and are not recorded.
func (c *claudeThread) attachment(r record, attached ordered.Object) {
	t := attached.Text("type")
	meta := stamped(r.Raw("timestamp"))
	meta.Flag("isMeta", t != "queued_command")
	meta.Text("attachment", t)
	meta.Flag(fromFork, r.Has("forkedFrom"))
	var blocks []content.Block
	for _, field := range []string{"prompt", "content", "snippet", "addedLines", "addedBlocks", "skills", "files",
		"blockingError", "newDate"} {
		blocks = append(blocks, attachedBlocks(attached.Raw(field), maxAttached)...)
	}
	event := attached.Text("hookEvent")
	unseen := isClaudeUnseen(t) ||
		t == "hook_success" && (len(blocks) == 0 || event != "SessionStart" && event != "UserPromptSubmit")
	if why := "which the model did not see"; unseen || len(blocks) == 0 {
		if !unseen {
			why = "which the model saw in words that are not recorded"
		}
		c.b.tally.Routine(r.line, -1, "attachment of type "+ordered.Clip([]byte(t))+", "+why+", left out")
		return
	}
	c.b.Add(r.line, content.Content{Speaker: content.Human, Blocks: blocks, Metadata: meta.JSON()})
}

// isClaudeUnseen reports whether attachments of a type are for the screen or the agent alone.
var isClaudeUnseen = nameIn("already_read_file", "command_permissions", "edited_image_file", "hook_cancelled",
	"hook_error_during_execution", "hook_non_blocking_error", "hook_permission_decision", "hook_system_message",
	"structured_output")

// maxAttached is how deep the content of an attachment is looked into. Each level is read again, and Claude Code nests
// three.
const maxAttached = 8

// attachedBlocks returns the texts and images in the content of an attachment: text, parts of a message, a file, or a
// list of these, nested at most depth times.
func attachedBlocks(raw []byte, depth int) (out []content.Block) {
	if text, ok := rawjson.Text(raw); ok && text != "" {
		return messages.One(content.Text{Text: text})
	}
	if depth == 0 {
		return messages.One(content.Text{Text: string(raw)})
	}
	list, _ := ordered.Elements(raw)
	for _, part := range list {
		out = append(out, attachedBlocks(part, depth-1)...)
	}
	o := ordered.Of(raw)
	if o == nil {
		return out
	}
	if m, ok := anthropic.Messages.Media(o); ok {
		return messages.One(m)
	}
	if data := o.Text("base64"); data != "" {
		return messages.One(content.Media{MimeType: o.Text("type"), Data: data, Encoding: "base64"})
	}
	if inner := ordered.First(o.Raw("file"), o.Raw("content"), o.Raw("text"), o.Raw("blockingError")); inner != nil {
		return attachedBlocks(inner, depth-1)
	}
	return messages.One(content.Text{Text: string(raw)}) // such as a task
}
