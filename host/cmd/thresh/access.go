package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/cmd/thresh/internal/table"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/store"
)

const accessHelp = `An access token lets a client use 'thresh serve'. Sessions belong to the token's name, and clients
with other tokens cannot see that they exist. The session store keeps only a hash of each token, so
'create' prints a token once.

A new token is accepted, and a revoked one refused, within a second. The sessions of a revoked token
stay; a new token of the same name gets them.`

func accessCommand(a *app) *cobra.Command {
	return group("access", "Decide who may use 'thresh serve'", accessHelp,
		accessCreateCommand(a), accessListCommand(a), accessRevokeCommand(a))
}

// accessCreateCommand creates the store if need be: access is usually granted before the first session.
func accessCreateCommand(a *app) *cobra.Command {
	var limits access.Limits
	var profiles []string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a token, and print it",
		Example: `  thresh access create alice
  thresh access create ci --sessions 50 --usd-per-day 2.50
  thresh access create bob --profile summaries`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := limits.Check(); err != nil {
				return usage(cmd, err)
			}
			return a.withStore(cmd, true, func(ctx context.Context, c *config.Config, in store.Store) error {
				if err := checkProfiles(c, profiles); err != nil {
					return err
				}
				token, err := access.Create(ctx, in, given[0], limits, profiles...)
				// A token is never replaced in place: clients that use it would be shut out without a warning.
				if errors.Is(err, store.ErrExists) {
					return fmt.Errorf("%s has a token: 'thresh access revoke %[1]s' first", given[0])
				}
				if err != nil {
					return err
				}
				a.logChange(c, "access token created", "token", given[0], "profiles", profiles, "store", storeInUse(c))
				_, err = fmt.Fprintln(a.out, token)
				return err
			})
		},
	}
	// No command changes the limits afterwards: other limits need a new token.
	f := cmd.Flags()
	f.IntVar(&limits.Sessions, "sessions", 0, "how many sessions it may have, open or stored (0: no limit)")
	f.IntVar(&limits.Requests, "requests", 0, "how many of its requests may be in progress at a time (0: no limit)")
	f.IntVar(&limits.RequestBytes, "request-bytes", 0, "how many bytes one request may have (0: no limit)")
	f.Int64Var(&limits.StoreBytes, "store-bytes", 0, "how many bytes its sessions may take in the store (0: no limit)")
	f.Float64Var(&limits.USDPerDay, "usd-per-day", 0,
		"how many USD its compressions may spend each UTC day (0: no limit)")
	f.StringSliceVar(&profiles, "profile", nil,
		"`PROFILE` that its sessions may choose by name, with its model and key; may be repeated")
	return cmd
}

// checkProfiles refuses profiles that the configuration does not have: a misspelt one would be noticed by a client.
func checkProfiles(c *config.Config, names []string) error {
	known := c.Profiles()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--profile: there is no profile %.80q in the configuration; it has: %s", name,
				cmp.Or(strings.Join(known, ", "), "none"))
		}
	}
	return nil
}

// logChange logs a change that concerns others, and which user of the machine has made it.
func (a *app) logChange(c *config.Config, what string, about ...any) {
	by := fmt.Sprintf("uid %d", os.Getuid())
	if u, err := user.Current(); err == nil {
		by = u.Username
	}
	engine.DefaultLogger(a.err, c.Settings().Log).Info(what, append(about, "by", by)...)
}

// storeInUse is the store that a command has used: a service may read another one.
func storeInUse(c *config.Config) string {
	if path := c.Settings().Sessions.Store; strings.HasPrefix(path, "sqlite:") {
		return path
	}
	return storeShown(c)
}

// shownAccess is a token in a list. Its JSON form is stable. It never holds the token or its hash.
type shownAccess struct {
	// Name owns sessions. At most one valid token has it; a new token replaces a revoked one.
	Name     string        `json:"name"`
	Created  time.Time     `json:"created"`
	Revoked  *time.Time    `json:"revoked,omitempty"`
	Limits   access.Limits `json:"limits"`
	Profiles []string      `json:"profiles,omitempty"`
}

func accessListCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the tokens, with their limits and profiles", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd, true, func(ctx context.Context, _ *config.Config, in store.Store) error {
				all, err := in.Accesses(ctx)
				if err != nil {
					return err
				}
				shown := make([]shownAccess, len(all))
				for i, t := range all {
					shown[i] = shownAccess{Name: t.Name, Created: t.Created}
					if !t.Revoked.IsZero() {
						shown[i].Revoked = &t.Revoked
					}
					grant, err := access.GrantOf(t)
					if err != nil {
						return err
					}
					shown[i].Limits, shown[i].Profiles = grant.Limits, grant.Profiles
				}
				return a.show(shown, func() error { return a.printAccesses(shown) })
			})
		},
	}
	a.addOutput(cmd)
	return cmd
}

// accessRevokeCommand keeps the sessions. They belong to a name and not to a token: a leaked token can be replaced
// without losing anything.
func accessRevokeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Refuse a token from now on", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.withStore(cmd, true, func(ctx context.Context, c *config.Config, in store.Store) error {
				err := in.RevokeAccess(ctx, given[0])
				if errors.Is(err, store.ErrNotFound) {
					return fmt.Errorf("there is no valid token of the name %s; 'thresh access list' lists them",
						given[0])
				}
				if err == nil {
					a.logChange(c, "access token revoked", "token", given[0], "store", storeInUse(c))
				}
				return err
			})
		},
	}
}

var accessColumns = []table.Column{
	{Name: "name"}, {Name: "created", Rank: 1}, {Name: "state"},
	{Name: "sessions", Right: true, Rank: 2}, {Name: "requests", Right: true, Rank: 3},
	{Name: "request-bytes", Right: true, Rank: 4}, {Name: "store-bytes", Right: true, Rank: 3},
	{Name: "usd-per-day", Right: true, Rank: 2}, {Name: "profiles", Rank: 2},
}

// printAccesses prints a row for each token. Columns without any cell are not shown: a list without limits is narrow.
// Dates are in UTC, like the days of the spending limit.
func (a *app) printAccesses(all []shownAccess) error {
	t := table.New(accessColumns...)
	limit := func(n int64) string { // no limit is an empty cell
		if n == 0 {
			return ""
		}
		return table.Int(int(n))
	}
	for _, one := range all {
		state, usd := "valid", ""
		if one.Revoked != nil {
			state = "revoked"
		}
		if one.Limits.USDPerDay > 0 {
			usd = fmt.Sprintf("%.2f", one.Limits.USDPerDay)
		}
		l := one.Limits
		t.Row(one.Name, one.Created.UTC().Format(time.DateOnly), state, limit(int64(l.Sessions)),
			limit(int64(l.Requests)), limit(int64(l.RequestBytes)), limit(l.StoreBytes), usd, strings.Join(one.Profiles, ", "))
	}
	return a.printSmallTable(t)
}
