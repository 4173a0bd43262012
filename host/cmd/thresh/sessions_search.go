package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// foundPassage is a passage in a list. Its JSON form is stable.
type foundPassage struct {
	Session string `json:"session"`
	Owner   string `json:"owner,omitempty"`
	// Turn is how many messages of people the session had by then.
	Turn int `json:"turn"`
	// Entry is the entry's id, Block the position of the block in it. Line is the passage's first line of the Of lines
	// that the block has, from 1.
	Entry string `json:"entry"`
	Block int    `json:"block"`
	Line  int    `json:"line"`
	Lines int    `json:"lines"`
	Of    int    `json:"of"`
	// Speaker and Kind are those of a transcript. Tool and Argument are a call's, or those of the call that a result is
	// of.
	Speaker  string  `json:"speaker"`
	Kind     string  `json:"kind"`
	Tool     string  `json:"tool,omitempty"`
	Argument string  `json:"argument,omitempty"`
	Call     string  `json:"call,omitempty"`
	Text     string  `json:"text"`
	Tokens   int     `json:"tokens"`
	Score    float64 `json:"score"`
	// Also is where much the same stood earlier. Result is where a call's result is, and its ends, unless it is listed.
	Also   []outcome.Again `json:"also,omitempty"`
	Result *outcome.Result `json:"result,omitempty"`
}

func (s *sessions) searchCommand() *cobra.Command {
	limit := 10
	cmd := &cobra.Command{
		Use: "search WORDS…", Short: "Find passages of stored sessions by words, names and paths",
		Long: `Searches all that was added to the stored sessions of one owner, whether a strategy removed it
since or not: what people and the model said, calls and results. Passages with more of the words,
and with rarer ones, come first; of equals the newest. A word counts half for what is found after a
passage with it. Names are found however they are written: user by id finds getUserById and
get_user_by_id, and store.go finds host/internal/store.go:42. Other forms of a word, numbers
however they are written, and what programmers mean alike (failed, SyntaxError) count half.
What is printed is the function, record or paragraph with the words; where the same file was read
several times, the newest.
What stands in quotes must be there exactly as it is written.

What is new since the last search is read and indexed first, which takes some seconds for a
million tokens.`,
		Example: `  thresh sessions search retry after timeout
  thresh sessions search store.go '"return nil, err"'
  thresh sessions search -o json --limit 1 ErrNotFound | jq -r '.[].text'`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			if limit < 1 {
				return usage(cmd, fmt.Errorf("--limit is 1 or more, not %d", limit))
			}
			return s.withStore(cmd, false, func(ctx context.Context, c *config.Config, kept store.Store) error {
				taxonomy, err := window.Taxonomy(c.Settings())
				if err != nil {
					return err
				}
				var keys []store.Key
				for h, err := range kept.List(ctx, store.Filter{Owner: s.owner}) {
					if err != nil {
						return err
					}
					keys = append(keys, h.Key)
				}
				if len(keys) == 0 {
					return s.noSessions()
				}
				// Before the store is read: what is not written well takes no time.
				query := search.Query{Words: strings.Join(words, " "), Limit: limit, Tokens: search.MaxTokens}
				if _, err := query.Parse(); err != nil {
					return usage(cmd, err)
				}
				if err := s.index(ctx, kept, keys, taxonomy); err != nil {
					return err
				}
				found, err := journal.Search(ctx, kept, keys, taxonomy, query)
				if err != nil {
					return err
				}
				return s.printFound(found, len(keys))
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "print at most `N` passages")
	s.addOutput(cmd)
	return cmd
}

// index brings the indexes of sessions up to date. The first search may have much to read, and shows how far it is.
func (s *sessions) index(ctx context.Context, kept store.Store, keys []store.Key, t *tools.Taxonomy) error {
	drawn := newProgress(s.err)
	defer drawn.clear()
	left := drawn.left("sessions")
	for i, key := range keys {
		if err := journal.Index(ctx, kept, key, t); err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("session %q: %w", key.ID, err)
		}
		left(i+1, len(keys))
	}
	return nil
}

func (s *sessions) noSessions() error {
	if s.owner != "" {
		return fmt.Errorf("%s has no stored sessions; 'thresh sessions list' lists all", s.owner)
	}
	return errors.New("the local user has no stored sessions; 'thresh sessions list' lists all, --owner chooses")
}

// printFound prints a line for each passage that says where it stood, and its text under it, indented.
func (s *sessions) printFound(found journal.Hits, sessions int) error {
	list := make([]foundPassage, len(found.Found))
	for i, p := range found.Found {
		list[i] = foundPassage{Session: p.Key.ID, Owner: p.Key.Owner, Turn: p.Turn, Entry: p.Entry, Block: p.Block,
			Line: p.Line, Lines: p.Lines, Of: p.Of, Speaker: string(p.Speaker), Kind: p.Kind, Tool: p.Tool,
			Argument: p.Argument, Call: p.Call, Text: p.Text, Tokens: p.Tokens, Score: p.Score,
			Also: p.Also, Result: p.Result}
	}
	return s.show(list, func() error {
		if len(list) == 0 {
			fmt.Fprintf(s.err, "nothing was found in %s\n", plural(sessions, "session"))
		} else if found.More > 0 {
			fmt.Fprintf(s.err, "up to %d more have as many of these words; --limit shows them\n", found.More)
		}
		if len(list) > 0 && len(found.Absent) > 0 {
			fmt.Fprintf(s.err, "nowhere in %s: %s\n", plural(sessions, "session"),
				text.Printable(strings.Join(found.Absent, ", "), 200))
		}
		for i, p := range list {
			if i > 0 {
				fmt.Fprintln(s.out)
			}
			who := p.Speaker
			if p.Tool != "" {
				who = strings.TrimSpace(p.Tool + " " + p.Argument)
			}
			_, err := fmt.Fprintf(s.out, "%s  turn %d  %s  lines %d-%d of %d\n", text.Printable(p.Session, maxName), p.Turn,
				text.OneLine(who, 40), p.Line, p.Line+p.Lines-1, p.Of)
			if err != nil {
				return err
			}
			for line := range strings.Lines(text.Lines(p.Text, len(p.Text))) {
				if _, err := fmt.Fprintf(s.out, "    %s\n", strings.TrimRight(line, "\r\n")); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
