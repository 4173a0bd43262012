package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

func pricesCommand(a *app) *cobra.Command {
	var output string
	formats := []string{"text", "json", "yaml"}
	cmd := &cobra.Command{
		Use:   "prices [NAME…]",
		Short: "Show the price lists of providers that decisions and comparisons go by",
		Long: `Shows the price lists that ship and those of model.priceFile, which win over a list of the same name: what a token costs in USD
for a million, read from the provider's prompt cache, written to it, neither, and generated. With names it shows those lists
and what there is to know about them. "*" marks the list in force: the one that model.priceList names, or that of model.name.

Prices change. Each list has the day on which it was looked up and the page to look at.`,
		Example: `  thresh prices
  thresh prices anthropic-sonnet openai-gpt-5
  thresh prices -o yaml no-cache > prices.yaml    # to start a file of one's own from
  thresh prices --set model.priceFile=prices.yaml`,
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
			force, err := inForce(all, set)
			if err != nil {
				return err
			}
			return a.printPrices(chosen.Lists(), force, len(names) > 0)
		},
		ValidArgsFunction: a.completePrices,
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "print `FORMAT`: text for people, json for programs, yaml as model.priceFile wants it")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// inForce is the list that the settings choose, nil if they choose none.
func inForce(all *pricing.Catalog, set config.Model) (*pricing.List, error) {
	switch set.PriceList {
	case "none":
		return nil, nil
	case "auto":
		return all.ForModel(set.Name), nil
	}
	l, err := all.Named(set.PriceList)
	if err != nil {
		err = fmt.Errorf("model.priceList: %w", err)
	}
	return l, err
}

// printPrices prints a table, and with notes what else there is to know of each list.
func (a *app) printPrices(lists []*pricing.List, force *pricing.List, notes bool) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tINPUT\tREAD\tWRITE\tOUTPUT\tTTL\tMINIMUM\tAS OF\tSOURCE\tMODELS")
	for _, l := range lists {
		name := "  " + l.Name
		if l == force {
			name = "* " + l.Name
		}
		read, write, minimum := "-", "-", "-"
		if l.CacheRead > 0 {
			read, write, minimum = fmt.Sprint(l.Read()), fmt.Sprint(l.Write()), fmt.Sprint(l.CacheMinimum)
		}
		fmt.Fprintf(w, "%s\t%v\t%s\t%s\t%v\t%s\t%s\t%s\t%s\t%s\n", name, l.Input, read, write, l.Output, l.TTL(), minimum, l.AsOf, l.Source,
			dash(clip(strings.Join(l.Models, " "), 60)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, l := range lists {
		if notes && l.Note != "" {
			fmt.Fprintf(a.out, "\n%s: %s\n", l.Name, l.Note)
		}
	}
	return nil
}
