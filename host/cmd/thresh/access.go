package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/internal/window"
)

const accessHelp = `An access token lets a client use 'thresh serve'. Sessions belong to the token's name, and clients
with other tokens cannot see that they exist. The session store keeps only a hash of each token, so
'create' prints a token once.

A new token is accepted, and a revoked one refused, within a second. The sessions of a revoked token
stay; a new token of the same name gets them. The tokens are in the store: after a backup of it was
restored, revoke again what was revoked since the backup was made.`

func accessCommand(a *app) *cobra.Command {
	return group("access", "Decide who may use 'thresh serve'", accessHelp,
		accessCreateCommand(a), accessListCommand(a), accessRevokeCommand(a), accessRotateCommand(a),
		accessSetCommand(a), accessUsageCommand(a))
}

// accessCreateCommand creates the store if need be: access is usually granted before the first session.
func accessCreateCommand(a *app) *cobra.Command {
	var g access.Grant
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a token, and print it",
		Example: `  thresh access create alice
  thresh access create ci --sessions 50 --usd-per-day 2.50
  thresh access create bob --profile summaries`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := g.Limits.Check(); err != nil {
				return usage(cmd, err)
			}
			return a.withStore(cmd, true, func(ctx context.Context, c *config.Config, in store.Store) error {
				if err := checkProfiles(c, g.Profiles); err != nil {
					return err
				}
				token, err := access.Create(ctx, in, given[0], g.Limits, g.Profiles...)
				// A token is never replaced by mistake: clients that use it would be shut out without a warning.
				if errors.Is(err, store.ErrExists) {
					return fmt.Errorf("%s has a token: 'thresh access rotate %[1]s' makes another one for it, and "+
						"'thresh access set %[1]s' changes its limits", given[0])
				}
				if err != nil {
					return err
				}
				a.logChange(c, "access token created", "token", given[0], "profiles", g.Profiles, "store", storeInUse(c))
				_, err = fmt.Fprintln(a.out, token)
				return err
			})
		},
	}
	grantFlags(cmd.Flags(), &g)
	return cmd
}

func grantFlags(f *pflag.FlagSet, g *access.Grant) {
	f.IntVar(&g.Limits.Sessions, "sessions", 0, "how many sessions it may have, open or stored (0: no limit)")
	f.IntVar(&g.Limits.Requests, "requests", 0, "how many of its requests may be in progress at a time (0: no limit)")
	f.IntVar(&g.Limits.RequestBytes, "request-bytes", 0, "how many bytes one request may have (0: no limit)")
	f.Int64Var(&g.Limits.StoreBytes, "store-bytes", 0, "how many bytes its sessions may take in the store (0: no limit)")
	f.Float64Var(&g.Limits.USDPerDay, "usd-per-day", 0,
		"how many USD its compressions may spend each UTC day (0: no limit)")
	f.StringSliceVar(&g.Profiles, "profile", nil,
		"`PROFILE` that its sessions may choose by name, with its model and key; may be repeated")
}

// accessRotateCommand leaves no moment at which a client has no valid token.
func accessRotateCommand(a *app) *cobra.Command {
	var keep time.Duration
	cmd := &cobra.Command{
		Use: "rotate NAME", Short: "Make another token for a name, and print it",
		Long: `Makes another token for a name, with the same sessions, limits and profiles. The old one is accepted
for the time in --keep-old, in which its clients get the new one. A leaked token is refused at once
with --keep-old 0.`,
		Example: `  thresh access rotate ci --keep-old 1h`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if keep < 0 {
				return usage(cmd, errors.New("--keep-old is at least 0"))
			}
			return a.withStore(cmd, false, func(ctx context.Context, c *config.Config, in store.Store) error {
				token, err := access.Rotate(ctx, in, given[0], keep)
				if err != nil {
					return noToken(err, given[0])
				}
				a.logChange(c, "access token rotated", "token", given[0], "old for", keep, "store", storeInUse(c))
				_, err = fmt.Fprintln(a.out, token)
				return err
			})
		},
	}
	cmd.Flags().DurationVar(&keep, "keep-old", 24*time.Hour, "for how long the old token is accepted, too")
	return cmd
}

func accessSetCommand(a *app) *cobra.Command {
	var g access.Grant
	edits := map[string]func(*access.Grant){
		"sessions":      func(of *access.Grant) { of.Limits.Sessions = g.Limits.Sessions },
		"requests":      func(of *access.Grant) { of.Limits.Requests = g.Limits.Requests },
		"request-bytes": func(of *access.Grant) { of.Limits.RequestBytes = g.Limits.RequestBytes },
		"store-bytes":   func(of *access.Grant) { of.Limits.StoreBytes = g.Limits.StoreBytes },
		"usd-per-day":   func(of *access.Grant) { of.Limits.USDPerDay = g.Limits.USDPerDay },
		"profile":       func(of *access.Grant) { of.Profiles = g.Profiles },
	}
	cmd := &cobra.Command{
		Use: "set NAME", Short: "Change the limits or profiles of a token",
		Long: `Changes what a token may do, within a second and without a new token. What no flag names stays;
--profile replaces all profiles, and --profile '' takes them away.`,
		Example: `  thresh access set ci --sessions 100 --usd-per-day 0`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			maps.DeleteFunc(edits, func(flag string, _ func(*access.Grant)) bool { return !cmd.Flags().Changed(flag) })
			if len(edits) == 0 {
				return usage(cmd, errors.New("needs a limit or a profile to change"))
			}
			if err := g.Limits.Check(); err != nil {
				return usage(cmd, err)
			}
			return a.withStore(cmd, false, func(ctx context.Context, c *config.Config, in store.Store) error {
				if err := checkProfiles(c, g.Profiles); err != nil {
					return err
				}
				err := access.Set(ctx, in, given[0], func(of *access.Grant) {
					for _, edit := range edits {
						edit(of)
					}
				})
				if err != nil {
					return noToken(err, given[0])
				}
				a.logChange(c, "access token changed", "token", given[0], "changed", slices.Sorted(maps.Keys(edits)),
					"store", storeInUse(c))
				return nil
			})
		},
	}
	grantFlags(cmd.Flags(), &g)
	return cmd
}

func noToken(err error, name string) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("there is no valid token of the name %s; 'thresh access list' lists them", name)
	}
	return err
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
	window.DefaultLogger(a.err, c.Settings().Log).Info(what, append(about, "by", by)...)
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
	Name    string     `json:"name"`
	Created time.Time  `json:"created"`
	Revoked *time.Time `json:"revoked,omitempty"`
	// OldUntil is when the token that 'rotate' replaced is refused; none if only the newest is accepted.
	OldUntil *time.Time    `json:"oldUntil,omitempty"`
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
					if until := access.OldUntil(t); !until.IsZero() && t.Revoked.IsZero() {
						shown[i].OldUntil = &until
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
		Use: "revoke NAME", Short: "Refuse a name's tokens from now on", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.withStore(cmd, true, func(ctx context.Context, c *config.Config, in store.Store) error {
				if err := in.RevokeAccess(ctx, given[0]); err != nil {
					return noToken(err, given[0])
				}
				a.logChange(c, "access token revoked", "token", given[0], "store", storeInUse(c))
				return nil
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
		if one.OldUntil != nil {
			state = "valid, old one until " + one.OldUntil.UTC().Format("2006-01-02 15:04")
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
