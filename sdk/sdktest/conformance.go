package sdktest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// Conformance fails the test where a strategy breaks a rule that the host holds all strategies to, on histories made
// for that: with results of 50 to 5,000 lines, stale reads, repeats, inclusions, failures and marks of earlier passes,
// and with what has confused strategies before: orphaned and unanswered calls, repeated ids, unknown blocks, odd
// Unicode and JSON, 10,000 entries. It takes some seconds. What it did not see, it says in the test's log: "nothing to
// judge".
//
// It runs the checks of `thresh plugins verify` that need no process, by the same names, and [CheckInfo] first. Where
// those ask another process, this asks a copy of s that had no call. Nothing may be printed: while it looks for that,
// os.Stdout is another file.
//
// What c sets is as for [Optimize] and [Compress]. What it does not set suits the histories: every pruning rule is on,
// a Compress is on demand, a strategy with RequiresLLM gets a model whose every answer is one short state snapshot,
// and a prompt "compression". ContextLimit is set for each history so that the threshold is just reached.
func Conformance(tb testing.TB, s sdk.Strategy, c Config) {
	tb.Helper()
	err := checkInfo(s)
	if err == nil {
		_, err = c.around(s.Info())
	}
	if err != nil {
		tb.Error(err)
		return
	}
	limits := conform.DefaultLimits()
	limits.Large, limits.Slow, limits.Settings = 1<<20, 0, 0
	r := &conform.Runner{Subject: conform.Value(s), Around: c.around, Limits: limits,
		More: "try one in which it does with Optimize or Compress"}
	said, unseen := 0, map[string][]string{}
	for _, check := range append([]conform.Check{prints}, conform.Checks()...) {
		result, _ := check.Judge(tb.Context(), r) // what went wrong is in its findings
		for _, f := range result.Findings {
			if said++; said <= conform.MaxFindings {
				tb.Errorf("%s: %v", check.Name, f)
			}
		}
		if said += result.More; said > conform.MaxFindings {
			tb.Log("and more")
			return // what comes next would mostly say the same in other words
		}
		if result.Outcome == conform.Nothing {
			unseen[result.Detail] = append(unseen[result.Detail], check.Name)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(unseen)) {
		tb.Logf("nothing to judge: %s (%s)", why, strings.Join(unseen[why], ", "))
	}
}

// around are the surroundings of a conformance run.
func (c Config) around(info sdk.Info) (conform.Around, error) {
	standard, err := conform.Standard(info)
	if err != nil {
		return standard, err
	}
	a := standard
	c.WorkspaceRoot = cmp.Or(c.WorkspaceRoot, standard.Optimize.WorkspaceRoot)
	c.Density = cmp.Or(c.Density, &standard.Optimize.Density)
	c.UserMessageBudget = cmp.Or(c.UserMessageBudget, &standard.Compress.UserMessageBudget)
	c.Reason = cmp.Or(c.Reason, standard.Compress.Reason)
	c.Model = cmp.Or(c.Model, &standard.Model)
	if c.Todos == nil {
		c.Todos = standard.Compress.Todos
	}
	if a.Optimize, err = c.optimizeInput(info, nil); err != nil {
		return a, err
	}
	if a.Compress, err = c.compressInput(info, nil); err != nil {
		return a, err
	}
	a.Count, a.Model = c.counter(), *c.Model
	if c.Generate != nil {
		a.Answer, a.Scripted = c.Generate, false
	}
	if c.Prompts != nil {
		a.Prompt = c.prompt
	}
	return a, nil
}

// stdout is held while os.Stdout is another file: tests of several strategies may run at once.
var stdout sync.Mutex

// prints looks for a strategy that writes to standard output in its calls. The plain session is enough.
var prints = conform.Check{Name: "stdout", Run: func(ctx context.Context, r *conform.Runner) (string, error) {
	var err error
	printed, broken := captured(func() { err = r.Once(ctx) })
	if err = cmp.Or(err, broken); err != nil {
		return "", fmt.Errorf("looking for what is printed: %w", err)
	}
	var found conform.Findings
	if printed != "" {
		found.Judged(samples.Plain, &check.Error{Index: -1, Err: conform.ErrPrints, Came: text.OneLine(printed, 100)})
	}
	return "", found.Err()
}}

// captured returns what f writes to os.Stdout.
func captured(f func()) (string, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return "", err
	}
	stdout.Lock()
	defer stdout.Unlock()
	old := os.Stdout
	os.Stdout = write
	var b strings.Builder
	done := make(chan error, 1)
	go func() { _, err := io.Copy(&b, read); done <- err }()
	func() {
		defer func() { os.Stdout = old; _ = write.Close() }()
		f()
	}()
	err = <-done
	_ = read.Close()
	return b.String(), err
}
