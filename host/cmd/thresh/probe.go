package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/probe"
)

type probing struct {
	comparison // strategies, vary and report
	moments    int
	write      string
	grade      string
	prompts    bool
	search     bool
	usd        float64 // 0: no limit
	yes        bool
}

// maxMoments bounds --moments: each moment has a question sheet, and more than two others for each variant.
const maxMoments = 100

const probeHelp = `Measures what a model can still tell from what strategies leave of recorded sessions.

At some moments of each session, questions are written from the whole history and from what came
next in the recording: what is to be done (continuation), what was made and in what state it is
(artifacts), what was decided and why (decisions), and exact details. They are answered from each
variant's request alone, and the answers are graded twice, by graders who do not know which answer
is whose. "nothing" is among the variants: a question that is not answered in full from the whole
history is dropped.

--search adds each variant a second time: who answers may search for what the variant had removed up
to then, with the tool thresh_recall, up to three times for each question.

With --profile, the profile's model does all of it. First thresh says how many calls and tokens that
takes and what it costs; nothing is sent without --yes, nor if it would cost more than --usd. Every
answer is kept in the user's cache directory: an interrupted run goes on where it was, and one with
a further strategy asks about that one alone.

--write DIR sends nothing: it replays the sessions and writes the work as sheets that any model or
person can work through; DIR/README.md says how. --grade DIR checks what came back, writes the next
sheets, says what is missing, and adds up the grades.

Moments are --moments requests of each session, spread evenly over those at which some variant had
removed something, and for each variant the one with the least left after each kind of rewrite
(prune, compress, make-room). They are chosen once, where there are any: a variant added later is
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

func probeCommand(a *app) *cobra.Command {
	var p probing
	var source *sources
	cmd := &cobra.Command{
		Use:   "probe [FILE…]",
		Short: "Ask a model what it can still tell from what strategies leave of sessions",
		Long:  probeHelp,
		Example: `  thresh probe --profile judge --strategy distill,high-density session.jsonl
  thresh probe --profile judge --strategy distill --search --yes --usd 5 session.jsonl
  thresh probe --write probes --search --strategy distill,high-density session.jsonl
  thresh probe --grade probes
  thresh probe --grade probes -o json | jq '.byMoment[] | {session, turn, variant, score}'
  thresh probe --prompts`,
		RunE: func(cmd *cobra.Command, given []string) error { return a.probe(cmd, p, source, given) },
	}
	source = a.addSources(cmd, lastCompared)
	a.addVariants(cmd, &p.comparison,
		"probe these strategies: `NAMES`, separated by commas; with --grade, count these variants alone")
	f := cmd.Flags()
	f.IntVar(&p.moments, "moments", 2, "probe each session at `N` moments, and after its deepest rewrites")
	f.StringVar(&p.write, "write", "", "write sheets to `DIR` instead of asking a provider")
	f.StringVar(&p.grade, "grade", "", "check and add up what was made of the sheets in `DIR`")
	f.BoolVar(&p.search, "search", false, "also answer with a search over what was removed")
	f.Float64Var(&p.usd, "usd", 0, "make no call that is expected to cost more than is left of `USD`; 0 is no limit")
	f.BoolVar(&p.yes, "yes", false, "send what the model of --profile is to be asked")
	f.BoolVar(&p.prompts, "prompts", false, "print the prompts and do nothing else")
	a.addOutput(cmd)
	a.addColumns(cmd, probeColumns())
	_ = cmd.MarkFlagDirname("write")
	_ = cmd.MarkFlagDirname("grade")
	cmd.AddCommand(probeSearchCommand(a))
	return cmd
}

func (p probing) check(cmd *cobra.Command, given []string) error {
	changed := cmd.Flags().Changed
	switch {
	case p.moments < 0 || p.moments > maxMoments:
		return fmt.Errorf("--moments: want 0 to %d, got %d", maxMoments, p.moments)
	case changed("write") && p.write == "", changed("grade") && p.grade == "":
		return errors.New("--write and --grade need the name of a directory")
	case p.write != "" && p.grade != "":
		return errors.New("--write begins and --grade goes on: give one of them")
	case p.grade != "" && (len(given) > 0 ||
		slices.ContainsFunc([]string{"vary", "moments", "search", "last", "project", "agent"}, changed)):
		return errors.New("--grade takes what --write planned: no FILE, --vary, --moments, --search, --last, --project " +
			"and --agent")
	case !(p.usd >= 0) || math.IsInf(p.usd, 0):
		return fmt.Errorf("--usd: %v is no amount of money", p.usd)
	case (p.write != "" || p.grade != "") && (p.yes || changed("usd")):
		return errors.New("--yes and --usd are about a provider; --write and --grade ask none")
	case p.grade == "" && !p.prompts && len(p.strategies) == 0:
		return errors.New("needs --strategy NAMES: each variant is a piece of work for whoever answers")
	}
	return stdinOnce(given)
}

func (a *app) probe(cmd *cobra.Command, p probing, source *sources, given []string) error {
	if err := p.check(cmd, given); err != nil {
		return usage(cmd, err)
	}
	if p.prompts {
		_, err := fmt.Fprint(a.out, probe.Prompts())
		return err
	}
	if p.grade != "" {
		return a.gradeProbes(p)
	}
	h, err := a.openQuietly(cmd)
	if err != nil {
		return err
	}
	defer h.Close()
	// All that can be wrong comes before minutes of replays.
	var m probe.Model
	dir := a.path(p.write)
	if dir == "" {
		if m, err = a.probeModel(h, p.usd); err != nil {
			return fmt.Errorf("%w; or --write DIR for sheets that others work through", err)
		}
		if dir, err = a.probeBook(); err != nil {
			return err
		}
	}
	axes, err := parseVary(h.Config(), p.vary)
	if err != nil {
		return usage(cmd, err)
	}
	o, lacking, unread, err := a.compareOptions(cmd, h, p.comparison, axes, source, given)
	if err != nil {
		return err
	}
	o.Prices = o.Prices[:1]
	o.Variants = slices.DeleteFunc(o.Variants, func(v compare.Variant) bool { return lacking[v.Strategy] })
	if len(o.Variants) == 0 {
		return errReported // what they lack has been said
	}
	book, err := probe.Create(dir)
	if err != nil {
		return err
	}
	bar := newProgress(a.err)
	o.Progress = func(done, of int) { bar.step("replayed", done-1, of) }
	sessions, err := book.Plan(cmd.Context(), h, o, p.moments, p.search)
	bar.clear()
	if err != nil {
		return err
	}
	var st *probe.State
	if p.write != "" {
		st, err = book.Check(book.Variants()) // also what earlier runs planned there
	} else {
		names := []string{compare.NothingName}
		for _, v := range o.Variants {
			names = append(names, v.Name)
			if p.search {
				names = append(names, v.Name+probe.Searching)
			}
		}
		st, err = a.askProbes(cmd, book, m, p, names, sessions)
	}
	if err != nil {
		return err
	}
	return cmp.Or(a.printProbes(st), unread)
}

func (a *app) gradeProbes(p probing) error {
	book, err := probe.Open(a.path(p.grade))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--grade: %s: 'thresh probe --write' has written nothing there", displayPath(p.grade))
	}
	if err != nil {
		return err
	}
	names := book.Variants()
	if len(p.strategies) > 0 {
		if err := checkStrategies(p.strategies); err != nil {
			return err
		}
		for _, n := range p.strategies {
			if !slices.Contains(names, n) {
				return fmt.Errorf("--strategy: %s has no variant %q; it has %q", displayPath(p.grade), n, names)
			}
		}
		names = p.strategies
	}
	st, err := book.Check(names)
	if err != nil {
		return err
	}
	return a.printProbes(st)
}
