package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/llm"
)

// Model is who works through the sheets.
type Model struct {
	Generate func(context.Context, llm.Request) (llm.Result, error)
	Count    func(text string) int // in tokens
	Prices   *config.Prices        // nil if none are known
	// USD is the most that calls may cost; 0 is no limit.
	USD float64
	// Progress is called after each call, never twice at a time. May be nil.
	Progress func(done, of int)
}

// parallel is how many calls run at a time: few enough for the rate limits of small accounts.
const parallel = 4

// ErrBudget: the next call might cost more than is left.
var ErrBudget = errors.New("the limit is reached")

const askSystem = "You answer with one JSON object and nothing else, and you use no tools."

// Asked is what asking took.
type Asked struct {
	Calls, InputTokens, OutputTokens int
	USD                              float64
	// Failed are the sheets to which no usable answer came.
	Failed []string
}

// Ask has the model work through the sheets of all stages. Each answer is kept when it comes: what was answered before
// an error or the end of ctx is not asked again. An answer that cannot be used is asked for once more; then it costs
// its sheet, or what is wrong of it, and the others go on. The state is the last one.
func (b *Book) Ask(ctx context.Context, m Model, variants, sessions []string) (*State, Asked, error) {
	a := asking{book: b, model: m, failed: map[string]bool{}}
	for {
		st, err := b.Check(variants, sessions...)
		if err != nil {
			return nil, a.asked, err
		}
		var open []*sheet
		for _, t := range st.Todo {
			if !a.failed[t.sheet.dir] {
				open = append(open, t.sheet)
			}
		}
		if len(open) == 0 {
			return st, a.asked, nil
		}
		if err := a.all(ctx, open, len(open)+st.Later); err != nil {
			return st, a.asked, err
		}
	}
}

type asking struct {
	book  *Book
	model Model

	mu       sync.Mutex
	asked    Asked
	reserved float64 // USD that the calls that are running may cost
	done     int
	failed   map[string]bool // sheets, by their directories
}

// all asks for sheets, some at a time. The first error ends it.
func (a *asking) all(ctx context.Context, sheets []*sheet, left int) error {
	g, run := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	of := a.done + left
	for _, s := range sheets {
		g.Go(func() error {
			if run.Err() != nil {
				return run.Err()
			}
			err := a.sheet(run, s)
			if err != nil && a.costsOnlyThis(run, err) {
				a.mu.Lock()
				a.failed[s.dir] = true
				a.asked.Failed = append(a.asked.Failed, fmt.Sprintf("%s: %v", path.Join(s.dir, s.output), err))
				a.mu.Unlock()
				err = nil
			}
			if err == nil {
				a.progress(of)
			}
			return err
		})
	}
	return g.Wait()
}

// costsOnlyThis reports whether other sheets may still get an answer.
func (a *asking) costsOnlyThis(ctx context.Context, err error) bool {
	var unusable *unusableError
	return ctx.Err() == nil && (errors.As(err, &unusable) || errors.Is(err, llm.ErrContextExceeded) ||
		errors.Is(err, llm.ErrIncomplete) || errors.Is(err, llm.ErrTooLong))
}

func (a *asking) progress(of int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done++
	if a.model.Progress != nil {
		a.model.Progress(a.done, of)
	}
}

// unusableError is about an answer of which nothing can be used.
type unusableError struct{ problems []Problem }

func (e *unusableError) Error() string {
	return fmt.Sprintf("the model's answer cannot be used: %s", e.problems[0].Message)
}

// sheet asks for one sheet and keeps the answer.
func (a *asking) sheet(ctx context.Context, s *sheet) error {
	message, err := a.book.message(s)
	if err != nil {
		return err
	}
	best, usable := "", 0
	var problems []Problem
	for range 2 {
		again := message
		if len(problems) > 0 {
			again += fmt.Sprintf("\nAn earlier answer had a mistake: %.200s.\n", problems[0].Message)
		}
		text, err := a.generate(ctx, s, again)
		if err != nil && best == "" {
			return err
		}
		if err != nil {
			break // what came first is better than nothing
		}
		n, wrong := s.judge([]byte(text))
		if n > usable || best == "" {
			best, usable = text, n
		}
		if problems = wrong; len(problems) == 0 {
			break
		}
	}
	if usable == 0 {
		return &unusableError{problems}
	}
	return a.book.write(best+"\n", s.dir, s.output)
}

// generate makes one call within the budget. It returns the JSON object of the answer, without words around it.
func (a *asking) generate(ctx context.Context, s *sheet, message string) (string, error) {
	tokens := a.model.Count(message)
	reserve := 0.0
	if a.model.Prices != nil {
		reserve = cost(a.model.Prices, tokens, s.expectedOutput())
	}
	a.mu.Lock()
	if a.model.USD > 0 && a.asked.USD+a.reserved+reserve > a.model.USD {
		spent := a.asked.USD
		a.mu.Unlock()
		return "", fmt.Errorf("%w: %.4f of %.4f USD are spent", ErrBudget, spent, a.model.USD)
	}
	a.reserved += reserve
	a.mu.Unlock()

	r, err := a.model.Generate(ctx, llm.Request{
		System: askSystem, Messages: []llm.Message{{Role: llm.User, Text: message}}, InputTokens: tokens,
	})

	a.mu.Lock()
	a.reserved -= reserve
	a.asked.Calls++
	a.asked.InputTokens += r.InputTokens
	a.asked.OutputTokens += r.OutputTokens
	switch {
	case r.CostUSD > 0:
		a.asked.USD += r.CostUSD
	case a.model.Prices != nil:
		a.asked.USD += cost(a.model.Prices, r.InputTokens, r.OutputTokens)
	}
	a.mu.Unlock()
	return object(r.Text), err
}

// object returns the text from its first brace to its last: models like to put their JSON into a fence.
func object(text string) string {
	data := []byte(text)
	from, to := bytes.IndexByte(data, '{'), bytes.LastIndexByte(data, '}')
	if from < 0 || to < from {
		return text
	}
	return text[from : to+1]
}
