package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/compare/htmlreport"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// comparison holds the flags of compare. Flags of the root command (--set, --profile and so on) apply to all variants.
type comparison struct {
	// --strategy; empty: all that are found
	strategies []string
	// --vary, unparsed: KEY=V1,V2
	vary []string
	// --prices: names of lists; empty: see [priceLists]
	prices []string
	// --report: the HTML file to write, "" for none
	report string
	// reported tells --report "" from no flag at all: the former is a script with an empty variable, and must fail.
	reported bool
	// Times of host and plugin grow with it, as the replays compete for processors.
	parallel int  // sessions replayed at a time; 0: one per processor
	sessions bool // print a table for each session too
	turns    bool // print a table of turns for each session and variant too
	// --min-recall, in percent: strategies that keep less are not recommended
	minRecall float64
	windows   bool // compare shares of the context window, with one strategy
	write     bool // put the recommended settings into the file of settings
}

// typicalPrices are used when no price list is in force and no session names its model: a provider that charges extra
// for writing to its prompt cache, one that does not, and one without a cache. All three ship with the program:
// [pricing.Catalog.Named] fails for them only if a user's file replaces one with another name.
var typicalPrices = []string{"anthropic-sonnet", "openai-gpt-5", "no-cache"}

// lastCompared is how many of the found sessions a comparison takes: enough to be telling, and done in a minute or two.
const lastCompared = 10

func compareHelp() string {
	return `Replays recorded sessions through several strategies, turn by turn, and shows side by side what
each of them saves, what it costs at a provider's prices, and what later turns would have missed.
The first row is doing nothing.

` + measureHelp() + `
NAME-worst is the figure of the session that came off worst.

The table shows the columns that fit. --columns chooses others by these names, and -o json has
everything.

Without --strategy, all strategies that are found are compared. Those that prune continuously are
run with each cadence, unless compression.density.cadence is set or --vary is given; the table shows
the best for each strategy, -o json all of them. --vary tries values of a setting, and the values of
several settings in all combinations. A setting of compression.density is tried only with strategies
that prune continuously, a setting of strategies.NAME only with that strategy.

Prices are those of --prices, else those of the price list in force (model.priceList, model.name),
else those of the model that each session was recorded with. A session whose model has no list is
shown in tokens, and is in no cost. Where no session names its model, three typical lists are shown:
anthropic-sonnet, openai-gpt-5, no-cache. 'thresh config prices' shows them all. A variant that
decides by prices is run once for each list; in one row, each column has the cost of the run by its
list.

Where a recording has the usage that the provider reported, all figures are on that base: they
include the system prompt, the tool schemas and, in costs, the answers. At the prices of its own
model, doing nothing costs what the session was billed. Without usage, thresh counts the tokens.

The last lines name the variant that would have been the cheapest at the first price list, of those
whose lines and own are at least --min-recall in nine of ten sessions, and say in how many sessions
the choice that the others make keeps that; where none does, what comes closest, and what that
loses. A session that no strategy fits is named, and decides nothing. A month is thirty days at the
rate of the sessions in the thirty days up to the newest, all agents together.

--windows says which share of the context window is cheapest, and at what loss: it runs one
strategy, that of --strategy or the one in force, with compression.threshold at 0.2, 0.4, 0.6 and 1,
and unless it is set also without, when the strategy or the prices say when to compress: its own
moment.

They also say what has to be set, if anything. --write sets it in the user's file, which is in force
everywhere, with --project in DIR/thresh.yaml, and in the file of --config if there is one; it says
if something stronger overrules it here.

A file that cannot be read is reported, and the others are still compared. --report writes a
self-contained HTML page.`
}

// compareCommand defines a --strategy that hides the common one, because here it takes a list.
func compareCommand(a *app) *cobra.Command {
	var (
		c      comparison
		source *sources
	)
	cmd := &cobra.Command{
		Use:   "compare [FILE…]",
		Short: "Compare strategies on recorded sessions: what each saves, costs and loses",
		Long:  compareHelp(),
		Example: `  thresh compare
  thresh compare --project . --last 30
  thresh compare examples/sessions/*.json*
  thresh compare --strategy high-density,top-down-truncation --report out.html session.jsonl
  thresh compare --vary compression.density.cadence=gated,priced --prices openai-gpt-5 *.jsonl
  thresh compare --sessions --set model.contextLimit=30000 *.jsonl
  thresh compare --windows --set model.contextLimit=1000000
  thresh compare --turns --strategy top-down-truncation session.jsonl
  thresh compare -o json *.jsonl | jq '.totals.variants[] | {variant, saved, recall: .recall.share}'`,
		RunE: func(cmd *cobra.Command, given []string) error { return a.compare(cmd, c, source, given) },
	}
	// A comparison of one's own sessions needs no argument.
	source = a.addSources(cmd, lastCompared)
	a.addVariants(cmd, &c, "compare these strategies: `NAMES`, separated by commas (default all)")
	f := cmd.Flags()
	f.StringSliceVar(&c.prices, "prices", nil, "use these price lists: `LISTS`, separated by commas")
	f.StringVar(&c.report, "report", "", "write an HTML page to `FILE`, too")
	f.IntVar(&c.parallel, "parallel", 0, "replay `N` sessions at a time; 0 means one per processor")
	f.Float64Var(&c.minRecall, "min-recall", 60, "recommend only what keeps `PERCENT`: the lower of lines and own")
	f.BoolVar(&c.windows, "windows", false, "say which share of the context window is cheapest, and at what loss")
	f.BoolVar(&c.write, "write", false, "set what is advised in the file that the advice names")
	f.BoolVar(&c.sessions, "sessions", false, "show a table for each session, too")
	f.BoolVar(&c.turns, "turns", false, "show what each turn of each session did, too; -o json has it as steps")
	a.addOutput(cmd)
	a.addColumns(cmd, allColumns())
	_ = cmd.RegisterFlagCompletionFunc("prices", listOf(a.completePrices))
	return cmd
}

// compare checks all flags before it reads a file, and all settings before it replays one: a comparison can take many
// minutes, and none of them should be lost to a typo. The report is printed even if a variant failed or the run was
// interrupted, marked as incomplete; the exit status is then 1.
func (a *app) compare(cmd *cobra.Command, c comparison, source *sources, given []string) error {
	c.reported = cmd.Flags().Changed("report")
	if err := c.check(given); err != nil {
		return usage(cmd, err)
	}
	if err := a.checkReport(c.report); err != nil {
		return err
	}
	// One host for all variants: plugins are started once, and each vocabulary is loaded once.
	h, err := a.openQuietly(cmd)
	if err != nil {
		return err
	}
	defer h.Close()
	if c.windows {
		c.vary = []string{compare.KeyThreshold + "=0.2,0.4,0.6,1"}
		if len(c.strategies) == 0 {
			c.strategies = []string{h.Config().Settings().Compression.Strategy}
		}
	}
	axes, err := parseVary(h.Config(), c.vary)
	if err != nil {
		return usage(cmd, err)
	}
	if c.windows {
		axes[0].unset = h.Config().Origin(compare.KeyThreshold).Layer == config.LayerDefault
	}
	o, lacking, unread, err := a.compareOptions(cmd, h, c, withCadences(h.Config(), axes), source, given)
	if err != nil {
		return err
	}
	o.Parallel, o.Turns = c.parallel, c.turns
	// compare.Run calls Progress from one goroutine at a time, although sessions run in parallel.
	bar := newProgress(a.err)
	o.Progress = bar.left("replays")
	report, err := compare.Run(cmd.Context(), h, o)
	bar.clear()
	if report == nil {
		return err
	}
	failed := unread
	switch {
	case err != nil:
		failed = errReported
		a.reportStop(cmd.Context(), report, err)
	case anyFailed(report, lacking):
		failed = errReported // the table says what
	}
	// --min-recall is in percent.
	report.Recommendation = report.Recommend(c.minRecall / 100)
	if c.windows {
		report.Windows = report.ByWindow()
	}
	set, err := a.toSet(h.Config(), source, report)
	if err == nil {
		err = a.printComparison(report, c, set)
	}
	if err == nil && c.write {
		err = a.writeAdvice(cmd, report.Recommendation, set)
	}
	return cmp.Or(err, failed)
}

// compareOptions returns what is compared, and at which prices. Strategies in lacking need a model and have none. unread
// is about files that cannot be read, where there are others.
func (a *app) compareOptions(
	cmd *cobra.Command, h *window.Host, c comparison, axes []axis, source *sources, given []string,
) (o compare.Options, lacking map[string]bool, unread, err error) {
	set := h.Config().Settings().Model
	catalog, err := pricing.Load(set.PriceFile)
	if err == nil {
		o.Prices, err = priceLists(catalog, set, c.prices)
	}
	if err != nil {
		// An unknown name is a usage error only if it came from --prices.
		if errors.Is(err, pricing.ErrUnknown) {
			err = usage(cmd, fmt.Errorf("--prices: %w", err))
		}
		return o, nil, nil, err
	}
	note := ""
	if o.Variants, lacking, note, err = a.variants(cmd, h, c.strategies, axes); err != nil {
		return o, nil, nil, err
	}
	files, err := a.files(cmd, source, given)
	if err != nil {
		return o, nil, nil, err
	}
	if o.Sessions, unread = a.readAll(cmd.Context(), files); len(o.Sessions) == 0 {
		return o, nil, nil, unread
	}
	o.Unread = a.unread
	if note != "" {
		fmt.Fprintln(a.err, "thresh: "+note)
	}
	return o, lacking, unread, priceSessions(catalog, set, &o, len(c.prices) > 0)
}

func (c comparison) check(files []string) error {
	switch {
	case c.report == "-":
		return errors.New("--report needs the name of a file, not '-': the table goes to standard output")
	case c.reported && c.report == "":
		return errors.New("--report needs the name of a file")
	case !(c.minRecall >= 0 && c.minRecall <= 100):
		return fmt.Errorf("--min-recall: %v is not a percentage", c.minRecall)
	case c.windows && len(c.vary) > 0:
		return errors.New("--windows varies compression.threshold alone; leave --vary out")
	case c.windows && len(c.strategies) > 1:
		return fmt.Errorf("--windows: %d strategies; name one with --strategy", len(c.strategies))
	case c.parallel < 0:
		return fmt.Errorf("--parallel: %d is not a number of replays", c.parallel)
	}
	return stdinOnce(files)
}

// stdinOnce rejects '-' given twice: read again, standard input is empty.
func stdinOnce(files []string) error {
	if i := slices.Index(files, "-"); i >= 0 && slices.Contains(files[i+1:], "-") {
		return errors.New("'-' is standard input and can be read only once")
	}
	return nil
}

// anyFailed reports whether a variant failed for a reason other than a missing model, which was reported before the run
// and is expected if only some strategies have one, such as in CI.
func anyFailed(r *compare.Report, lacking map[string]bool) bool {
	for i := range r.Totals.Variants {
		if r.Totals.Variants[i].Error != "" && !lacking[r.Variants[i].Strategy] {
			return true
		}
	}
	return false
}

// reportStop prints why a comparison ended early and how many of the replays (sessions × variants) were complete, which
// tells whether the partial table is worth reading.
func (a *app) reportStop(ctx context.Context, r *compare.Report, err error) {
	done, all := 0, 0
	for i := range r.Sessions {
		for _, v := range r.Sessions[i].Variants {
			if all++; v.Done {
				done++
			}
		}
	}
	if ctx.Err() != nil {
		fmt.Fprintf(a.err, "thresh: interrupted after %d of %d replays: the results are incomplete\n", done, all)
		return
	}
	fmt.Fprintf(a.err, "thresh: after %d of %d replays: %v\n", done, all, err)
}

// priceSessions has each session priced at the prices of its own model: in the columns that name its list and, unless
// price lists were chosen, in one column for all sessions. Only where no session names its model are the lists those
// of [typicalPrices]. The error is about these.
func priceSessions(catalog *pricing.Catalog, set config.Model, o *compare.Options, chosen bool) (err error) {
	o.PriceOf = catalog.ForModel
	if len(o.Prices) > 0 {
		o.ByModel = !chosen && (set.PriceList == "" || set.PriceList == pricing.Auto) && catalog.ForModel(set.Name) != nil
		return nil
	}
	o.Prices, o.ByModel = compare.RecordedPrices(catalog.ForModel, o.Sessions), true
	named := func(s compare.Session) bool { return s.Transcript.Model != "" }
	if len(o.Prices) == 0 && !slices.ContainsFunc(o.Sessions, named) {
		typical, err := catalog.Select(typicalPrices...)
		if err != nil {
			return err
		}
		o.Prices = typical.Lists()
	}
	return nil
}

// priceLists returns the price lists that a comparison was told, in the order of columns: the named ones, else the one
// in force, if there is one. The error wraps [pricing.ErrUnknown].
func priceLists(catalog *pricing.Catalog, set config.Model, names []string) ([]*pricing.List, error) {
	if len(names) == 0 {
		l, err := catalog.Choose(set.PriceList, set.Name)
		if err != nil {
			return nil, fmt.Errorf("model.priceList: %w", err)
		}
		if l == nil { // no list for the model is no mistake
			return nil, nil
		}
		return []*pricing.List{l}, nil
	}
	chosen, err := catalog.Select(names...)
	if err != nil {
		return nil, err // the caller says whether it was --prices
	}
	return chosen.Lists(), nil
}

// printComparison prints the report in the chosen format, then writes the HTML page. An incomplete comparison gets no
// page: pages are passed on, and the reader would not see the warning on this terminal.
func (a *app) printComparison(r *compare.Report, c comparison, set *toSet) error {
	err := a.show(r, func() error { return a.printCompared(r, c, set) })
	if c.report == "" {
		return err
	}
	if r.Incomplete {
		fmt.Fprintln(a.err, "thresh: no report is written: the comparison is incomplete")
		return err
	}
	// Even if the table could not be printed: the page took minutes to compute.
	return errors.Join(err, a.writeReport(c.report, func(w io.Writer, o htmlreport.Options) error {
		o.Every = len(c.vary) > 0
		if set != nil {
			o.Set, o.Lines = set.text, set.lines
		}
		return htmlreport.Write(w, r, o)
	}))
}

func (a *app) completePrices(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	// The shell shows no messages, and the command itself reports the same error.
	c, err := a.loadConfig(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	catalog, err := pricing.Load(c.Settings().Model.PriceFile)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, l := range catalog.Lists() {
		names = append(names, l.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// listOf extends a completion of one name to a comma-separated list. NoSpace lets the user continue with another comma.
func listOf(names cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective) {
		before := given[:strings.LastIndexByte(given, ',')+1]
		found, directive := names(cmd, args, given[len(before):])
		out := make([]string, len(found))
		for i, name := range found {
			out[i] = before + name
		}
		return out, directive | cobra.ShellCompDirectiveNoSpace
	}
}
