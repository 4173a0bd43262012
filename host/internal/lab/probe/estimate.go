package probe

import (
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// size is what calls send and get, in tokens.
type size struct{ calls, input, output int }

func (s *size) add(o size) {
	s.calls, s.input, s.output = s.calls+o.calls, s.input+o.input, s.output+o.output
}

// What sheets are expected to take that cannot be counted yet, in tokens: with as many questions as are asked for, and
// without a model's thinking.
const (
	expectedQuestions = 12
	promptTokens      = 700 // the longest prompt, without what is filled in
	questionTokens    = 110 // a question with its reference
	answerTokens      = 80
	gradeTokens       = 35
)

// later counts the sheets of a moment that cannot be written yet: one for each of the contexts, and the graders'.
func (st *State) later(p *probed, units []string) {
	const asked = expectedQuestions * questionTokens
	for _, c := range p.contexts(units) {
		st.expected.add(size{1, promptTokens + asked/2 + c.Tokens, expectedQuestions * answerTokens})
	}
	n := len(p.distinct()) * expectedQuestions
	for range graders {
		st.expected.add(size{1, promptTokens + asked + n*answerTokens, n * gradeTokens})
	}
	st.Later += len(units) + len(graders)
}

// contexts returns one context for each of the units.
func (p *probed) contexts(units []string) (out []Context) {
	for _, unit := range units {
		for _, c := range p.units {
			if c.Unit == unit {
				out = append(out, c)
				break
			}
		}
	}
	return out
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

// Estimate is what the open sheets of a state, and those that follow from them, will take.
type Estimate struct {
	Calls        int `json:"calls"`
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"`
	// USD is nil if no prices are known.
	USD *float64 `json:"usd"`
}

// Estimate counts what is to be sent. What cannot be counted yet is assumed; thinking and repeated calls come on top.
func (b *Book) Estimate(st *State, m Model) (Estimate, error) {
	all := st.expected
	for _, t := range st.Todo {
		message, err := b.message(t.sheet)
		if err != nil {
			return Estimate{}, err
		}
		all.add(size{1, m.Count(message), t.sheet.expectedOutput()})
	}
	e := Estimate{Calls: all.calls, InputTokens: all.input, OutputTokens: all.output}
	if m.Prices != nil {
		usd := m.Prices.of(all.input, all.output)
		e.USD = &usd
	}
	return e, nil
}

// Prices are in USD for a million tokens.
type Prices struct{ Input, Output float64 }

func (p *Prices) of(input, output int) float64 {
	return (float64(input)*p.Input + float64(output)*p.Output) / 1e6
}

// PricesOf returns a profile's own prices, else those of a price list, else nil.
func PricesOf(p config.Prices, l *pricing.List) *Prices {
	switch {
	case p.Input > 0 || p.Output > 0:
		return &Prices{p.Input, p.Output}
	case l != nil:
		return &Prices{l.Input, l.Output}
	}
	return nil
}
