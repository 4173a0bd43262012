// Command thresh-probe makes the project's figures about models: what a model can still tell from what strategies leave
// of recorded sessions, and how far counted tokens are from what providers report. It is not released; "make probe"
// builds it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	_ "github.com/thresh-dev/thresh/host/early"
	"github.com/thresh-dev/thresh/host/internal/lab/probe"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/internal/window"
)

func main() {
	window.ReexecMain() // the strategies are processes of this program
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cmd := newCommand(&program{env: os.Environ(), out: os.Stdout, err: os.Stderr})
	cmd.SetArgs(os.Args[1:])
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "thresh-probe: "+err.Error())
		os.Exit(1)
	}
}

// program is where the command runs, and the flags that say which configuration it has.
type program struct {
	dir      string // "": the working directory
	env      []string
	out, err io.Writer

	configFile, profile string
	sets                []string // KEY=VALUE
	json                bool
}

const help = `Measures what a model can still tell from what strategies leave of recorded sessions.

At some moments of each session, questions are written from the whole history and from what came
next in the recording: what is to be done (continuation), what was made and in what state it is
(artifacts), what was decided and why (decisions), and exact details. They are answered from each
strategy's request alone, and the answers are graded twice, by graders who do not know which answer
is whose. "nothing" is among the strategies: a question that is not answered in full from the whole
history is dropped.

--search adds each strategy a second time: who answers may search for what it had removed up to then,
with the tool thresh_recall, up to three times for each question.

With --profile, the profile's model does all of it. First the calls and tokens that takes are shown,
and what it costs; nothing is sent without --yes, nor if it would cost more than --usd. Every answer
is kept in the user's cache directory: an interrupted run goes on where it was, and one with a further
strategy asks about that one alone.

--write DIR sends nothing: it replays the sessions and writes the work as sheets that any model or
person can work through; DIR/README.md says how. --grade DIR checks what came back, writes the next
sheets, says what is missing, and adds up the grades.

Moments are --moments requests of each session, spread evenly over those at which some strategy had
removed something, and for each strategy the one with the least left after each kind of rewrite
(prune, compress, make-room). They are chosen once, where there are any: a strategy added later is
probed at the same moments, and only its own answers are asked for.

  score       mean over the questions at the evenly spread moments: 1 for a full answer, 0.5 for a
              part of it, 0 for none
  interval    95 % by bootstrap over sessions; over moments if there is one session
  after       the same right after the deepest rewrites; worst: the moment with the lowest score
  wrong       answers that say something false; unknown: answers that say that it is not known
  left        tokens of the request at the evenly spread moments, on average
  searches    how often was searched for a question, and found: the tokens that this brought, on
              average
  cost        cost of the sessions against doing nothing, as 'thresh compare' computes it; with a
              search also what those at the evenly spread moments would have cost the session, each
              a request more`

func newCommand(p *program) *cobra.Command {
	var w work
	cmd := &cobra.Command{
		Use: "thresh-probe FILE…", Short: "Ask a model what it can still tell from what strategies leave of sessions",
		Long: help,
		Example: `  thresh-probe --profile judge --strategy distill,high-density session.jsonl
  thresh-probe --profile judge --strategy distill --search --yes --usd 5 session.jsonl
  thresh-probe --write probes --search --strategy distill,high-density session.jsonl
  thresh-probe --grade probes
  thresh-probe --grade probes -o json | jq '.byMoment[] | {session, turn, variant, score}'
  thresh-probe --prompts`,
		Args: cobra.ArbitraryArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, files []string) error { return p.probe(cmd, w, files) },
	}
	cmd.SetOut(p.out)
	cmd.SetErr(p.err)
	all := cmd.PersistentFlags()
	all.StringVar(&p.configFile, "config", "", "read settings from `FILE` instead of the user's file and ./thresh.yaml")
	all.StringVar(&p.profile, "profile", "", "use the settings of profiles.`NAME`")
	all.StringArrayVar(&p.sets, "set", nil, "override one setting: `KEY=VALUE` (repeatable)")
	output := "text"
	all.StringVarP(&output, "output", "o", "text", "print `FORMAT`: text for people, json for programs")
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error {
		if p.json = output == "json"; !p.json && output != "text" {
			return fmt.Errorf("--output is text or json, not %q", output)
		}
		return nil
	}
	f := cmd.Flags()
	f.StringSliceVar(&w.strategies, "strategy", nil,
		"probe these strategies: `NAMES`, separated by commas; with --grade, count these variants alone")
	f.IntVar(&w.moments, "moments", 2, "probe each session at `N` moments, and after its deepest rewrites")
	f.StringVar(&w.write, "write", "", "write sheets to `DIR` instead of asking a provider")
	f.StringVar(&w.grade, "grade", "", "check and add up what was made of the sheets in `DIR`")
	f.BoolVar(&w.search, "search", false, "also answer with a search over what was removed")
	f.Float64Var(&w.usd, "usd", 0, "make no call that is expected to cost more than is left of `USD`; 0 is no limit")
	f.BoolVar(&w.yes, "yes", false, "send what the model of --profile is to be asked")
	f.BoolVar(&w.prompts, "prompts", false, "print the prompts and do nothing else")
	cmd.AddCommand(searchCommand(p), calibrationCommand(p))
	return cmd
}

func searchCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "search SHEET QUESTION WORDS…", Short: "Search for a question of a sheet",
		Long: `Searches for a question of a sheet that 'thresh-probe --write --search' wrote, over what had been
removed at its moment, and prints the passages as the tool thresh_recall would. It counts the
searches and their tokens beside the sheet, and refuses the fourth for a question.`,
		Example: `  thresh-probe search probes/2-answers/0b93ffb3 3fa91c02 'testServer port "8431"'`,
		Args:    cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := probe.Search(cmd.Context(), p.path(args[0]), args[1], strings.Join(args[2:], " "))
			if err == nil {
				_, err = fmt.Fprint(p.out, text)
			}
			return err
		},
	}
}

func (p *program) printJSON(v any) error {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (p *program) printTable(t *table.Table) error {
	return t.Write(p.out, table.Options{Width: table.Width(p.out, p.getenv("COLUMNS"))})
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
