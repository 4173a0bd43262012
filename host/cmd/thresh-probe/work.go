package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/probe"
	"github.com/thresh-dev/thresh/host/internal/lab/recordings"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// work is what the flags ask for.
type work struct {
	strategies []string
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

func (w work) check(cmd *cobra.Command, files []string) error {
	changed := cmd.Flags().Changed
	switch {
	case w.moments < 0 || w.moments > maxMoments:
		return fmt.Errorf("--moments: want 0 to %d, got %d", maxMoments, w.moments)
	case changed("write") && w.write == "", changed("grade") && w.grade == "":
		return errors.New("--write and --grade need the name of a directory")
	case w.write != "" && w.grade != "":
		return errors.New("--write begins and --grade goes on: give one of them")
	case w.grade != "" && (len(files) > 0 || slices.ContainsFunc([]string{"moments", "search"}, changed)):
		return errors.New("--grade takes what --write planned: no FILE, --moments and --search")
	case !(w.usd >= 0) || math.IsInf(w.usd, 0):
		return fmt.Errorf("--usd: %v is no amount of money", w.usd)
	case (w.write != "" || w.grade != "") && (w.yes || changed("usd")):
		return errors.New("--yes and --usd are about a provider; --write and --grade ask none")
	case w.grade == "" && !w.prompts && len(w.strategies) == 0:
		return errors.New("needs --strategy NAMES: each is a piece of work for whoever answers")
	case w.grade == "" && !w.prompts && len(files) == 0:
		return errors.New("needs a FILE with a recorded session")
	}
	for i, n := range w.strategies {
		if n == "" || slices.Contains(w.strategies[:i], n) {
			return fmt.Errorf("--strategy: %q is empty or given more than once; want NAME,NAME", n)
		}
	}
	return nil
}

func (p *program) probe(cmd *cobra.Command, w work, files []string) error {
	if err := w.check(cmd, files); err != nil {
		return err
	}
	if w.prompts {
		_, err := fmt.Fprint(p.out, probe.Prompts())
		return err
	}
	if w.grade != "" {
		return p.gradeSheets(w)
	}
	c, err := p.config()
	if err != nil {
		return err
	}
	h, err := window.Open(window.Options{Config: c, Logger: window.FilteredLogger(p.err, c.Settings().Log,
		func(level hclog.Level, _ string, _ ...any) bool { return level < hclog.Error })})
	if err != nil {
		return err
	}
	defer h.Close()
	// All that can be wrong comes before minutes of replays.
	var m probe.Model
	dir := p.path(w.write)
	if dir == "" {
		if m, err = model(h, w.usd); err != nil {
			return fmt.Errorf("%w; or --write DIR for sheets that others work through", err)
		}
		if dir, err = p.cache(); err != nil {
			return err
		}
	}
	o, err := p.options(cmd.Context(), h, w.strategies, files)
	if err != nil {
		return err
	}
	book, err := probe.Create(dir)
	if err != nil {
		return err
	}
	o.Progress = func(done, of int) { fmt.Fprintf(p.err, "thresh-probe: replayed %d of %d\n", done, of) }
	sessions, err := book.Plan(cmd.Context(), h, o, w.moments, w.search)
	if err != nil {
		return err
	}
	var st *probe.State
	if w.write != "" {
		st, err = book.Check(book.Variants()) // also what earlier runs planned there
	} else {
		names := []string{compare.NothingName}
		for _, name := range w.strategies {
			names = append(names, name)
			if w.search {
				names = append(names, name+probe.Searching)
			}
		}
		st, err = p.ask(cmd.Context(), book, m, w, names, sessions)
	}
	if err != nil {
		return err
	}
	return p.print(st)
}

func (p *program) config() (*config.Config, error) {
	o := config.Options{ConfigFile: p.configFile, Profile: p.profile, WorkDir: p.dir, Env: p.env}
	for _, text := range p.sets {
		set, err := config.ParseOverride(text, "--set")
		if err != nil {
			return nil, err
		}
		o.Overrides = append(o.Overrides, set)
	}
	return config.Load(o)
}

// options returns what is replayed, at the prices in force, else those of the sessions' models.
func (p *program) options(ctx context.Context, h *window.Host, names, files []string) (o compare.Options, err error) {
	found := h.Plugins(ctx)
	if err := ctx.Err(); err != nil {
		return o, err
	}
	for _, name := range names {
		var known []string
		needsModel := false
		for _, l := range found {
			if l.Name != "" {
				known = append(known, l.Name)
			}
			needsModel = needsModel || l.Name == name && l.RequiresLLM
		}
		if !slices.Contains(known, name) {
			return o, fmt.Errorf("there is no strategy %q; found: %s", name, strings.Join(known, ", "))
		}
		err := h.CheckOwn(h.Config(), name)
		if err == nil && needsModel {
			_, err = h.Model(h.Config())
		}
		if err != nil {
			return o, err
		}
		o.Variants = append(o.Variants, compare.Variant{Name: name, Strategy: name})
	}
	for i, file := range files {
		if slices.Contains(files[:i], file) {
			return o, fmt.Errorf("%s: given twice", file)
		}
		t, err := p.read(file)
		if err != nil {
			return o, err
		}
		name := filepath.Base(file)
		if slices.ContainsFunc(o.Sessions, func(s compare.Session) bool { return s.Name == name }) {
			name = file
		}
		o.Sessions = append(o.Sessions, compare.Session{Name: name, Transcript: t})
	}
	set := h.Config().Settings().Model
	catalog, err := pricing.Load(set.PriceFile)
	if err != nil {
		return o, err
	}
	o.PriceOf = catalog.ForModel
	list, err := catalog.Choose(set.PriceList, set.Name)
	if err != nil {
		return o, fmt.Errorf("model.priceList: %w", err)
	}
	if list != nil {
		o.Prices = []*pricing.List{list}
	} else if o.Prices = compare.RecordedPrices(catalog.ForModel, o.Sessions); len(o.Prices) == 0 {
		// A provider that charges extra for writing to its prompt cache.
		if list, err = catalog.Named("anthropic-sonnet"); err != nil {
			return o, err
		}
		o.Prices = []*pricing.List{list}
	}
	return o, nil
}

// maxFile is the most bytes of a session file.
const maxFile = 128 << 20

func (p *program) read(file string) (*transcript.Transcript, error) {
	return recordings.Read(p.path(file), transcript.Options{MaxBytes: maxFile, AllowCut: true})
}

func (p *program) gradeSheets(w work) error {
	book, err := probe.Open(p.path(w.grade))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--grade: %s: 'thresh-probe --write' has written nothing there", w.grade)
	}
	if err != nil {
		return err
	}
	names := book.Variants()
	for _, n := range w.strategies {
		if !slices.Contains(names, n) {
			return fmt.Errorf("--strategy: %s has no variant %q; it has %q", w.grade, n, names)
		}
	}
	if len(w.strategies) > 0 {
		names = w.strategies
	}
	st, err := book.Check(names)
	if err != nil {
		return err
	}
	return p.print(st)
}

func (p *program) path(name string) string {
	if name == "" || p.dir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.dir, name)
}

func (p *program) getenv(name string) (value string) {
	for _, v := range p.env {
		if key, its, _ := strings.Cut(v, "="); key == name {
			value = its
		}
	}
	return value
}

// cache is where sheets are kept that a provider's model works through. One place serves all runs: what was answered
// once is not asked again.
func (p *program) cache() (string, error) {
	home := p.getenv("HOME")
	dir := p.getenv("XDG_CACHE_HOME")
	if home == "" && dir == "" {
		return "", errors.New("a place to keep answers: neither XDG_CACHE_HOME nor HOME is set")
	}
	return filepath.Join(cmp.Or(dir, filepath.Join(home, ".cache")), "thresh", "probe"), nil
}
