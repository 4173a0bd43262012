package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/lab/explain"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// restoreCommand prints entries that pruning removed, from a transcript log or a stored session. Agents use the method
// history.recorded of the JSON-RPC interface instead.
func restoreCommand(a *app) *cobra.Command {
	var list bool
	stored := &sessions{app: a}
	var session string
	cmd := &cobra.Command{
		Use:   "restore {TRANSCRIPT | --session SESSION} [ID…]",
		Short: "Print what was removed from a history, by its id",
		Long: `Prints entries of a session as they were added, before any strategy changed them. An ID is that of
an entry, as the outcome of a turn names what was trimmed and removed, or that of a tool call, which
selects the call and its responses. Without an ID the whole conversation is printed.

TRANSCRIPT is the transcript log that a host writes with the setting transcript.dir, or a session in
any format that 'thresh sessions convert' reads. Formats without ids number their entries e1, e2 and
so on, in the order of the file. '-' is standard input. With --session, the command reads a stored
session (sessions.store) instead.

With -o json each entry is one line in the native form, byte for byte as it was added.`,
		Example: `  thresh restore --list ~/transcripts/session.jsonl
  thresh restore ~/transcripts/session.jsonl e12 call_7
  thresh restore -o json ~/transcripts/session.jsonl > whole.jsonl
  thresh restore --session s1 e12`,
		Args: func(cmd *cobra.Command, given []string) error {
			ids := len(given)
			if session == "" {
				ids--
			}
			switch {
			case ids < 0:
				return usage(cmd, errors.New("needs a TRANSCRIPT ('-' is standard input) or --session"))
			case list && ids > 0:
				return usage(cmd, errors.New("--list takes no ID: it lists them all"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, given []string) error {
			name, ids := session, given
			var t *transcript.Transcript
			var err error
			if session != "" {
				t, err = stored.transcript(cmd, session)
			} else {
				// No settings are read: the transcript may come from another machine.
				name, ids = displayPath(given[0]), given[1:]
				t, err = a.read(cmd.Context(), given[0])
			}
			if err != nil {
				return err
			}
			a.warnings(name, t.Notes)
			// A hint and no error: entries can still be named by position.
			if t.IDs == nil {
				fmt.Fprintf(a.err, "%s: the file holds no ids: e1 is its first entry\n", name)
			}
			k := kept{t, transcriptlog.NewIndex(t.Entries, t.IDs)}
			if list {
				return a.listKept(cmd, k)
			}
			found, err := k.find(ids)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return a.printKept(k, found)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the ids, with tokens and what each entry is")
	stored.addSession(cmd, &session)
	a.addOutput(cmd)
	a.addColumns(cmd, listColumns)
	return cmd
}

// transcript returns a stored session as it was added. It has ids but no lines: every line number is 0.
func (s *sessions) transcript(cmd *cobra.Command, id string) (*transcript.Transcript, error) {
	t := &transcript.Transcript{IDs: []string{}}
	err := s.withStore(cmd, false, func(ctx context.Context, _ *config.Config, kept store.Store) error {
		key, err := s.key(ctx, cmd, kept, id)
		if err != nil {
			return err
		}
		all, err := journal.Read(ctx, kept, key)
		if err != nil {
			return missing(err, id)
		}
		t.System, t.Lines = all.System, make([]int, len(all.Added))
		for _, e := range all.Added {
			t.Entries, t.IDs = append(t.Entries, e.Content), append(t.IDs, e.ID)
		}
		return nil
	})
	return t, err
}

// kept is a transcript with an index of its ids. Ids of entries and of calls share it: a user need not know which of
// the two an id is.
type kept struct {
	*transcript.Transcript
	ids *transcriptlog.Index
}

const (
	maxGuesses = 3 // similar ids that are suggested for an unknown one
	maxUnknown = 5 // unknown ids that are named
)

// find returns the positions of the entries with the given ids, each once and in the order of the ids; without ids,
// all. The id of a tool call finds the call and its responses. If any id is unknown, nothing is returned: half of what
// was asked for is easily taken for all of it.
func (k kept) find(ids []string) ([]int, error) {
	var found []int
	if len(ids) == 0 {
		for i := range k.Entries {
			found = append(found, i)
		}
		return found, nil
	}
	var unknown []string
	seen := map[int]bool{}
	for _, id := range ids {
		at := k.ids.Find(id)
		if len(at) == 0 {
			unknown = append(unknown, id)
		}
		for _, i := range at {
			if !seen[i] {
				seen[i] = true
				found = append(found, i)
			}
		}
	}
	if len(unknown) > 0 {
		return nil, k.unknown(unknown)
	}
	return found, nil
}

// unknown returns the error for ids that the transcript does not have, with suggestions. Quoted: they come from a
// command line or a model's text.
func (k kept) unknown(ids []string) error {
	var parts []string
	for _, id := range ids[:min(len(ids), maxUnknown)] {
		part := strconv.Quote(id)
		if near := k.ids.Near(id, maxGuesses); len(near) > 0 {
			for i := range near {
				near[i] = strconv.Quote(near[i])
			}
			part += " (did you mean " + strings.Join(near, " or ") + "?)"
		}
		parts = append(parts, part)
	}
	if more := len(ids) - maxUnknown; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf(
		"no entry and no call has the id %s; 'thresh restore --list' lists them", strings.Join(parts, ", "),
	)
}

// keptEntry is one line of the list and its JSON form. Index counts entries from 0, Line lines of the file from 1 (0
// for formats without lines), and Calls are the ids of the tool calls in the entry. Tokens are the host's own count.
type keptEntry struct {
	ID      string          `json:"id"`
	Index   int             `json:"index"`
	Line    int             `json:"line"`
	Speaker content.Speaker `json:"speaker"`
	Tokens  int             `json:"tokens"`
	What    string          `json:"what"`
	Calls   []string        `json:"calls,omitempty"`
}

// listKept prints the list of ids. Token counts are those of the current settings, which may differ from the session's.
func (a *app) listKept(cmd *cobra.Command, k kept) error {
	counter, taxonomy, err := a.reading(cmd) // the host counted by the settings
	if err != nil {
		return err
	}
	counts, err := counter.CountAll(cmd.Context(), k.Entries, nil)
	if err != nil {
		return err
	}
	entries := make([]keptEntry, len(k.Entries))
	for i, what := range explain.Describe(k.Entries, taxonomy) {
		e := k.Entries[i]
		entries[i] = keptEntry{
			ID: k.ids.ID(i), Index: i, Line: k.Lines[i], Speaker: e.Speaker, Tokens: counts[i], What: what,
			Calls: k.ids.Calls(i),
		}
	}
	return a.show(map[string]any{"entries": entries}, func() error {
		list := table.New(listColumns...)
		for _, e := range entries {
			list.Row(e.ID, strconv.Itoa(e.Line), string(e.Speaker), table.Int(e.Tokens), e.What,
				strings.Join(e.Calls, " "))
		}
		return a.printTable(list)
	})
}

var listColumns = []table.Column{
	{Name: "id"}, {Name: "line", Rank: 1}, {Name: "speaker", Rank: 1}, {Name: "tokens", Right: true},
	{Name: "what", Head: "WHAT IT IS", Min: 24}, {Name: "calls", Min: 12},
}

// printKept prints the entries at the given positions. The JSON form uses the entry's own encoder, which reproduces the
// recorded bytes; encoding/json would reorder and escape. Output is written once, so an error leaves none of it.
func (a *app) printKept(k kept, found []int) error {
	var out []byte
	for n, i := range found {
		e := k.Entries[i]
		if a.output == "json" {
			// JSON lines, not an array: other tools read and cut them line by line.
			out = append(e.AppendJSON(out), '\n')
			continue
		}
		if n > 0 {
			out = append(out, '\n')
		}
		line := ""
		if k.Lines[i] > 0 {
			line = fmt.Sprintf("line %d, ", k.Lines[i])
		}
		out = fmt.Appendf(out, "%s (entry %d, %s%s)\n", k.ids.ID(i), i, line, e.Speaker)
		for _, b := range e.Blocks {
			out = append(out, printable(messages.Readable(b))...)
			out = append(out, '\n')
		}
	}
	_, err := a.out.Write(out)
	return err
}

// printable replaces characters that could control the terminal: recorded tool results contain escape sequences, and
// hostile ones could rewrite what was printed before. -o json has the text unchanged.
func printable(text string) string {
	// Or each line of a Windows text would end in a replacement character.
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '\ufffd'
	}, text)
}

// reading returns how tokens are counted and which tool calls read or write which files, by the settings.
func (a *app) reading(cmd *cobra.Command) (*tokens.Counter, *tools.Taxonomy, error) {
	c, err := a.loadConfig(cmd)
	if err != nil {
		return nil, nil, err
	}
	set := c.Settings()
	counter, err := tokens.For(set.Model.Name, set.Model.Encoding)
	if err != nil {
		return nil, nil, err
	}
	taxonomy, err := window.Taxonomy(set)
	return counter, taxonomy, err
}
