package outcome

import "github.com/thresh-dev/thresh/sdk/content"

// Place is where lines of a session stand: in which block of which entry, as it was added.
type Place struct {
	// Entry is the entry's id, as in [Change], and Block the position of the block in it, from 0.
	Entry string `json:"entry"`
	Block int    `json:"block" jsonschema:"position in the entry, from 0"`
	// Line is the first line in the block's text, from 1, and Lines how many there are.
	Line  int `json:"line" jsonschema:"the first, from 1"`
	Lines int `json:"lines" jsonschema:"how many"`
}

// Found is what a search found, the best passage first.
type Found struct {
	Passages []Passage `json:"passages"`
	// More is how many more passages have as many of the words, at most: a greater limit shows them.
	More int `json:"more,omitempty" jsonschema:"passages that have as many of the words and are not shown, at most"`
	// Absent are the words of the query that stand nowhere in what was searched.
	Absent []string `json:"absent,omitempty" jsonschema:"words of the query that are nowhere in what was searched"`
}

// Again is where much the same stood as in a passage, at another time.
type Again struct {
	Place
	Turn int `json:"turn" jsonschema:"how many messages of people until then"`
	// Changed says that not every line was the same.
	Changed bool `json:"changed,omitempty" jsonschema:"not every line was the same"`
}

// Result is where the result of a call is that was found, and the first and the last lines of its text.
type Result struct {
	Entry string `json:"entry"`
	Block int    `json:"block"`
	// Of is how many lines the whole text has.
	Of   int    `json:"of" jsonschema:"how many lines it has"`
	Text string `json:"text"`
}

// Passage is lines of what was added to a session. What a search finds is the function, the record, the paragraph in
// which the words are, or the part of it that there is room for: at most 60 lines before and after them.
type Passage struct {
	Place
	// Of is how many lines the block's text has.
	Of int `json:"of" jsonschema:"how many lines the block has"`
	// Turn is how many messages of people there were until then.
	Turn    int             `json:"turn" jsonschema:"how many messages of people until then"`
	Speaker content.Speaker `json:"speaker"`
	// Kind is the block's: text, code, tool_call or tool_response.
	Kind string `json:"kind"`
	// Tool and Argument are those of a call, or of the call that a result answers: the tool, and what the call was
	// about, such as a path or a command. Call is the call's id. Each is "" if it is not known.
	Tool     string `json:"tool,omitempty"`
	Argument string `json:"argument,omitempty"`
	Call     string `json:"call,omitempty"`
	// Text is as it was added; of a call it is each argument behind its name.
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
	// Also is where much the same stood earlier, the latest first. Result is that of a call, unless it is sent or shown
	// anyway.
	Also   []Again `json:"also,omitempty"`
	Result *Result `json:"result,omitempty"`
	// Score orders what one search found; of others, and of lines that were read, it says nothing.
	Score float64 `json:"-"`
}
