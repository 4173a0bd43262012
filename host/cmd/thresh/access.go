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

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/internal/window"
)

const accessHelp = `An access token lets a client use 'thresh serve'. Sessions belong to the token's name, and clients
with other tokens cannot see that they exist. The session store keeps only a hash of each token, so
'set' prints a token once.

A new token is accepted, and a revoked one refused, within a second. The sessions of a revoked token
stay; a new token of the same name gets them. The tokens are in the store: after a backup of it was
restored, revoke again what was revoked since the backup was made.`

func accessCommand(a *app) *cobra.Command {
	return group("access", "Decide who may use 'thresh serve'", accessHelp,
		accessSetCommand(a), accessListCommand(a), accessRevokeCommand(a), accessUsageCommand(a))
}

// accessSetCommand creates the store if need be: access is usually granted before the first session.
func accessSetCommand(a *app) *cobra.Command {
	g := granting{app: a}
	cmd := &cobra.Command{
		Use: "set NAME", Short: "Make a token, change what it may do, or replace it",
		Long: `Makes a token for a name that has none, and prints it. For a name that has one, it changes limits or
profiles, within a second and without a new token: what no flag names stays; --profile replaces all
profiles, and --profile '' takes them away.

--rotate makes another token, with the same sessions, limits and profiles, and prints it. The old
one is accepted for the time in --keep-old, in which its clients get the new one. A leaked token is
refused at once with --keep-old 0.`,
		Example: `  thresh access set alice
  thresh access set ci --sessions 50 --usd-per-day 2.50
  thresh access set bob --profile summaries
  thresh access set ci --rotate --keep-old 1h`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := g.check(cmd); err != nil {
				return usage(cmd, err)
			}
			return a.withStore(cmd, true, func(ctx context.Context, c *config.Config, in store.Store) error {
				token, err := g.set(ctx, c, in, given[0])
				if err == nil && token != "" {
					_, err = fmt.Fprintln(a.out, token)
				}
				return err
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&g.Limits.Sessions, "sessions", 0, "how many sessions it may have, open or stored (0: no limit)")
	f.IntVar(&g.Limits.Requests, "requests", 0, "how many of its requests may be in progress at a time (0: no limit)")
	f.IntVar(&g.Limits.RequestBytes, "request-bytes", 0, "how many bytes one request may have (0: no limit)")
	f.Int64Var(&g.Limits.StoreBytes, "store-bytes", 0, "how many bytes its sessions may take in the store (0: no limit)")
	f.Float64Var(&g.Limits.USDPerDay, "usd-per-day", 0,
		"how many USD its compressions may spend each UTC day (0: no limit)")
	f.StringSliceVar(&g.Profiles, "profile", nil,
		"`PROFILE` that its sessions may choose by name, with its model and key; may be repeated")
	f.BoolVar(&g.rotate, "rotate", false, "make another token for the name")
	f.DurationVar(&g.keep, "keep-old", 24*time.Hour, "with --rotate: for how long the old token is accepted, too")
	return cmd
}

// granting is what 'access set' was told.
type granting struct {
	*app
	access.Grant
	rotate bool
	keep   time.Duration
	// changed are the flags that were given.
	changed []string
}

// grants are the parts of a grant, by the flag that sets them.
var grants = map[string]func(to *access.Grant, from access.Grant){
	"sessions":      func(to *access.Grant, from access.Grant) { to.Limits.Sessions = from.Limits.Sessions },
	"requests":      func(to *access.Grant, from access.Grant) { to.Limits.Requests = from.Limits.Requests },
	"request-bytes": func(to *access.Grant, from access.Grant) { to.Limits.RequestBytes = from.Limits.RequestBytes },
	"store-bytes":   func(to *access.Grant, from access.Grant) { to.Limits.StoreBytes = from.Limits.StoreBytes },
	"usd-per-day":   func(to *access.Grant, from access.Grant) { to.Limits.USDPerDay = from.Limits.USDPerDay },
	"profile":       func(to *access.Grant, from access.Grant) { to.Profiles = from.Profiles },
}

func (g *granting) check(cmd *cobra.Command) error {
	g.changed = slices.DeleteFunc(slices.Sorted(maps.Keys(grants)), func(flag string) bool { return !cmd.Flags().Changed(flag) })
	switch {
	case g.rotate && len(g.changed) > 0:
		return fmt.Errorf("--rotate keeps limits and profiles: change --%s by a command of its own", g.changed[0])
	case !g.rotate && cmd.Flags().Changed("keep-old"):
		return errors.New("--keep-old goes with --rotate")
	case g.keep < 0:
		return errors.New("--keep-old is at least 0")
	}
	return g.Limits.Check()
}

// set returns the token that was made, "" for none.
func (g *granting) set(ctx context.Context, c *config.Config, in store.Store, name string) (string, error) {
	if g.rotate {
		token, err := access.Rotate(ctx, in, name, g.keep)
		if err == nil {
			g.logChange(c, "access token rotated", "token", name, "old for", g.keep, "store", storeInUse(c))
		}
		return token, noToken(err, name)
	}
	if err := checkProfiles(c, g.Profiles); err != nil {
		return "", err
	}
	token, err := access.Create(ctx, in, name, g.Limits, g.Profiles...)
	switch {
	case err == nil:
		g.logChange(c, "access token created", "token", name, "profiles", g.Profiles, "store", storeInUse(c))
		return token, nil
	case !errors.Is(err, store.ErrExists):
		return "", err
	case len(g.changed) == 0:
		// A token is never replaced by mistake: clients that use it would be shut out without a warning.
		return "", fmt.Errorf("%s has a token: name a limit or profile to change, or --rotate to make another one", name)
	}
	err = access.Set(ctx, in, name, func(of *access.Grant) {
		for _, flag := range g.changed {
			grants[flag](of, g.Grant)
		}
	})
	if err == nil {
		g.logChange(c, "access token changed", "token", name, "changed", g.changed, "store", storeInUse(c))
	}
	return "", noToken(err, name)
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
	// OldUntil is when a token that was replaced is refused; none if only the newest is accepted.
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
