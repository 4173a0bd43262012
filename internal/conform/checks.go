package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/internal/conform/samples"
)

// Check is one requirement on a strategy.
type Check struct {
	// Name is stable: CI configurations mention it.
	Name string
	// Meaning is the requirement in one sentence. It states what must hold, not what is done to find out.
	Meaning string

	// Run returns a detail, what was observed, or an error: what is wrong, [Skipped] or [Unseen].
	Run func(context.Context, *Runner) (detail string, err error)
}

// Checks returns all checks in the order in which they run.
func Checks() []Check {
	return []Check{
		{"settings-calls", "each call follows its own settings, whatever the calls before had", checkSettings},
		{"optimize-valid", "the host accepts what Optimize makes of every history, the largest included", checkOptimizeValid},
		{"optimize-deterministic", "Optimize answers the same request the same in three processes", checkDeterministic},
		{"optimize-pure", "Optimize does not depend on what else it was asked, on sessions, or on time", checkOptimizePure},
		{"optimize-idempotent", "Optimize finds nothing to do in what it made itself", checkIdempotent},
		{"optimize-delta", "Optimize answers the same whether the plugin is sent what is new or the whole history",
			checkDelta},
		{"compress-valid", "the host accepts what Compress makes of every history, the largest included", checkCompressValid},
		{"compress-human", "what people said is kept, or the metadata counts what is gone; the newest of it stays",
			checkHuman},
		{"compress-target", "Compress gets to the target, or says that it missed it, or that there is nothing to do",
			checkTarget},
		{"compress-pure", "Compress does not depend on what else it was asked, or on sessions", checkCompressPure},
		{"statements", "what is written into a history is true, as far as that can be told", checkStatements},
		{"services-slow", "Compress works when host services are slow", checkSlow},
		{"services-failing", "a failing host service makes the call fail with its code; no no-op hides it", checkFailing},
		{"services-window", "what is sent to the model fits its window, with the answer", checkWindow},
		{"services-huge", "enormous answers of host services end nothing", checkHuge},
		{"concurrency", "32 calls at once get the answers that they would get one by one", checkAtOnce},
		{"growth", "four times the history takes about four times the processor time", checkGrowth},
	}
}

// Outcome is how a check ended.
type Outcome string

const (
	Pass Outcome = "pass"
	Fail Outcome = "fail"
	// Nothing means that the check applies to the plugin, and that the histories showed nothing to judge: it says neither
	// that the plugin is right nor that it is wrong. The detail says what history would have shown something.
	Nothing Outcome = "nothing to judge"
	// Skip means that the check had nothing to look at, for example an Optimize of a strategy that has none. The
	// detail gives the reason. A skipped check fails nothing: a report may pass with many of them.
	Skip Outcome = "skip"
)

type Result struct {
	Check   string  `json:"check"`
	Outcome Outcome `json:"outcome"`
	// Detail is one line without control characters: what is wrong, why the check was skipped, or what was observed.
	// It may quote the plugin, and a recording that the user named.
	Detail string `json:"detail,omitempty"`
	// Findings are what is wrong, at most ten, and More is how many more there are.
	Findings []Finding `json:"findings,omitempty"`
	More     int       `json:"moreFindings,omitempty"`
	// Meaning is the requirement; see [Check.Meaning].
	Meaning  string        `json:"meaning"`
	Duration time.Duration `json:"durationNs"`
}

// Judge runs a check and turns its outcome into a result. err is what it returned.
func (c Check) Judge(ctx context.Context, r *Runner) (result Result, err error) {
	start := time.Now()
	detail, err := c.Run(ctx, r)
	result = Result{Check: c.Name, Meaning: c.Meaning, Outcome: Pass, Detail: detail, Duration: time.Since(start)}
	skip, isSkip := errors.AsType[Skipped](err)
	saw, isNothing := errors.AsType[Unseen](err)
	switch {
	case isSkip:
		result.Outcome, result.Detail = Skip, string(skip)
	case isNothing:
		result.Outcome, result.Detail = Nothing, string(saw)
	case err != nil:
		var found Findings
		found.Add("", err)
		for i := range found.All {
			found.All[i].Rule = cmp.Or(found.All[i].Rule, c.Name)
		}
		result.Outcome, result.Detail, result.Findings, result.More = Fail, found.Error(), found.All, found.More
	}
	return result, err
}

// Skipped is the error of a check that has nothing to look at. The text is the reason.
type Skipped string

func (s Skipped) Error() string { return string(s) }

// Unseen is the error of a check that saw nothing to judge. The text says what it looked at.
type Unseen string

func (u Unseen) Error() string { return string(u) }

// verdict is that of a check: what it found, or that of so many histories it saw none to judge, or what it observed.
func (r *Runner) verdict(found *Findings, saw int, nothing string, of int, detail string, args ...any) (string, error) {
	if err := found.Err(); err != nil || saw > 0 {
		return fmt.Sprintf(detail, args...), err
	}
	var matters []string
	for _, m := range samples.Matters() {
		matters = append(matters, m.Name)
	}
	return "", Unseen(fmt.Sprintf("%s in %d histories, among them %s; %s", nothing, of, strings.Join(matters, ", "),
		r.More))
}

// Lost is the error of a call after which it makes no sense to ask on: the strategy's process ended, or gave no answer.
type Lost struct {
	Err error
	// Late: it gave no answer in time.
	Late bool
}

func (l *Lost) Error() string { return l.Err.Error() }
func (l *Lost) Unwrap() error { return l.Err }

func lost(err error) bool { return errors.As(err, new(*Lost)) }
