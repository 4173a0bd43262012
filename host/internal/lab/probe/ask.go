package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/provider"
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

// cost is in USD: what the provider said, or follows from the prices; 0 if none are known.
func (m Model) cost(r llm.Result) float64 {
	if m.Prices == nil {
		return r.CostUSD
	}
	return cmp.Or(r.CostUSD, r.Cost(*m.Prices))
}

// parallel is how many calls run at a time: few enough for the rate limits of small accounts.
const parallel = 4

// ErrBudget: the next call might cost more than is left.
var ErrBudget = errors.New("the limit is reached")

const (
	askSystem    = "You answer with one JSON object and nothing else, and you use no tools."
	searchSystem = "You answer with one JSON object and nothing else. Before it, you may call " + mcp.Tool +
		", and no other tool."
)

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

// all asks for sheets, some at a time. After the first error no other is begun, unless others may still get an answer;
// those begun get theirs, as they are paid for.
func (a *asking) all(ctx context.Context, sheets []Task, of int) error {
	g, run := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for i := range sheets {
		t := &sheets[i]
		g.Go(func() error {
			if run.Err() != nil {
				return run.Err()
			}
			err := a.sheet(ctx, t)
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
	var best answered
	usable := 0
	var problem string // with the file, which the model does not know
	for n := range 2 {
		again := message
		if problem != "" {
			again += fmt.Sprintf("\nAn earlier answer had a mistake: %.200s.\n", problem)
		}
		now, err := a.answer(ctx, t, again)
		if err != nil && n == 0 {
			return err
		}
		if err != nil {
			break // what came first is better than nothing
		}
		count, wrong := t.judge([]byte(now.text))
		if count > usable || n == 0 {
			best, usable = now, count
		}
		if len(wrong) == 0 {
			break
		}
		problem = strings.TrimPrefix(wrong[0], t.Output+": ")
	}
	if usable == 0 {
		return fmt.Errorf("%w: %s", errUnusable, problem)
	}
	if t.searches { // first: the answer says that the sheet is done
		if err := a.book.writeJSON(best.searched, t.dir, searchesFile); err != nil {
			return err
		}
	}
	return a.book.write(best.text+"\n", t.Output)
}

// answered is the JSON object of an answer, without words around it, and what was searched for it.
type answered struct {
	text     string
	searched []searched
}

// answer asks the model for the answer to a sheet, and searches for it as often as it may.
func (a *asking) answer(ctx context.Context, t *Task, message string) (out answered, err error) {
	c := conversation{asking: a, sheet: t, count: a.model.Count(message), left: maxSearches * len(t.ids),
		searched: []searched{}}
	c.request = llm.Request{System: askSystem, Messages: []llm.Message{{Role: llm.User, Text: message}}}
	if t.searches {
		if c.lookup, err = a.book.lookup(ctx, path.Base(t.dir)); err != nil {
			return out, err
		}
		c.request.System = searchSystem
		c.request.Tools = []provider.Tool{{Name: mcp.Tool, Description: mcp.Description, Schema: mcp.Schema}}
	}
	text, err := c.run(ctx)
	return answered{object(text), c.searched}, err
}

// generate makes one call within the budget. count is that of the request.
func (a *asking) generate(ctx context.Context, t *Task, r llm.Request, count int) (llm.Result, error) {
	reserve := a.model.cost(llm.Result{InputTokens: count, OutputTokens: t.expectedOutput()})
	a.mu.Lock()
	if a.model.USD > 0 && a.asked.USD+a.reserved+reserve > a.model.USD {
		spent := a.asked.USD
		a.mu.Unlock()
		return llm.Result{}, fmt.Errorf("%w: %.4f of %.4f USD are spent", ErrBudget, spent, a.model.USD)
	}
	a.reserved += reserve
	a.mu.Unlock()

	result, err := a.model.Generate(ctx, r)

	a.mu.Lock()
	defer a.mu.Unlock()
	a.reserved -= reserve
	a.asked.add(result.InputTokens, result.OutputTokens)
	a.asked.USD += a.model.cost(result)
	return result, err
}

// object returns the text from its first brace to its last: models like to put their JSON into a fence.
func object(text string) string {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return text
	}
	return text[from : to+1]
}
