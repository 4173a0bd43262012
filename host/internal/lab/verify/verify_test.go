package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/builtin"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/testkit/mutants"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk/content"
)

func TestTheShippedPluginsPass(t *testing.T) {
	race.Skip(t)
	// One that prunes, one that needs a model, and the one in the README: what people copy first has to be good.
	names, b := []string{"high-density", "one-shot", program("keep-last")}, hasty()
	var checks []string
	for _, c := range Checks() {
		// It takes half of the time, and the tests of window check the statements of all strategies.
		if !testing.Short() || c.Name != "statements" {
			checks = append(checks, c.Name)
		}
	}
	if !testing.Short() {
		// Histories sixteen times as large, as 'thresh plugins verify' has them.
		names, b = append(builtin.Names(), program("keep-last"), program("forget-thoughts")), defaultBounds()
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			r, err := run(t.Context(), name, Options{Only: checks}, b)
			if err != nil {
				t.Fatal(err)
			}
			for _, result := range r.Results {
				if result.Outcome == conform.Fail {
					t.Errorf("%s: %s %+v", result.Check, result.Detail, result.Findings)
				}
			}
			if len(r.Results) != len(checks) {
				t.Errorf("%d results for %d checks", len(r.Results), len(checks))
			}
		})
	}
}

// TestABadPluginFailsTheRightCheck runs, for each fault, the checks that could be taken for the right one.
func TestABadPluginFailsTheRightCheck(t *testing.T) {
	start := []string{"handshake", "stdout", "getinfo", "getinfo-stable"}
	settings := []string{"getinfo", "settings-defaults", "settings-garbage"}
	optimizes := []string{"optimize-valid", "optimize-deterministic", "optimize-pure", "optimize-idempotent",
		"optimize-delta"}
	services := []string{"compress-valid", "services-slow", "services-failing", "services-huge", "concurrency"}
	load := []string{"compress-valid", "cancellation", "memory"}
	end := []string{"sigint", "sigterm", "lifeline"}
	for fault, tc := range map[string]struct {
		only   []string
		fails  []string
		detail string // in the first of them
	}{
		"good":                     {nil, nil, ""},
		"summarises":               {nil, nil, ""},
		"slow-start":               {start, []string{"handshake"}, "no handshake line within 1s"},
		"dies":                     {start, []string{"handshake"}, "cannot find my licence"},
		"chatty":                   {start, []string{"stdout"}, "loading tables"},
		"prints-in-calls":          {start, []string{"stdout"}, "optimising"},
		"changes-getinfo":          {start, []string{"getinfo-stable"}, "version was"},
		"panics-on-garbage":        {settings, []string{"settings-garbage"}, "INVALID_ARGUMENT"},
		"names-no-key":             {settings, []string{"settings-garbage"}, "does not name the key"},
		"changes-what-it-has-seen": {optimizes, []string{"optimize-delta"}, "entry 0 of in.History in place"},
		"panics-without-prompt":    {services, []string{"services-failing"}, "panic in Compress"},
		"hides-the-code":           {services, []string{"services-failing"}, "not passed on as UNAVAILABLE"},
		"one-at-a-time":            {services, []string{"concurrency"}, "another gets no answer"},
		"hoards":                   {load[2:], []string{"memory"}, "at most 256 MiB"},
		"ignores-cancellation":     {load[1:2], []string{"cancellation"}, "still computes"},
		"dies-of-sigint":           {end, []string{"sigint"}, "on SIGINT"},
		"ignores-sigterm":          {end, []string{"sigterm"}, "still running 2s after SIGTERM"},
		"survives-the-host":        {end, []string{"lifeline"}, "outlives its host"},
	} {
		if tc.fails == nil && testing.Short() {
			continue // that a plugin without a fault passes all checks, the shipped ones show
		}
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			if fault != "one-at-a-time" && fault != "ignores-cancellation" {
				race.Skip(t)
			}
			b := hasty()
			switch fault {
			case "slow-start":
				b.start = time.Second
			case "one-at-a-time":
				b.Held = time.Second
			case "hoards", "ignores-cancellation": // what is wrong with them shows in a history that takes a while
				b.Large = 4 << 20
			}
			r, err := run(t.Context(), bad(t, fault), Options{Only: tc.only}, b)
			if err != nil {
				t.Fatal(err)
			}
			var fails []string
			for _, result := range r.Results {
				if result.Outcome == conform.Fail {
					fails = append(fails, result.Check)
					if len(fails) == 1 && !strings.Contains(fmt.Sprintf("%+v", result), tc.detail) {
						t.Errorf("%s fails for another reason: %+v", result.Check, result)
					}
				}
			}
			if d := cmp.Diff(tc.fails, fails); d != "" {
				t.Errorf("failed checks (-want +got):\n%s\n%+v", d, r.Results)
			}
		})
	}
}

// That each mutant is found is tested in package conform. These need what is done here to make a strategy of a process:
// edits and pieces that travel, mirrors, processes that had no call, services, processor time, and standard output. The
// one without a fault passes all checks, and none of them has nothing to judge.
func TestMutantsAreFoundOverTheWire(t *testing.T) {
	race.Skip(t)
	for _, m := range mutants.All() {
		switch m.Name {
		case "counts-one-too-many", "throws-dice", "trusts-its-memo", "edits-in-place", "keeps-its-first-settings",
			"remembers-calls-in-compress", "mixes-up-calls", "compares-all-with-all", "repeats-an-entry",
			"swallows-failures", "trips-over-empty-entries", "prints-in-compress", "asks-beyond-the-window":
		default:
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			r, err := run(t.Context(), bad(t, m.Name), Options{Only: []string{m.Check}}, hasty())
			if err != nil {
				t.Fatal(err)
			}
			named := func(f conform.Finding) bool { return f.Rule == m.Rule.Code }
			if got := r.Results[0]; got.Outcome != conform.Fail || !slices.ContainsFunc(got.Findings, named) {
				t.Errorf("%s does not say %s: %+v", m.Check, m.Rule.Code, got)
			}
		})
	}
	t.Run(mutants.Honest, func(t *testing.T) {
		t.Parallel()
		r, err := run(t.Context(), bad(t, mutants.Honest), Options{}, hasty())
		if err != nil {
			t.Fatal(err)
		}
		for _, result := range r.Results {
			if result.Outcome == conform.Fail || result.Outcome == conform.Nothing {
				t.Errorf("%s: %s: %s %+v", result.Check, result.Outcome, result.Detail, result.Findings)
			}
		}
	})
}

func TestACheckThatSawNothingSaysSo(t *testing.T) {
	r, err := run(t.Context(), bad(t, "idle"), Options{Only: []string{"optimize-valid", "optimize-pure", "optimize-delta",
		"compress-valid", "compress-target", "statements"}}, hasty())
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range r.Results {
		if result.Outcome != conform.Nothing || !strings.Contains(result.Detail, "stale reads") ||
			!strings.Contains(result.Detail, "--with FILE") {
			t.Errorf("%s: %s: %s", result.Check, result.Outcome, result.Detail)
		}
	}
	if !r.OK() || !strings.Contains(r.Summary(), "0 passed, 0 failed, 6 with nothing to judge, 0 skipped") {
		t.Errorf("%v, %s", r.OK(), r.Summary())
	}
}

// What no made history has is found in a recording.
func TestARecordingShowsWhatTheHistoriesDoNot(t *testing.T) {
	var with []content.Content
	for i := range 6 {
		with = append(with, content.Content{Speaker: content.AI, Blocks: []content.Block{
			content.Text{Text: fmt.Sprint("a secret word, ", i)}}})
	}
	o := Options{Only: []string{"optimize-valid", "optimize-idempotent"}}
	for name, want := range map[string]conform.Outcome{"nothing": conform.Nothing, "a recording": conform.Pass} {
		if want == conform.Pass {
			o.With = []samples.Sample{{Name: "mine.jsonl", History: with}}
		}
		r, err := run(t.Context(), bad(t, "reads-one-word"), o, hasty())
		if err != nil {
			t.Fatal(err)
		}
		if r.Results[0].Outcome != want || r.Results[1].Outcome != want {
			t.Errorf("%s: %+v", name, r.Results)
		}
		o.With = nil
	}
}

func TestAPluginThatDoesNotStartFailsOnceAndIsSkippedThen(t *testing.T) {
	r, err := run(t.Context(), bad(t, "dies"), Options{}, hasty())
	if err != nil {
		t.Fatal(err)
	}
	if r.Count(conform.Fail) != 1 || r.Count(conform.Pass) != 0 || r.OK() {
		t.Errorf("%d failed, %d passed, OK %v", r.Count(conform.Fail), r.Count(conform.Pass), r.OK())
	}
	for _, result := range r.Results[1:] {
		if result.Detail != errNoStart.Error() {
			t.Errorf("%s: %s", result.Check, result.Detail)
		}
	}
}

func TestWhatIsNoPluginIsRefusedBeforeItIsStarted(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\ntouch "+dir+"/started\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tc := range map[string]struct {
		path string
		o    Options
		err  error
		text string
	}{
		"no such file":   {filepath.Join(dir, "none"), Options{}, ErrBadBinary, "no such file"},
		"a directory":    {dir, Options{}, ErrBadBinary, "not a regular file"},
		"another name":   {write("mine", 0o755), Options{}, ErrBadBinary, "must be named thresh-strategy-<name>"},
		"not executable": {write("thresh-strategy-a", 0o644), Options{}, ErrBadBinary, "chmod +x"},
		"an unknown line": {write("thresh-strategy-b", 0o755), Options{Only: []string{"lifelines"}}, ErrUnknownCheck,
			"lifeline,"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Run(t.Context(), tc.path, tc.o)
			if !errors.Is(err, tc.err) || !strings.Contains(err.Error()+",", tc.text) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
		t.Error("a file was started")
	}
}

func TestARunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Progress: func(name string, _, _ int) {
		if name == "getinfo-stable" {
			cancel()
		}
	}}
	if _, err := Run(ctx, bad(t, "good"), o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestProgressNamesEveryCheckBeforeItRuns(t *testing.T) {
	var seen []string
	_, err := run(t.Context(), bad(t, "good"), Options{
		Only: []string{"sigterm", "getinfo"},
		Progress: func(name string, done, of int) {
			if seen = append(seen, name); done != len(seen)-1 || of != 2 {
				t.Errorf("%s is %d of %d", name, done, of)
			}
		},
	}, hasty())
	if d := cmp.Diff([]string{"getinfo", "sigterm"}, seen); err != nil || d != "" {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
}

func TestReportsSayTheSameInEveryForm(t *testing.T) {
	r := &Report{Name: "x", Version: "1", Duration: 3 * time.Second, Results: []conform.Result{
		{Check: "one", Outcome: conform.Pass, Detail: "fine", Duration: time.Second},
		{Check: "two", Outcome: conform.Fail, Detail: `it prints "<\x00>"`, Meaning: "it is quiet"},
		{Check: "three", Outcome: conform.Skip, Detail: "nothing to see"}, {Check: "four", Outcome: conform.Nothing},
	}}
	if want := "x 1: 1 passed, 1 failed, 1 with nothing to judge, 1 skipped, in 3.00s"; r.Summary() != want {
		t.Errorf("summary: %s", r.Summary())
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var counts struct{ Passed, Failed, NothingToJudge, Skipped int }
	if err := json.Unmarshal(raw, &counts); err != nil || counts.Passed != 1 || counts.Failed != 1 ||
		counts.NothingToJudge != 1 || counts.Skipped != 1 {
		t.Errorf("JSON: %+v, %v", counts, err)
	}
}
