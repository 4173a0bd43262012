package compare

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk"
)

// Run replays every session with every variant through h and returns the report. A variant that cannot run (unknown
// strategy, invalid settings, missing model) has an error in its [Result], and the others go on.
//
// The error of Run is about a variant with the name of doing nothing (with a nil report), about a session that cannot be
// counted, or ctx's error. In the latter cases the report is not nil: it has what was done so far and is marked as
// incomplete.
func Run(ctx context.Context, h *window.Host, o Options) (*Report, error) {
	start := time.Now()
	c := comparison{host: h, options: o, parallel: cmp.Or(o.Parallel, runtime.GOMAXPROCS(0))}
	if slices.ContainsFunc(o.Variants, func(v Variant) bool { return v.name() == NothingName }) {
		return nil, fmt.Errorf("no variant can have the name %q: it is that of doing nothing", NothingName)
	}
	c.plan(ctx)
	// From here on only ctx and sessions that cannot be counted end the run.
	err := c.replayAll(ctx)
	// Also after an error, as replays that were done are worth showing.
	r := c.report()
	r.Took = time.Since(start)
	return r, err
}

// comparison is the state of one Run. Replays run in parallel: each writes its own slot, and everything else is written
// before they start. mu guards done and serialises Progress. A comparison is used once.
type comparison struct {
	host     *window.Host
	options  Options
	parallel int

	variants   []variant
	recordings []*recording
	slots      [][]slot // by session and variant

	mu   sync.Mutex
	done int
}

// variant is one column of the report: a variant of the options, with the price list to decide by if there is one.
type variant struct {
	VariantInfo
	overrides map[string]any
	lists     []*pricing.List
	config    *config.Config // nil if the settings are wrong: then the replay says so
}

// slot is the result of one replay. The zero value is a replay that did not begin or was interrupted.
type slot struct {
	found *observer // nil if nothing was replayed
	done  bool      // the session was replayed to its end
	err   error
}

type job struct{ session, variant int }

func (v Variant) name() string { return cmp.Or(v.Name, v.Strategy) }

// plan determines the columns. A variant that decides by prices becomes one column per price list: with another list
// it would have made other decisions, so its cost by that list would describe a situation that cannot occur.
func (c *comparison) plan(ctx context.Context) {
	for _, v := range c.options.Variants {
		made := c.column(v, v.name(), nil)
		if !c.byPrice(ctx, made) {
			c.variants = append(c.variants, made)
			continue
		}
		for _, l := range c.options.Prices {
			name := v.name()
			if len(c.options.Prices) > 1 {
				name += " (" + l.Name + ")"
			}
			c.variants = append(c.variants, c.column(v, name, l))
		}
	}
}

// keyPriceList is the setting that selects the price list by which a strategy decides.
const keyPriceList = "model.priceList"

const keyLimit = "model.contextLimit"

// column turns a variant of the options into a column of the report; l is the price list to decide by, nil for none.
// Invalid settings are not an error here: the replay reports them in the result.
func (c *comparison) column(v Variant, name string, l *pricing.List) variant {
	out := variant{
		VariantInfo: VariantInfo{Name: name, Strategy: v.Strategy, Settings: maps.Clone(v.Settings)},
		overrides:   map[string]any{"compression.strategy": v.Strategy},
		lists:       c.options.Prices,
	}
	for key, value := range v.Settings {
		out.overrides[key] = value
	}
	if l != nil {
		out.PriceList, out.lists = l.Name, []*pricing.List{l}
	}
	var overrides []config.Override
	for _, key := range slices.Sorted(maps.Keys(out.overrides)) {
		overrides = append(overrides, config.Override{Key: key, Value: out.overrides[key], Source: "comparison"})
	}
	// An error leaves nil: the replay makes the same configuration, and fails with the error.
	out.config, _ = c.host.Config().WithAll(overrides...)
	return out
}

// of returns the settings for a session. What decides by prices decides by those that the session is priced by.
func (v *variant) of(rec *recording) map[string]any {
	if v.PriceList == "" {
		return v.overrides
	}
	set := maps.Clone(v.overrides)
	if l, _ := rec.list(v.lists[0]); l != nil { // else a session decides without prices
		set[keyPriceList] = replay.AsCached(rec.Transcript, l).Name
	}
	return set
}

// byPrice reports whether a variant decides by a price list that its settings do not fix. That needs a continuous
// strategy and the cadence "priced", which is also the default as soon as a price list is in force.
func (c *comparison) byPrice(ctx context.Context, v variant) bool {
	// A list that the variant names itself is one column.
	if _, chosen := v.Settings[keyPriceList]; chosen || v.config == nil || len(c.options.Prices) == 0 {
		return false
	}
	switch v.config.Settings().Compression.Density.Cadence {
	case "priced":
	case "": // a price list that is in force makes it so
		if l, err := c.host.PriceList(v.config); err != nil || l == nil {
			return false
		}
	default:
		return false
	}
	// A strategy that is not found decides by nothing; its replay says what is wrong.
	for _, p := range c.host.Plugins(ctx) {
		if p.Name == v.Strategy {
			return p.Trigger == sdk.ModeContinuous
		}
	}
	return false
}

// replayAll analyses all sessions, then runs all replays, the longest first: a long replay that starts last would
// keep one processor busy while all others are idle. A session that cannot be analysed ends the comparison; a replay
// that fails does not.
func (c *comparison) replayAll(ctx context.Context) error {
	n := len(c.options.Sessions)
	c.recordings, c.slots = make([]*recording, n), make([][]slot, n)
	g, run := errgroup.WithContext(ctx)
	// Each analysis holds a session's words in memory.
	g.SetLimit(c.parallel)
	for i, s := range c.options.Sessions {
		c.slots[i] = make([]slot, len(c.variants))
		g.Go(func() (err error) {
			c.recordings[i], err = record(run, c.host, s, prices{c.options.PriceOf})
			if err != nil && run.Err() == nil {
				err = fmt.Errorf("session %q: %w", s.Name, err)
			}
			return err
		})
	}
	// The first error stops the others.
	if err := g.Wait(); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	var jobs []job
	for i := range c.recordings {
		for j := range c.variants {
			jobs = append(jobs, job{i, j})
		}
	}
	slices.SortStableFunc(jobs, func(a, b job) int {
		return cmp.Compare(len(c.recordings[b.session].entries()), len(c.recordings[a.session].entries()))
	})
	// Not with the context of the analyses, which has ended.
	var replays errgroup.Group
	replays.SetLimit(c.parallel)
	for _, j := range jobs {
		replays.Go(func() error {
			// After a cancellation the remaining jobs return at once and leave their slots empty.
			if ctx.Err() == nil {
				c.slots[j.session][j.variant] = c.replay(ctx, j)
				c.progress(len(jobs))
			}
			return nil
		})
	}
	_ = replays.Wait() // the jobs return no errors
	return ctx.Err()
}

// progress counts one replay as done and calls Progress under the lock, hence never twice at a time.
func (c *comparison) progress(of int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.options.Progress != nil {
		c.options.Progress(c.done, of)
	}
}

// replay runs one session with one variant and folds its turns. A replay that fails keeps the turns before the
// failure; one that was interrupted is dropped, as a partial session cannot be compared with whole ones.
func (c *comparison) replay(ctx context.Context, j job) slot {
	rec, v := c.recordings[j.session], &c.variants[j.variant]
	// Without a valid configuration of its own the host's will do: the replay fails before it matters.
	set := c.host.Config().Settings()
	if v.config != nil {
		set = v.config.Settings()
	}
	o := observe(rec, v.lists)
	_, limited := v.Settings[keyLimit]
	o.lacked = c.options.lacked
	o.keep, o.setWindow = c.options.Turns, limited || rec.Window.By == replay.BySetting
	o.held, o.carried = newHeld(rec, o.own), &carried{offer: rec.offer, known: map[identity]int{}}
	var err error
	if o.attribution, err = newAttribution(rec, set, o.tally.pruned); err != nil {
		return slot{err: err}
	}
	for t, err := range rec.Turns(ctx, c.host, replay.Options{Settings: v.of(rec)}) {
		if err == nil {
			o.turn(t)
			err = o.search(ctx, t)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return slot{}
		case err != nil:
			o.finishReplay()
			return slot{found: o, err: err}
		}
		if c.options.Turn != nil {
			c.options.Turn(j.session, j.variant, t)
		}
	}
	o.finishReplay()
	return slot{found: o, done: true}
}
