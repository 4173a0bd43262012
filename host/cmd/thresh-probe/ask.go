package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/probe"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// model returns the model of the profile in force, which need not be the one that strategies call.
func model(h *window.Host, limit float64) (probe.Model, error) {
	c := h.Config()
	if name := c.Settings().Profile; name != "" {
		var err error
		if c, err = c.With("compression.profile", name, "--profile"); err != nil {
			return probe.Model{}, err
		}
	}
	client, err := h.Model(c)
	if err != nil {
		return probe.Model{}, err
	}
	p := client.Profile()
	counter, err := tokens.For(p.Model, "")
	if err != nil {
		return probe.Model{}, err
	}
	m := probe.Model{
		Generate: func(ctx context.Context, r llm.Request) (llm.Result, error) { return client.Generate(ctx, r, nil) },
		Count:    counter.Text, USD: limit,
	}
	if p.Prices.Known() {
		m.Prices = &p.Prices
	}
	if m.Prices == nil && limit > 0 {
		return m, fmt.Errorf("--usd: no prices are known for %s: set profiles.%s.provider.prices", p.Model, p.Name)
	}
	return m, nil
}

// ask has the model work through what is missing. Nothing is sent without --yes, nor if it is expected to cost
// more than --usd.
func (p *program) ask(ctx context.Context, book *probe.Book, m probe.Model, w work, names, sessions []string) (
	*probe.State, error,
) {
	st, err := book.Check(names, sessions...)
	if err != nil || len(st.Todo) == 0 {
		return st, err
	}
	e, err := book.Estimate(st, m)
	if err != nil {
		return nil, err
	}
	cost := "at unknown prices"
	if m.Prices != nil {
		cost = fmt.Sprintf("about %s USD", compare.USD.Text(e.USD))
	}
	searches := ""
	if e.Searches > 0 {
		searches = " with a search for each question"
	}
	fmt.Fprintf(p.err, "thresh-probe: to be asked: %s%s, about %s tokens in and %s out, %s\n", plural(e.Calls, "call"), searches,
		table.Int(e.InputTokens), table.Int(e.OutputTokens), cost)
	switch {
	case w.usd > 0 && e.USD > w.usd:
		return nil, fmt.Errorf("nothing was sent: that is more than --usd %v", w.usd)
	case !w.yes:
		return nil, errors.New("nothing was sent: --yes sends it")
	}
	m.Progress = func(done, of int) { fmt.Fprintf(p.err, "thresh-probe: answered %d of %d\n", done, of) }
	st, asked, err := book.Ask(ctx, m, names, sessions)
	if m.Prices != nil || asked.USD > 0 { // a provider may say what a call cost
		cost = fmt.Sprintf("%.4f USD", asked.USD)
	}
	fmt.Fprintf(p.err, "thresh-probe: %s, %s tokens in and %s out, %s\n", plural(asked.Calls, "call"),
		table.Int(asked.InputTokens), table.Int(asked.OutputTokens), cost)
	if w.search {
		fmt.Fprintf(p.err, "thresh-probe: searches: %d, which brought %s of the tokens in\n", asked.Searches,
			table.Int(asked.FoundTokens))
	}
	for _, f := range asked.Failed {
		fmt.Fprintf(p.err, "thresh-probe: %s\n", f)
	}
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted; what was answered is kept, and the same command goes on")
	case err != nil:
		return nil, fmt.Errorf("%w; what was answered is kept, and the same command goes on", err)
	}
	return st, nil
}
