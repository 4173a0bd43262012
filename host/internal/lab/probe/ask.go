package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// cost is in USD, 0 if no prices are known: prices are for a million tokens.
func (m Model) cost(input, output int) float64 {
	if m.Prices == nil {
		return 0
	}
	return (float64(input)*m.Prices.Input + float64(output)*m.Prices.Output) / 1e6
}

// parallel is how many calls run at a time: few enough for the rate limits of small accounts.
const parallel = 4

// ErrBudget: the next call might cost more than is left.
var ErrBudget = errors.New("the limit is reached")

const askSystem = "You answer with one JSON object and nothing else, and you use no tools."

type Asked struct {
	Work
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
		open := slices.DeleteFunc(slices.Clone(st.Todo), func(t Task) bool { return a.failed[t.Output] })
		if len(open) == 0 {
			return st, a.asked, nil
		}
		if err := a.all(ctx, open, a.done+len(open)+st.Later); err != nil {
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
	failed   map[string]bool // sheets, by their outputs
}

// all asks for sheets, some at a time. The first error ends it, unless other sheets may still get an answer.
func (a *asking) all(ctx context.Context, sheets []Task, of int) error {
	g, run := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for i := range sheets {
		t := &sheets[i]
		g.Go(func() error {
			if run.Err() != nil {
				return run.Err()
			}
			err := a.sheet(run, t)
			onlyThis := errors.Is(err, errUnusable) || errors.Is(err, llm.ErrContextExceeded) ||
				errors.Is(err, llm.ErrTooLarge) ||
				errors.Is(err, llm.ErrIncomplete) || errors.Is(err, llm.ErrTooLong)
			if err != nil && (!onlyThis || run.Err() != nil) {
				return err
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			if err != nil {
				a.failed[t.Output] = true
				a.asked.Failed = append(a.asked.Failed, fmt.Sprintf("%s: %v", t.Output, err))
			}
			a.done++
			if a.model.Progress != nil {
				a.model.Progress(a.done, of)
			}
			return nil
		})
	}
	return g.Wait()
}

// errUnusable is about an answer of which nothing can be used.
var errUnusable = errors.New("the model's answer cannot be used")

func (a *asking) sheet(ctx context.Context, t *Task) error {
	message, err := a.book.message(t)
	if err != nil {
		return err
	}
	best, usable := "", 0
	var problem string // with the file, which the model does not know
	for range 2 {
		again := message
		if problem != "" {
			again += fmt.Sprintf("\nAn earlier answer had a mistake: %.200s.\n", problem)
		}
		text, err := a.generate(ctx, t, again)
		if err != nil && best == "" {
			return err
		}
		if err != nil {
			break // what came first is better than nothing
		}
		n, wrong := t.judge([]byte(text))
		if n > usable || best == "" {
			best, usable = text, n
		}
		if len(wrong) == 0 {
			break
		}
		problem = strings.TrimPrefix(wrong[0], t.Output+": ")
	}
	if usable == 0 {
		return fmt.Errorf("%w: %s", errUnusable, problem)
	}
	return a.book.write(best+"\n", t.Output)
}

// generate makes one call within the budget. It returns the JSON object of the answer, without words around it.
func (a *asking) generate(ctx context.Context, t *Task, message string) (string, error) {
	tokens := a.model.Count(message)
	reserve := a.model.cost(tokens, t.expectedOutput())
	a.mu.Lock()
	if a.model.USD > 0 && a.asked.USD+a.reserved+reserve > a.model.USD {
		spent := a.asked.USD
		a.mu.Unlock()
		return "", fmt.Errorf("%w: %.4f of %.4f USD are spent", ErrBudget, spent, a.model.USD)
	}
	a.reserved += reserve
	a.mu.Unlock()

	r, err := a.model.Generate(ctx, llm.Request{
		System: askSystem, Messages: []llm.Message{{Role: llm.User, Text: message}},
	})

	a.mu.Lock()
	a.reserved -= reserve
	a.asked.add(r.InputTokens, r.OutputTokens)
	a.asked.USD += cmp.Or(r.CostUSD, a.model.cost(r.InputTokens, r.OutputTokens))
	a.mu.Unlock()
	return object(r.Text), err
}

// object returns the text from its first brace to its last: models like to put their JSON into a fence.
func object(text string) string {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return text
	}
	return text[from : to+1]
}
