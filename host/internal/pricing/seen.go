package pricing

// CommonWindow is taken for the window of a model of which nothing is known, in tokens, as model.contextLimit is by
// default.
const CommonWindow = 200_000

// Seen is what is known of a model's window besides its row: in tokens as its provider counts them, 0 for nothing.
type Seen struct {
	// Answered is the largest prompt that was answered, and Refused the limit that the last refusal told.
	Answered, Refused int
	// Told is what the agent said, or asked for.
	Told int
}

// KnownBy says what a window is known by.
type KnownBy string

// What a window is known by. The zero value is unknown.
const (
	ByAnswer  KnownBy = "answer"
	ByRefusal KnownBy = "refusal"
	ByAgent   KnownBy = "agent"
	ByModel   KnownBy = "model"
)

// Window returns the size of a model's window. What was answered and refused counts before what the agent said, and
// that before the model's row. An answered prompt that is larger than the rest says is no more than a lower bound: then
// it is the smallest window of some model that holds it. Of an unknown one that is at least [CommonWindow].
func (s Seen) Window(model string) (tokens int, by KnownBy) {
	if tokens = WindowOf(model).Input; tokens > 0 {
		by = ByModel
	}
	if s.Told > 0 {
		tokens, by = s.Told, ByAgent
	}
	if s.Refused > 0 && s.Refused >= s.Answered {
		tokens, by = s.Refused, ByRefusal
	}
	switch {
	case by == "":
		tokens = max(CommonWindow, HoldingWindow(s.Answered))
	case s.Answered > tokens:
		tokens, by = HoldingWindow(s.Answered), ByAnswer
	}
	return tokens, by
}
