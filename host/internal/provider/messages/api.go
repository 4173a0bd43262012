package messages

import (
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// API is what is particular to one API's messages: its form, and what the rows of the form do not say. It is never
// changed.
type API struct {
	Form *provider.Form
	// Name is the form's name in entries, files and answers. It never changes.
	Name string
	// Check returns what keeps a message from being one of the form, and the part that is to blame; -1 is the whole
	// message. It asks only for what the reader needs: what a provider adds to its form must pass. The errors are for
	// authors of agents: they name the JSON field and what was expected, with at most 40 bytes of what was found.
	Check func(message ordered.Object) (part int, err error)
	// Reader returns a reader of messages that adds to b. It takes a message's position, or its line in a file.
	Reader func(b *Builder) func(at int, message ordered.Object)
	// Media reads an attachment; ok is false if there is no data.
	Media func(part ordered.Object) (m content.Media, ok bool)

	// Write writes what was planned. With exact, the system prompt was given in this form.
	Write func(p *Plan, system []content.Block, exact bool) Rendered
	// Schema is a member that the API's schemas of tools have, and others have not.
	Schema string
	// NoBlank: the API refuses blank texts. Keeps are the further fields of blocks that it takes.
	NoBlank bool
	Keeps   []string
	// Attach writes an attachment as a part of a message; ok is false for what the API does not take there. Think and
	// Call write reasoning and a call; nil where they are no parts of messages.
	Attach func(p *Plan, t Turn, m content.Media) (part []byte, ok bool)
	Think  func(p *Plan, t Turn, b content.Thinking) []byte
	Call   func(p *Plan, t Turn, c *Call) []byte
}

// The roles of messages.
const (
	System    = "system"
	Developer = "developer"
	User      = "user"
	Assistant = "assistant"
)

// Instruction reports whether messages of a role are instructions.
func Instruction(role string) bool { return role == System || role == Developer }

// The fields in which entries that an agent added in a provider's form ([Parse]) carry what the native form has no place
// for. [Render] writes it back. Each is an object, because a provider's field could have the name of a native one.
const (
	// FieldFormat of an entry's metadata is the name of the form in which it was added.
	FieldFormat = "format"
	// FieldMessage of an entry, or of the only block of its message, holds further fields of the message.
	FieldMessage = "message"
	// FieldItem of a block holds further fields of a call, or of an item of the Responses API.
	FieldItem = "item"
	// FieldRole of a system block begins a separate message, with its role. It is absent in the first block of an ordinary
	// system prompt, so a prompt of one text has no fields at all.
	FieldRole = "role"
	// fieldParts of a response says of which parts its result was made: a list with {"text": bytes, …fields} for each
	// text and {"media": true} for each attachment, or true if the result itself is the list.
	fieldParts = "parts"
)

// FlaggedError is the error of a response that only has a flag (is_error): an entry marks a failed response by a
// non-empty error, and what went wrong is in the result.
const FlaggedError = "the tool reported an error"
