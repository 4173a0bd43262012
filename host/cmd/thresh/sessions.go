package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/table"
)

// The commands about stored sessions work on the store itself, next to hosts that use it, and start no plugin. Only
// import opens a host, because it adds entries.

const sessionsHelp = `Shows and manages the sessions that the setting sessions.store keeps. Without that setting it is
the file that 'thresh serve' uses. Hosts may use the store at the same time. 'convert' reads files
of other programs instead.`

type sessions struct {
	*app
	owner string
}

func sessionsCommand(a *app) *cobra.Command {
	s := &sessions{app: a}
	cmd := group("sessions", "Show, search, export, convert and delete sessions", sessionsHelp,
		convertCommand(a), s.listCommand(), s.showCommand(), s.exportCommand(), s.importCommand(), s.searchCommand(),
		s.mcpCommand(), s.removeCommand())
	cmd.PersistentFlags().StringVar(&s.owner, "owner", "",
		"the sessions of the access token `NAME`; without it, that of the local user, or else the only one")
	return cmd
}

func (s *sessions) addSession(cmd *cobra.Command, id *string) {
	cmd.Flags().StringVar(id, "session", "", "the stored session with this `ID`, instead of a file")
	cmd.Flags().StringVar(&s.owner, "owner", "", "with --session: a session of the access token `NAME`")
}

// key finds the session that an id means: that of --owner; else the local user's; else the only one that 'sessions
// list' shows with this id.
func (s *sessions) key(ctx context.Context, cmd *cobra.Command, kept store.Store, id string) (store.Key, error) {
	key := store.Key{Owner: s.owner, ID: id}
	if cmd.Flags().Changed("owner") {
		return key, nil
	}
	if _, err := kept.Head(ctx, key); !errors.Is(err, store.ErrNotFound) {
		return key, err
	}
	var owners []string
	for h, err := range kept.List(ctx, store.Filter{AllOwners: true}) {
		if err != nil {
			return key, err
		}
		if h.ID == id {
			owners = append(owners, h.Owner)
		}
	}
	if len(owners) > 1 {
		return key, fmt.Errorf("%s have a session %q: choose one with --owner", strings.Join(owners, " and "), id)
	}
	if len(owners) == 1 {
		key.Owner = owners[0]
	}
	return key, nil
}

func missing(err error, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("there is no session %q; 'thresh sessions list' lists them", id)
	}
	return err
}

// shownSession is a session in a list. Its JSON form is stable.
type shownSession struct {
	// ID is unique within its owner. Owner is "" for the local user.
	ID    string `json:"id"`
	Owner string `json:"owner,omitempty"`
	// Entries and Tokens are the history's as its host last wrote them. Bytes is what the session takes in the store.
	Entries int    `json:"entries"`
	Tokens  int    `json:"tokens"`
	Bytes   int64  `json:"bytes"`
	Records uint64 `json:"records"`
	// Used is when something was last written to its log. sessions.keep counts from it.
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`
	// Parent is the session that this one was forked from, ForkedAt the revision of the parent's log then.
	Parent        string `json:"parent,omitempty"`
	ForkedAt      uint64 `json:"forkedAt,omitempty"`
	ForkedEntries int    `json:"forkedEntries,omitempty"`
}

// shown converts times to UTC: the JSON form does not depend on the machine. Revisions are numbered from 1 without a
// gap.
func shown(h store.Head) shownSession {
	return shownSession{ID: h.ID, Owner: h.Owner, Entries: h.Entries, Tokens: h.Tokens, Bytes: h.Bytes,
		Records: h.Revision, Created: h.Created.UTC(), Used: h.Used.UTC(), Parent: h.Parent.ID, ForkedAt: h.ForkedAt,
		ForkedEntries: h.ForkedEntries}
}

// shownStore is all that is stored. Its JSON form is stable. Bytes and Free are the file's or database's, not the sum
// of the sessions.
type shownStore struct {
	Store string `json:"store"`
	// Free is the part of Bytes that deleted sessions took.
	Bytes    int64          `json:"bytes"`
	Free     int64          `json:"free"`
	Sessions []shownSession `json:"sessions"`
}

var sessionColumns = []table.Column{
	{Name: "session", Min: 12}, {Name: "owner", Rank: 1, Min: 6}, {Name: "entries", Right: true},
	{Name: "tokens", Right: true}, {Name: "size", Right: true}, {Name: "used"}, {Name: "parent", Rank: 1, Min: 6},
	{Name: "created", Rank: 2}, {Name: "records", Rank: 3, Right: true},
}

// listCommand reads the heads of the sessions, not their logs: a store of thousands of sessions lists quickly.
func (s *sessions) listCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the sessions of all owners, with their sizes", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.withStore(cmd, false, func(ctx context.Context, c *config.Config, kept store.Store) error {
				size, err := kept.Size(ctx)
				if err != nil {
					return err
				}
				all := shownStore{Store: storeShown(c), Bytes: size.Bytes, Free: size.Free, Sessions: []shownSession{}}
				// Without --owner all sessions are listed; --owner "" asks for the local user's.
				filter := store.Filter{Owner: s.owner, AllOwners: !cmd.Flags().Changed("owner")}
				for h, err := range kept.List(ctx, filter) {
					if err != nil {
						return err
					}
					all.Sessions = append(all.Sessions, shown(h))
				}
				return s.show(all, func() error { return s.printSessions(all) })
			})
		},
	}
	s.addOutput(cmd)
	s.addColumns(cmd, sessionColumns)
	return cmd
}

// printSessions prints a table, and what the store takes. Times are local, as in the output of ls.
func (s *sessions) printSessions(all shownStore) error {
	const day = "2006-01-02 15:04"
	t := table.New(sessionColumns...)
	for _, h := range all.Sessions {
		t.Row(h.ID, dash(h.Owner), strconv.Itoa(h.Entries), strconv.Itoa(h.Tokens), sizeText(h.Bytes),
			h.Used.Local().Format(day), dash(h.Parent), h.Created.Local().Format(day),
			strconv.FormatUint(h.Records, 10))
	}
	if len(all.Sessions) > 0 {
		if err := s.printTable(t); err != nil {
			return err
		}
	}
	free := ""
	if all.Free > 0 {
		free = fmt.Sprintf(", of which %s are free for later ones", sizeText(all.Free))
	}
	_, err := fmt.Fprintf(s.out, "%s; the store takes %s%s\n",
		plural(len(all.Sessions), "session"), sizeText(all.Bytes), free)
	return err
}

// sizeText returns a size with a unit in which it has at most four digits. Units are decimal, like those of disks.
func sizeText(bytes int64) string {
	size, unit := float64(bytes), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if size < 1000 {
			break
		}
		size, unit = size/1000, next
	}
	// Bytes have no fraction, and from 100 it would be a fourth digit.
	if unit == "B" || size >= 100 {
		return fmt.Sprintf("%.0f %s", size, unit)
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}

// removeCommand deletes what it can: an id that does not exist makes the command fail, and the others are deleted all
// the same.
func (s *sessions) removeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rm ID…", Short: "Delete sessions and all that is kept of them", Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return s.withStore(cmd, false, func(ctx context.Context, _ *config.Config, kept store.Store) error {
				var errs []error
				for _, id := range ids {
					// Not of another owner unless that is said: the same command again must not delete another session.
					key, err := s.key(ctx, cmd, kept, id)
					if err == nil && key.Owner != s.owner {
						err = fmt.Errorf("the session %q belongs to %s: add --owner %[2]s", id, key.Owner)
					}
					if err == nil {
						err = missing(kept.Delete(ctx, key), id)
					}
					errs = append(errs, err)
				}
				return errors.Join(errs...)
			})
		},
	}
}
