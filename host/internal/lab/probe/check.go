package probe

import (
	"maps"
	"path"
	"slices"
)

// State is how far a book is.
type State struct {
	// Todo are the sheets for which nothing came back yet.
	Todo []Task `json:"todo"`
	// Problems are what came back and cannot be used.
	Problems []Problem `json:"problems"`
	// Later counts the sheets that can be written only when others are done.
	Later int `json:"later"`

	variants []string
	moments  []*probed
	expected Estimate // of the sheets that come later
}

// Task is a sheet that is to be worked through.
type Task struct {
	Stage  string `json:"stage"`
	Sheet  string `json:"sheet"`  // the file that says what to do
	Output string `json:"output"` // the file for the outcome

	sheet *sheet
}

// probed is one moment with what came back.
type probed struct {
	session   *Session
	moment    Moment
	questions []question
	// units are the contexts by variant.
	units map[string]Context
	// results are by variant and question; one that is not there is missing.
	results map[string]map[string]result
	// agreed counts the graded answers to which both graders gave the same grade, of those that both graded.
	agreed, both int
}

// result is what one variant's answer to one question was worth, by both graders.
type result struct {
	score   float64
	wrong   float64
	unknown bool
}

// Check reads what came back, writes the sheets that are possible now, and says what is missing. variants are the names
// of those that count, doing nothing among them.
func (b *Book) Check(variants []string, sessions ...string) (*State, error) {
	st := &State{Todo: []Task{}, Problems: []Problem{}, variants: variants}
	for _, s := range b.sessions {
		if len(sessions) > 0 && !slices.Contains(sessions, s.ID) {
			continue
		}
		for _, m := range s.Moments {
			p := &probed{session: s, moment: m, units: map[string]Context{}, results: map[string]map[string]result{}}
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
	contexts := p.distinct()
	qs, err := b.questionSheet(p.moment)
	if err != nil {
		return err
	}
	data, there, err := b.handOut(st, qs)
	if err != nil {
		return err
	}
	if !there {
		st.later(p, contexts)
		return nil
	}
	var problems []Problem
	p.questions, problems = questions(qs, p.moment, data)
	st.Problems = append(st.Problems, problems...)
	if len(p.questions) == 0 {
		return nil
	}
	found := map[string]map[string]answer{}
	for _, c := range contexts {
		s, err := b.answerSheet(c.Unit, p.questions)
		if err != nil {
			return err
		}
		data, there, err := b.handOut(st, s)
		if err != nil {
			return err
		}
		if there {
			found[c.Unit], problems = answers(s, data)
			st.Problems = append(st.Problems, problems...)
		}
	}
	// All at once: no grader learns which answers came together.
	if len(found) < len(contexts) {
		st.later(p, nil)
		return nil
	}
	return b.checkGrades(st, p, found)
}

// handOut writes a sheet, and returns what came back for it. Without that, it is to be worked through.
func (b *Book) handOut(st *State, s *sheet) (data []byte, there bool, err error) {
	if err := b.writeSheet(s); err != nil {
		return nil, false, err
	}
	data, there, err = b.reply(s)
	if err == nil && !there {
		st.Todo = append(st.Todo, Task{s.stage, path.Join(s.dir, sheetFile), path.Join(s.dir, s.output), s})
	}
	return data, there, err
}

// distinct returns the contexts of a moment, each once.
func (p *probed) distinct() []Context {
	units := map[string]Context{}
	for _, c := range p.units {
		units[c.Unit] = c
	}
	return byID(slices.Collect(maps.Values(units)), func(c Context) string { return c.Unit })
}

func (b *Book) checkGrades(st *State, p *probed, answers map[string]map[string]answer) error {
	var all []graded
	for _, q := range p.questions {
		for _, found := range answers {
			a, ok := found[q.id]
			g := graded{answerID(p.moment, q, a.Answer), a.Answer, q}
			known := slices.ContainsFunc(all, func(o graded) bool { return o.ID == g.ID })
			if ok && !a.Unknown && !known {
				all = append(all, g)
			}
		}
	}
	all = byID(all, func(g graded) string { return g.ID })
	var given [2]map[string]grade
	for i, grader := range graders {
		given[i] = map[string]grade{}
		sheets, err := b.gradeSheets(p.moment, grader, all)
		if err != nil {
			return err
		}
		for _, s := range sheets {
			data, there, err := b.handOut(st, s)
			if err != nil {
				return err
			}
			if !there {
				continue
			}
			found, problems := grades(s, data)
			st.Problems = append(st.Problems, problems...)
			maps.Copy(given[i], found)
		}
	}
	p.score(answers, given)
	return nil
}

// score gives each variant's answers the grades that they got.
func (p *probed) score(answers map[string]map[string]answer, given [2]map[string]grade) {
	for id, a := range given[0] {
		if b, ok := given[1][id]; ok {
			p.both++
			if a.Grade == b.Grade {
				p.agreed++
			}
		}
	}
	for variant, c := range p.units {
		p.results[variant] = map[string]result{}
		for _, q := range p.questions {
			a, ok := answers[c.Unit][q.id]
			if !ok {
				continue
			}
			if a.Unknown {
				p.results[variant][q.id] = result{unknown: true}
				continue
			}
			id := answerID(p.moment, q, a.Answer)
			first, ok := given[0][id]
			second, too := given[1][id]
			if !ok || !too {
				continue
			}
			r := result{score: (worth[first.Grade] + worth[second.Grade]) / 2}
			for _, g := range []grade{first, second} {
				if *g.Wrong {
					r.wrong += 0.5
				}
			}
			p.results[variant][q.id] = r
		}
	}
}

// Moments returns how many moments there are.
func (st *State) Moments() int { return len(st.moments) }
