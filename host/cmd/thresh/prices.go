package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/table"
)

// pricesCommand shows price lists. Its own -o flag can also print YAML in the format that model.priceFile reads: the
// quickest way to a price list is to edit a built-in one.
func pricesCommand(a *app) *cobra.Command {
	var output string
	formats := []string{"text", "json", "yaml"}
	cmd := &cobra.Command{
		Use:   "prices [NAME…]",
		Short: "Show the price lists that decisions and comparisons use",
		Long: `Shows the built-in price lists and those of model.priceFile, which take precedence over built-in
ones of the same name. Prices are in USD per million tokens: INPUT without the prompt cache, READ
from it, WRITE to it, and OUTPUT. TTL is how long the cache keeps a prompt; a prompt of fewer tokens
than MINIMUM is not cached. With names, only those lists are shown, with what long prompts, other
days and speed cost, and notes. "*" marks the list in force: the one that model.priceList names, or
that of model.name.

Prices change. Each list has the date on which it was looked up and the page that it was taken from.`,
		Example: `  thresh config prices
  thresh config prices anthropic-sonnet openai-gpt-5
  thresh config prices -o yaml no-cache > prices.yaml    # as a start for your own file
  thresh config prices --set model.priceFile=prices.yaml`,
		RunE: func(cmd *cobra.Command, names []string) error {
			if !slices.Contains(formats, output) {
				return usage(cmd, fmt.Errorf("--output is text, json or yaml, not %q", output))
			}
			c, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			set := c.Settings().Model
			all, err := pricing.Load(set.PriceFile)
			if err != nil {
				return fmt.Errorf("model.priceFile: %w", err)
			}
			chosen, err := all.Select(names...)
			if err != nil {
				return err
			}
			switch output {
			case "json":
				return a.printJSON(chosen.Lists())
			case "yaml":
				text, err := chosen.YAML()
				if err == nil {
					_, err = a.out.Write(text)
				}
				return err
			}
			force, err := all.Choose(set.PriceList, set.Name)
			if err != nil {
				return fmt.Errorf("model.priceList: %w", err)
			}
			return a.printPrices(chosen.Lists(), force, len(names) > 0)
		},
		ValidArgsFunction: a.completePrices,
	}
	cmd.Flags().StringVarP(
		&output, "output", "o", "text",
		"print `FORMAT`: text for people, json for programs, yaml as model.priceFile wants it",
	)
	a.addColumns(cmd, pricesColumns)
	complete(cmd, "output", formats...)
	return cmd
}

var pricesColumns = []table.Column{
	{Name: "in-force", Head: " "},
	{Name: "name"},
	{
		Name: "input", Right: true,
	}, {Name: "read", Right: true}, {Name: "write", Right: true}, {Name: "output", Right: true},
	{Name: "ttl", Right: true, Rank: 2},
	{Name: "minimum", Right: true, Rank: 4},
	{Name: "as-of", Head: "AS OF", Rank: 1},
	{Name: "models", Min: 16, Rank: 3},
	{Name: "source", Min: 24, Middle: true, Rank: 5},
}

// printPrices prints the table and, with notes, the source and the remarks of each list. "-" means that the provider
// does not cache, which differs from a price of 0.
func (a *app) printPrices(lists []*pricing.List, force *pricing.List, notes bool) error {
	prices := table.New(pricesColumns...)
	for _, l := range lists {
		mark := ""
		if l == force {
			mark = "*"
		}
		// CacheRead 0 means that the provider has no cache: none reads from it for nothing.
		read, write, minimum := "-", "-", "-"
		if l.CacheRead > 0 {
			read, write, minimum = fmt.Sprint(l.Read()), fmt.Sprint(l.Write()), table.Int(l.CacheMinimum)
		}
		prices.Row(mark, l.Name, fmt.Sprint(l.Input), read, write, fmt.Sprint(l.Output), l.TTL(), minimum, l.AsOf,
			dash(strings.Join(l.Models, " ")), l.Source)
	}
	if err := a.printTable(prices); err != nil {
		return err
	}
	for _, l := range lists {
		if !notes {
			continue
		}
		if l.Source != "" {
			fmt.Fprintf(a.out, "\n%s: prices as of %s, from %s\n", l.Name, l.AsOf, l.Source)
		}
		for _, o := range l.Over {
			fmt.Fprintf(a.out, "\n%s: prompts over %s tokens cost %s\n", l.Name, table.Int(o.Tokens), ratesText(o.Rates))
		}
		for _, f := range l.From {
			if f.Day != "" {
				fmt.Fprintf(a.out, "\n%s: from %s on it cost %s\n", l.Name, f.Day, ratesText(f.Rates))
			}
		}
		if l.Fast > 0 {
			fmt.Fprintf(a.out, "\n%s: speed costs %g times as much\n", l.Name, l.Fast)
		}
		if l.Note != "" {
			fmt.Fprintf(a.out, "\n%s: %s\n", l.Name, l.Note)
		}
	}
	return nil
}

// ratesText writes prices in the order of the table.
func ratesText(r pricing.Rates) string {
	s := fmt.Sprintf("%g (input)", r.Input)
	if r.CacheRead > 0 {
		s += fmt.Sprintf(", %g (read)", r.CacheRead)
	}
	if r.CacheWrite > 0 {
		s += fmt.Sprintf(", %g (write)", r.CacheWrite)
	}
	return s + fmt.Sprintf(", %g (output)", r.Output)
}
