package main

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/text"
)

// shownTree is a session with those that were forked from it, in the store's order.
type shownTree struct {
	shownSession
	Children []*shownTree `json:"children,omitempty"`
}

// showCommand reads heads only: a session whose log is damaged can still be shown.
func (s *sessions) showCommand() *cobra.Command {
	var entry string
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a session, or what was added to it under an id",
		Long: `Shows a session, and the sessions that it was forked from and into.

With --entry, prints what was added to it, before any strategy changed it: the entry with that id,
as the outcome of a turn names what was trimmed and removed; the result with the id of a mark,
[thresh_recall: ID]; or the entries with the tool call of that id and its responses. With -o json
each is a line in the native form, byte for byte as it was added.`,
		Example: `  thresh sessions show s1
  thresh sessions show s1 --entry e12
  thresh sessions show s1 --entry call_7 -o json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if cmd.Flags().Changed("entry") {
				return s.showEntry(cmd, given[0], entry)
			}
			return s.withStore(cmd, false, func(ctx context.Context, _ *config.Config, kept store.Store) error {
				key, err := s.key(ctx, cmd, kept, given[0])
				if err != nil {
					return err
				}
				head, err := kept.Head(ctx, key)
				if err != nil {
					return missing(err, given[0])
				}
				tree, err := treeOf(ctx, kept, head)
				if err != nil {
					return err
				}
				if s.output == "json" {
					return s.printJSON(struct {
						shownSession
						Tree *shownTree `json:"tree"`
					}{shown(head), tree})
				}
				// Agents choose ids: they may be any text.
				h := shown(head)
				fmt.Fprintf(s.out, "session   %s\nentries   %d (%d tokens)\nsize      %s in %d records\n",
					text.Printable(h.ID, maxName), h.Entries, h.Tokens, sizeText(h.Bytes), h.Records)
				fmt.Fprintf(s.out, "created   %s\nused      %s\n", h.Created.Format(time.RFC3339),
					h.Used.Format(time.RFC3339))
				if h.Owner != "" {
					fmt.Fprintf(s.out, "owner     %s\n", h.Owner)
				}
				// The parent may have been deleted; its name is kept.
				if h.Parent != "" {
					fmt.Fprintf(s.out, "parent    %s, from entry %d\n", text.Printable(h.Parent, maxName),
						h.ForkedEntries)
				}
				if len(tree.Children) > 0 {
					fmt.Fprintln(s.out)
					s.printTree(tree, "", head.ID)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&entry, "entry", "", "print what was added under this `ID`, of an entry, a mark or a tool call")
	s.addOutput(cmd)
	return cmd
}

// showEntry prints what [journal.Find] finds. Output is written once, so an error leaves none of it.
func (s *sessions) showEntry(cmd *cobra.Command, id, entry string) error {
	return s.withStore(cmd, false, func(ctx context.Context, _ *config.Config, kept store.Store) error {
		key, err := s.key(ctx, cmd, kept, id)
		if err != nil {
			return err
		}
		found, err := journal.Find(ctx, kept, key, entry)
		if err != nil {
			return missing(err, id)
		}
		if len(found) == 0 {
			// Quoted: it may come from a model's text.
			return fmt.Errorf("session %q has no entry, mark or call %q; 'thresh sessions export' prints all entries, "+
				"with their ids", id, entry)
		}
		var out []byte
		for i, e := range found {
			if s.output == "json" {
				// The entry's own encoder reproduces the recorded bytes; encoding/json would reorder and escape.
				out = append(e.AppendJSON(out), '\n')
				continue
			}
			if i > 0 {
				out = append(out, '\n')
			}
			out = append(out, text.Printable(string(e.Speaker), maxName)+":\n"...)
			for _, b := range e.Blocks {
				out = append(out, printable(messages.Readable(b))+"\n"...)
			}
		}
		_, err = s.out.Write(out)
		return err
	})
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

// treeOf returns the tree that a session is in, from the first one that is still stored. A session that has been
// deleted meanwhile is a tree of its own. Time and memory grow with the owner's sessions.
func treeOf(ctx context.Context, kept store.Store, of store.Head) (*shownTree, error) {
	nodes := map[string]*shownTree{}
	var order []*shownTree
	for h, err := range kept.List(ctx, store.Filter{Owner: of.Owner}) {
		if err != nil {
			return nil, err
		}
		n := &shownTree{shownSession: shown(h)}
		nodes[h.ID], order = n, append(order, n)
	}
	// Ids can be reused after a deletion: a younger session has the id of a deleted parent.
	for _, n := range order {
		if parent := nodes[n.Parent]; parent != nil && parent.Created.Before(n.Created) {
			parent.Children = append(parent.Children, n)
		}
	}
	// Parents are older than their children, so the way up ends even if the store is damaged.
	root := nodes[of.ID]
	if root == nil { // deleted since
		return &shownTree{shownSession: shown(of)}, nil
	}
	for {
		parent := nodes[root.Parent]
		if parent == nil || !parent.Created.Before(root.Created) {
			break
		}
		root = parent
	}
	return root, nil
}

// printTree draws a tree, with a mark at the requested session. indent is printed before the branches of n.
func (s *sessions) printTree(n *shownTree, indent, asked string) {
	mark := ""
	if n.ID == asked {
		mark = " *"
	}
	from := ""
	if n.Parent != "" {
		from = fmt.Sprintf(", from entry %d", n.ForkedEntries)
	}
	fmt.Fprintf(s.out, "%s (%d entries%s)%s\n", text.Printable(n.ID, maxName), n.Entries, from, mark)
	for i, child := range n.Children {
		branch, next := "├─ ", "│  "
		if i == len(n.Children)-1 {
			branch, next = "└─ ", "   "
		}
		fmt.Fprint(s.out, indent, branch)
		s.printTree(child, indent+next, asked)
	}
}
