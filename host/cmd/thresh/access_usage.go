package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/table"
)

// usedBy is what a name used. Its JSON form is stable.
type usedBy struct {
	// Name is of an access token, "" for the local user.
	Name string `json:"name"`
	// Sessions and StoreBytes are what it has in the store now.
	Sessions    int   `json:"sessions"`
	StoreBytes  int64 `json:"storeBytes"`
	watch.Total       // of the days
}

var usageColumns = []table.Column{
	{Name: "name"}, {Name: "sessions", Right: true, Rank: 2}, {Name: "store-bytes", Right: true, Rank: 3},
	{Name: "requests", Right: true}, {Name: "tokens", Right: true, Rank: 1}, {Name: "saved", Right: true},
	{Name: "saved-usd", Right: true}, {Name: "spent-usd", Right: true},
}

func accessUsageCommand(a *app) *cobra.Command {
	days := 30
	cmd := &cobra.Command{
		Use: "usage", Short: "List what each name has stored, spent and saved",
		Long: `Lists what each name has in the store, and what its requests came to in the last days, today
included, by UTC: tokens as they would have been without thresh, the share that was not sent, what
that took off the bill by the price list, and what summaries cost. Hosts write it every ten seconds.`,
		Example: `  thresh access usage --days 7
  thresh access usage -o json | jq '.[] | select(.spentUSD > 1)'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 1 {
				return usage(cmd, fmt.Errorf("--days is %d, at least 1 is needed", days))
			}
			return a.withStore(cmd, true, func(ctx context.Context, _ *config.Config, in store.Store) error {
				all, err := usedSince(ctx, in, time.Now().UTC().AddDate(0, 0, 1-days))
				if err != nil {
					return err
				}
				return a.show(all, func() error { return a.printUsage(all) })
			})
		},
	}
	cmd.Flags().IntVar(&days, "days", days, "how many days to add up")
	a.addOutput(cmd)
	return cmd
}

// usedSince returns what names used from a day on: all that have a token, and others that used something.
func usedSince(ctx context.Context, in store.Store, day time.Time) ([]usedBy, error) {
	tokens, err := in.Accesses(ctx)
	if err != nil {
		return nil, err
	}
	sums := map[string]store.Used{}
	for _, t := range tokens {
		sums[t.Name] = store.Used{}
	}
	accounts, err := in.Accounts(ctx, day.Format(time.DateOnly))
	if err != nil {
		return nil, err
	}
	for _, a := range accounts {
		sums[a.Name] = sums[a.Name].Plus(a.Used)
	}
	all := make([]usedBy, 0, len(sums))
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		has, err := in.Usage(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, usedBy{name, has.Sessions, has.Bytes, watch.TotalOf(sums[name])})
	}
	return all, nil
}

func (a *app) printUsage(all []usedBy) error {
	t := table.New(usageColumns...)
	for _, u := range all {
		name := u.Name
		if name == "" {
			name = "(local user)"
		}
		t.Row(name, table.Int(u.Sessions), table.Int(int(u.StoreBytes)), table.Int(int(u.Requests)),
			table.Short(int(u.Whole)), table.Percent(int(u.Whole-u.Sent), int(u.Whole)), dollars(u.Saved), dollars(u.Spent))
	}
	return a.printSmallTable(t)
}
