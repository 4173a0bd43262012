package provider

// Refusal is what a refusal of a request as too long says. The zero value says that it is too long, and no numbers.
type Refusal struct {
	// Limit is the most that a request may have, and Tokens how many this one had, both in the provider's tokens; 0 if
	// it does not say.
	Limit, Tokens int
}

// Question is a request for a text.
type Question struct {
	Model, System string
	Turns         []Turn
	MaxOutput     int
	// OldLimit: the server knows only the older name of the limit of the answer, if the form has two.
	OldLimit bool
}

// Turn is what one side says. Roles alternate.
type Turn struct {
	Role  string // "user" or "assistant"
	Texts []string
}

// Heard is what one event of an answer says; what it does not say is zero.
type Heard struct {
	Text, Model, Finish string
	// Usage is what was counted so far. Some events count the output only.
	Usage Usage
}

// Piece is a part of a tool call in an answer: all of it, or what one event of a stream has of it.
type Piece struct {
	// Call tells which of the answer's calls it is of, where a call comes in pieces; "" for a whole one.
	Call string
	// ID and Name are the call's, "" in later pieces of it, and Arguments what the piece has of their text.
	ID, Name, Arguments string
}
