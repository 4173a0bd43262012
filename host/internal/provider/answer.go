package provider

// Usage is what a provider reported for one request, in its tokens. The zero value is no report.
type Usage struct {
	// Input is what was neither read from nor written to the provider's prompt cache.
	Input, CacheRead, CacheWrite, Output int
}

// Prompt is the size of the whole prompt. It is what a session compares its own count with.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

// maxCount is far above what a request can have, in tokens. A report with more is none: sums must not overflow.
const maxCount = 1 << 40

// Sane reports whether counts can be true.
func (u Usage) Sane() bool {
	return max(u.Input, u.CacheRead, u.CacheWrite, u.Output) <= maxCount && min(u.Input, u.CacheRead, u.CacheWrite) >= 0
}

// Add takes in a later report of the same answer, which completes earlier ones: each count is the largest that was
// reported. Anthropic reports the prompt at the beginning of a stream and once more at its end, where fields may lack.
func (u *Usage) Add(now Usage) {
	u.Input, u.CacheRead = max(u.Input, now.Input), max(u.CacheRead, now.CacheRead)
	u.CacheWrite, u.Output = max(u.CacheWrite, now.CacheWrite), max(u.Output, now.Output)
}

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
	// Usage is cumulative. Input is nil where the event counts the output only.
	Usage *Usage
	// OutputOnly: the usage has no counts of the prompt.
	OutputOnly bool
}
