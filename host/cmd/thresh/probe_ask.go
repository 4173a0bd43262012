package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/probe"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// probeBook is where sheets are kept that a provider's model works through. One place serves all runs: what was
// answered once is not asked again.
func (a *app) probeBook() (string, error) {
	dir, err := a.cache()
	if err != nil {
		return "", fmt.Errorf("a place to keep answers: %w", err)
	}
	return filepath.Join(dir, "thresh", "probe"), nil
}

// probeModel returns the model of the profile in force, which need not be the one that strategies call.
func (a *app) probeModel(h *window.Host, limit float64) (probe.Model, error) {
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

// askProbes has the model work through what is missing. Nothing is sent without --yes, nor if it is expected to cost
// more than --usd.
func (a *app) askProbes(cmd *cobra.Command, book *probe.Book, m probe.Model, p probing, names, sessions []string) (
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
	fmt.Fprintf(a.err, "thresh: to be asked: %s%s, about %s tokens in and %s out, %s\n", plural(e.Calls, "call"), searches,
		table.Int(e.InputTokens), table.Int(e.OutputTokens), cost)
	switch {
	case p.usd > 0 && e.USD > p.usd:
		return nil, fmt.Errorf("nothing was sent: that is more than --usd %v", p.usd)
	case !p.yes:
		return nil, errors.New("nothing was sent: --yes sends it")
	}
	bar := newProgress(a.err)
	m.Progress = func(done, of int) { bar.step("answered", done-1, of) }
	st, asked, err := book.Ask(cmd.Context(), m, names, sessions)
	bar.clear()
	if m.Prices != nil || asked.USD > 0 { // a provider may say what a call cost
		cost = fmt.Sprintf("%.4f USD", asked.USD)
	}
	fmt.Fprintf(a.err, "thresh: %s, %s tokens in and %s out, %s\n", plural(asked.Calls, "call"),
		table.Int(asked.InputTokens), table.Int(asked.OutputTokens), cost)
	if p.search {
		fmt.Fprintf(a.err, "thresh: searches: %d, which brought %s of the tokens in\n", asked.Searches,
			table.Int(asked.FoundTokens))
	}
	for _, f := range asked.Failed {
		fmt.Fprintf(a.err, "thresh: %s\n", f)
	}
	switch {
	case cmd.Context().Err() != nil:
		return nil, errors.New("interrupted; what was answered is kept, and the same command goes on")
	case err != nil:
		return nil, fmt.Errorf("%w; what was answered is kept, and the same command goes on", err)
	}
	return st, nil
}
