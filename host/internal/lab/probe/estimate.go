package probe

import "github.com/thresh-dev/thresh/host/config"

// What sheets are expected to take that cannot be counted yet, in tokens: with as many questions as are asked for, and
// without a model's thinking.
const (
	expectedQuestions = 12
	promptTokens      = 700 // the longest prompt, without what is filled in
	questionTokens    = 110 // a question with its reference
	answerTokens      = 80
	gradeTokens       = 35
)

// Estimate is what the open sheets of a state, and those that follow from them, will take.
type Estimate struct {
	Calls, InputTokens, OutputTokens int
	// USD is nil if no prices are known.
	USD *float64
}

func (e *Estimate) call(input, output int) {
	e.Calls, e.InputTokens, e.OutputTokens = e.Calls+1, e.InputTokens+input, e.OutputTokens+output
}

// later counts the sheets of a moment that cannot be written yet: those for answers from these contexts, and the
// graders'.
func (st *State) later(p *probed, contexts []Context) {
	const asked = expectedQuestions * questionTokens
	for _, c := range contexts {
		st.expected.call(promptTokens+asked/2+c.Tokens, expectedQuestions*answerTokens)
	}
	n := len(p.distinct()) * expectedQuestions
	for range graders {
		st.expected.call(promptTokens+asked+n*answerTokens, n*gradeTokens)
	}
	st.Later += len(contexts) + len(graders)
}

// expectedOutput is what a model is expected to answer to a sheet, in tokens.
func (s *sheet) expectedOutput() int {
	switch s.stage {
	case stageQuestions:
		return expectedQuestions * questionTokens
	case stageAnswers:
		return len(s.ids) * answerTokens
	default:
		return len(s.ids) * gradeTokens
	}
}

// Estimate counts what is to be sent. What cannot be counted yet is assumed; thinking and repeated calls come on top.
func (b *Book) Estimate(st *State, m Model) (Estimate, error) {
	e := st.expected
	for _, t := range st.Todo {
		message, err := b.message(t.sheet)
		if err != nil {
			return Estimate{}, err
		}
		e.call(m.Count(message), t.sheet.expectedOutput())
	}
	if m.Prices != nil {
		usd := cost(m.Prices, e.InputTokens, e.OutputTokens)
		e.USD = &usd
	}
	return e, nil
}

// cost is in USD: prices are for a million tokens.
func cost(p *config.Prices, input, output int) float64 {
	return (float64(input)*p.Input + float64(output)*p.Output) / 1e6
}
