package provider

import "github.com/thresh-dev/thresh/sdk/content"

// API is one of the request forms that are understood.
type API string

// The APIs.
const (
	Messages  API = "messages"  // Anthropic's
	Chat      API = "chat"      // OpenAI's Chat Completions, which many servers share
	Responses API = "responses" // OpenAI's
	Gemini    API = "gemini"    // generateContent
)

// Is is what a part is to a history, and with that what may become of it.
type Is byte

// The kinds of parts. What is not known is Fixed.
const (
	// Fixed never changes and never goes.
	Fixed Is = iota
	// Text is words: what it says may be replaced.
	Text
	// Call and Result are a tool call and its result, which go together. The result may be replaced.
	Call
	Result
	// Media is an attachment. It may go with its entry.
	Media
	// Bound is reasoning: byte for byte as it is, and gone only together with its whole turn, unless it is Sealed.
	Bound
	// Own is a tool that the provider ran, its call or its result. It is the model's own, as reasoning is. Parts with
	// one id go together.
	Own
	// Fence is a summary that the provider made: what stands before it does not count any more.
	Fence
	// Extra is a further result of a call, fixed too, and its call stays with it: Codex has one for each message that a
	// script of its model gives out while it runs. No row has it: it follows from the pairing.
	Extra
)

// Kind is a row of a form: one type of item or part. Paths name members within it, with dots between them; "" is none.
type Kind struct {
	// Type is its "type", or the member that tells it from others where the form has no types.
	Type string
	Is   Is
	// By is who says it; "" is whoever the message is from. From another speaker it is Fixed.
	By content.Speaker
	// ID pairs a call with its result, and the Own parts that go together. Name is the tool's; Called is its name where
	// the form has none. IDs that may be missing are optional: calls are then answered by name and order.
	ID, Name, Called string
	Optional         bool
	// Value is the text, the arguments or the result. Quoted arguments are JSON in a string.
	Value  string
	Quoted bool
	// Keep: the value is never rewritten, though it may go. Citing is a member that has the same effect: its positions
	// refer to the text.
	Keep   bool
	Citing string
	// Failed is a flag of a result.
	Failed string
	// Mime is where an attachment says what it is, and Usual what it is if it does not: text counts as it stands.
	Mime, Usual string
	// Loads is a list of tools that the part makes known to the model, each with its name in the member LoadsName: the
	// latest that has a tool stays, or the model would see calls of a tool that it does not know.
	Loads, LoadsName string
	// Unmarked: the API takes no cache marker on it.
	Unmarked bool
	// Sealed: newer models take it back only behind exactly what it was made behind. Behind a change it goes alone, and
	// for good.
	Sealed bool
	// Inner: it stands within results only.
	Inner bool
}

// Role is one of the speakers of a form's messages.
type Role struct {
	Name    string
	Speaker content.Speaker
	Pinned  bool // instructions
}

// Part returns the kind of a part with a type; nil if it is unknown.
func (f *Form) Part(kind string) *Kind {
	for i := range f.Parts {
		if k := &f.Parts[i]; k.Type == kind && !k.Inner {
			return k
		}
	}
	return nil
}

// Speaker returns who speaks in messages of a role; "" for a role that the form does not have.
func (f *Form) Speaker(role string) content.Speaker {
	for _, r := range f.Roles {
		if r.Name == role {
			return r.Speaker
		}
	}
	return ""
}

// Form describes an API. It is never changed.
type Form struct {
	API API
	// List is the member of a request that has its items; Skip those whose values need not be told apart, as schemas of
	// tools have thousands of values.
	List string
	Skip []string
	// Continued are members of a request whose history the provider keeps, and MaxOutput the paths of what it asks for
	// at most. SessionID returns the client's own name of the conversation from the value at SessionAt.
	Continued []string
	MaxOutput []string
	SessionAt string
	SessionID func(value string) string
	// Compacts is the member with which a request asks for a summary of all that it holds; "" if there is none.
	Compacts string
	// Addressed: the model, and whether the answer is streamed, are in the address and not in the body.
	Addressed bool

	// Roles are those of messages, and Content the member with a message's text or parts. ContentText: it may be a text
	// alone. Empty lists of parts are refused unless MayBeEmpty.
	Roles                   []Role
	Content                 string
	ContentText, MayBeEmpty bool
	// Parts are the kinds of parts of messages.
	Parts []Kind
	// Items are the kinds of items that are no messages; nil if all are. MessageTypes are the types of those that are.
	Items        []Kind
	MessageTypes []string
	// CallsIn is the member with a model's calls, each of the kind Call; "" if they are parts. ResultRole is the role
	// of a message that is a result, of the kind Result. Old are members of a message that are not read any more.
	CallsIn    string
	Call       Kind
	ResultRole string
	Result     Kind
	Old        []string
	// Wrap is the member that has the text of a result, where a result must be an object, and WrapError that of an
	// error. WrapMore next to a result keeps it as it is.
	Wrap, WrapError, WrapMore string
	// Signature is a member that binds a part of any kind but calls, and Thought one that makes a text reasoning.
	Signature, Thought string

	// Flat: what the model says in a turn is a run of items, results stand anywhere behind their calls, and roles need
	// not alternate.
	Flat bool
	// BeginsWithUser: the first message that is no instruction is the user's, as a rule. PinnedFirst: it may be
	// instructions. CallsFollowUser: a call stands behind words of a person or results only.
	// Sections: instructions within the conversation, one or more in a row, follow the user, or the model where its
	// message ends with the result of a tool that the provider ran; behind them is the model, or nothing. Those without
	// content may stand anywhere.
	BeginsWithUser, PinnedFirst, CallsFollowUser, Sections bool
	// Assistant is the model's role in a new message; TextType the type of a new part of a speaker, "" for none.
	Assistant string
	TextType  func(content.Speaker) string

	// Counts is what an answer, or an event of one, reports, and Calls reads the tool calls in it.
	Counts *Counts
	Calls  func(answer []byte) []Piece
	// Plan reads what the headers of an answer, by their names, say of the windows of the user's plan, and PlanEvent
	// what an event of it says; nil where the API says nothing.
	Plan      func(header func(name string) string) []Window
	PlanEvent func(event []byte) []Window
	// TooLong reads a refusal of a request as too long; false if it is about something else.
	TooLong func(status int, answer []byte) (Refusal, bool)
	// Unsealed reports whether an answer refuses Sealed parts because something before them has changed, and SealAt and
	// ThinkAt are where a request says what becomes of such parts and how the model thinks; zero values where nothing
	// is sealed.
	Unsealed        func(status int, answer []byte) bool
	SealAt, ThinkAt string
	// Ask writes a request for a text, and Hear reads an event of its answer; nil if summaries cannot be had from the
	// API. Path is where the request goes, below Server or another.
	Ask          func(Question) any
	Hear         func(event []byte) (Heard, error)
	Server, Path string
}
