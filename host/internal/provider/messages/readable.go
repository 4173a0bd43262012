package messages

import (
	"fmt"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Readable returns a block as people read it, in full except for base64 data of attachments.
func Readable(b content.Block) string {
	switch b := b.(type) {
	case content.Text:
		return b.Text
	case content.Code:
		return b.Code
	case content.Thinking:
		return "(thinking) " + b.Thought
	// With its id, by which the model and the outcomes name it.
	case content.ToolCall:
		return fmt.Sprintf("(calls %s, %s) %s", b.Name, b.ID, b.Parameters)
	case content.ToolResponse:
		head := fmt.Sprintf("(%s answers %s)\n", b.ToolName, b.CallID)
		if b.Failed() {
			head += "error: " + b.Error + "\n"
		}
		return head + b.ResultText()
	case content.Media:
		return fmt.Sprintf("(attachment %s %s, %d bytes as %s)", b.MimeType, b.Filename, len(b.Data), b.Encoding)
	default:
		return string(content.AppendBlock(nil, b))
	}
}
