package probe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// graders grade the same answers, in different orders.
var graders = []string{"A", "B"}

// State is how far a book is.
type State struct {
	// Todo are the sheets for which nothing came back yet.
	Todo []Task
	// Problems are what came back and cannot be used.
	Problems []string
	// Later counts the sheets that can be written only when others are done.
	Later int

	variants []string
	sessions []*Session
	moments  []*probed
	expected Work // of the sheets that come later
}

// probed is one moment with what came back.
type probed struct {
	session   *Session
	moment    Moment
	units     map[string]Context // by variant
	questions []*scored
	searches  map[string]searches // by unit
	// agreed counts the graded answers to which both graders gave the same grade, of those that both graded.
	agreed, both int
}

// scored is a question with the results by variant; one that is not there is missing.
type scored struct {
	question
	at      *probed
	results map[string]result
}

// result is what one variant's answer to one question was worth, by both graders.
type result struct {
	score   float64
	wrong   float64
	unknown bool
	// searches counts those for the question, found the tokens that they brought.
	searches, found float64
}

func (st *State) Moments() int { return len(st.moments) }

// Check reads what came back, writes the sheets that are possible now, and says what is missing. variants are the names
// of those that count, doing nothing among them; sessions are ids, none for all.
func (b *Book) Check(variants []string, sessions ...string) (*State, error) {
	st := &State{variants: variants}
	for _, s := range b.inOrder() {
		if len(sessions) > 0 && !slices.Contains(sessions, s.ID) {
			continue
		}
		st.sessions = append(st.sessions, s)
		for _, m := range s.Moments {
			p := &probed{session: s, moment: m, units: map[string]Context{}, searches: map[string]searches{}}
			for _, v := range s.Variants {
				if c, ok := v.Contexts[m.ID]; ok && slices.Contains(variants, v.Name) {
					p.units[v.Name] = c
				}
			}
			if err := b.check(st, p); err != nil {
				return nil, err
			}
			st.moments = append(st.moments, p)
		}
	}
	return st, nil
}

// check goes through the stages of one moment as far as they are done.
func (b *Book) check(st *State, p *probed) error {
	contexts := map[string]Context{} // by unit, each once
	for _, c := range p.units {
		contexts[c.Unit] = c
	}
	t, err := b.questionSheet(p.moment)
	if err != nil {
		return err
	}
	data, there, err := b.handOut(st, t)
	if err != nil {
		return err
	}
	if !there {
		st.later(contexts, len(contexts))
		return nil
	}
	questions, problems := t.questions(data)
	st.Problems = append(st.Problems, problems...)
	for _, id := range slices.Sorted(maps.Keys(questions)) {
		p.questions = append(p.questions, &scored{questions[id], p, map[string]result{}})
	}
	if len(questions) == 0 {
		return nil
	}
	found := map[string]map[string]answer{} // by unit and question
	for _, unit := range slices.Sorted(maps.Keys(contexts)) {
		t, err := b.answerSheet(contexts[unit], p.questions)
		if err != nil {
			return err
		}
		data, there, err := b.handOut(st, t)
		if err != nil {
			return err
		}
		if there {
			found[unit], problems = t.answers(data)
			st.Problems = append(st.Problems, problems...)
		}
		if c := contexts[unit]; c.Search {
			if p.searches[unit], err = b.searches(unit); err != nil {
				return err
			}
		}
	}
	// All at once: no grader learns which answers came together.
	if len(found) < len(contexts) {
		st.later(nil, len(contexts))
		return nil
	}
	return b.checkGrades(st, p, found)
}

// answerID changes with all that a grade depends on.
func (q *scored) answerID(answer string) string {
	return id(q.at.moment.ID, q.Question, q.Reference, q.Partly, strings.TrimSpace(answer))
}

// checkGrades gives each variant's answers the grades that they got, by unit and question.
func (b *Book) checkGrades(st *State, p *probed, found map[string]map[string]answer) error {
	answers := map[string]graded{}
	for _, q := range p.questions {
		for _, of := range found {
			if a, ok := of[q.id]; ok && !a.Unknown {
				id := q.answerID(a.Answer)
				answers[id] = graded{id, a.Answer, q.question}
			}
		}
	}
	all := byID(slices.Collect(maps.Values(answers)), func(g graded) string { return g.ID })
	var given [2]map[string]grade
	for i, grader := range graders {
		given[i] = map[string]grade{}
		sheets, err := b.gradeSheets(p.moment, grader, all)
		if err != nil {
			return err
		}
		for _, t := range sheets {
			data, there, err := b.handOut(st, t)
			if err != nil {
				return err
			}
			if there {
				grades, problems := t.grades(data)
				st.Problems = append(st.Problems, problems...)
				maps.Copy(given[i], grades)
			}
		}
	}
	for id, a := range given[0] {
		if b, ok := given[1][id]; ok {
			p.both++
			if a.Grade == b.Grade {
				p.agreed++
			}
		}
	}
	for variant, c := range p.units {
		for _, q := range p.questions {
			a, ok := found[c.Unit][q.id]
			if ok && a.Unknown {
				q.results[variant] = p.result(c.Unit, q, result{unknown: true})
			}
			if !ok || a.Unknown {
				continue
			}
			id := q.answerID(a.Answer)
			r, grades := result{}, 0
			for _, by := range given {
				if g, ok := by[id]; ok {
					grades++
					r.score += worth[g.Grade] / 2
					if *g.Wrong {
						r.wrong += 0.5
					}
				}
			}
			if grades == len(given) {
				q.results[variant] = p.result(c.Unit, q, r)
			}
		}
	}
	return nil
}

// result adds to what an answer was worth what was searched for it: of what was searched for any, its share.
func (p *probed) result(unit string, q *scored, r result) result {
	all, share := p.searches[unit], 1/float64(len(p.questions))
	for _, s := range all.by[q.id] {
		r.searches++
		r.found += float64(s.Tokens)
	}
	for _, s := range all.any {
		r.searches += share
		r.found += share * float64(s.Tokens)
	}
	return r
}

// searchUSD is what the searches at a moment would have cost the session: each is one more request, which reads what
// the variant left from the provider's cache.
func (p *probed) searchUSD(c Context, l *pricing.List) (usd float64) {
	all := p.searches[c.Unit]
	for _, s := range slices.Concat(append(slices.Collect(maps.Values(all.by)), all.any)...) {
		prompt := pricing.Prompt{CacheRead: c.Tokens, CacheWrite: s.Asked + s.Tokens}
		usd += l.Cost(prompt).USD + float64(s.Asked)*l.Output/1e6
	}
	return usd
}

// What sheets are expected to take that cannot be counted yet, in tokens: with as many questions as are asked for, one
// search for each, and without a model's thinking.
const (
	expectedQuestions = 12
	promptTokens      = 700 // the longest prompt, without what is filled in
	questionTokens    = 110 // a question with its reference
	answerTokens      = 80
	gradeTokens       = 35
	foundTokens       = 400 // what a search brings
)

// Work is calls of a model and what they take, as expected or as counted.
type Work struct {
	Calls, InputTokens, OutputTokens int
	// Searches are calls of the tool by the model, FoundTokens what they brought, which is among the input.
	Searches, FoundTokens int
	USD                   float64 // 0 if no prices are known

	again int // input tokens that were sent before, and may come from the provider's cache
}

func (w *Work) add(input, output int) {
	w.Calls, w.InputTokens, w.OutputTokens = w.Calls+1, w.InputTokens+input, w.OutputTokens+output
}

// addAnswers adds a sheet for answers. Each search is a call more.
func (w *Work) addAnswers(input, questions int, search bool) {
	w.add(input, questions*answerTokens)
	if !search {
		return
	}
	for range questions {
		w.again += input
		input += foundTokens
		w.add(input, 0)
		w.Searches, w.FoundTokens = w.Searches+1, w.FoundTokens+foundTokens
	}
}

// later counts the sheets of a moment that cannot be written yet: those for answers from these contexts, and the
// graders', with the answers from so many.
func (st *State) later(contexts map[string]Context, answered int) {
	const asked = expectedQuestions * questionTokens
	for _, c := range contexts {
		st.expected.addAnswers(promptTokens+asked/2+c.Tokens, expectedQuestions, c.Search)
	}
	n := answered * expectedQuestions
	for range graders {
		st.expected.add(promptTokens+asked+n*answerTokens, n*gradeTokens)
	}
	st.Later += len(contexts) + len(graders)
}

// expectedOutput is what a model is expected to answer to a sheet, in tokens.
func (t *Task) expectedOutput() int {
	switch t.Stage {
	case stageQuestions:
		return expectedQuestions * questionTokens
	case stageAnswers:
		return len(t.ids) * answerTokens
	default:
		return len(t.ids) * gradeTokens
	}
}

// Estimate counts what is to be sent. What cannot be counted yet is assumed; thinking and repeated calls come on top.
func (b *Book) Estimate(st *State, m Model) (Work, error) {
	w := st.expected
	for i := range st.Todo {
		message, err := b.message(&st.Todo[i])
		if err != nil {
			return Work{}, fmt.Errorf("%s: %w", st.Todo[i].Sheet, err)
		}
		if t := &st.Todo[i]; t.Stage == stageAnswers {
			w.addAnswers(m.Count(message), len(t.ids), t.searches)
		} else {
			w.add(m.Count(message), t.expectedOutput())
		}
	}
	w.USD = m.cost(llm.Result{InputTokens: w.InputTokens, CacheRead: w.again, OutputTokens: w.OutputTokens})
	return w, nil
}
