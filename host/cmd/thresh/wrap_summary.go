package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/host/internal/table"
)

// summary says what came of a run, at its end: of requests, and of the user's plan if the provider tells of it.
func summary(t proxy.Totals, plan []watch.Plan, dryRun bool, past string) string {
	switch {
	case t.Requests > 0:
	case t.Others > 0:
		return plural(t.Others, "request") + " came through the proxy, none of them to a model"
	case past != "":
		return "no request came through the proxy: " + past
	default:
		return "no request came through the proxy: this command may not read the variables that were set"
	}
	// What a strategy inserts, such as a summary, can be longer than what it replaces.
	saved := max(t.Whole-t.Sent, 0)
	what := "not sent"
	if dryRun {
		what = "would not have been sent (dry run)"
	}
	line := fmt.Sprintf("%s, %d with a conversation%s; %s of %s prompt tokens %s", plural(t.Requests, "request"),
		t.Edited, passedOn(t.Passed), table.Int(saved), table.Int(t.Whole), what)
	if t.Whole > 0 {
		line += fmt.Sprintf(" (%d %%)", saved*100/t.Whole)
	}
	// Less than half a cent is not worth a word, in either direction. Without known prices the sum is 0.
	if cents := math.Round(t.Saved * 100); cents < 0 {
		line += fmt.Sprintf(", a loss of $%.2f net of the prompt cache", -cents/100)
	} else if cents > 0 {
		line += fmt.Sprintf(", $%.2f net of the prompt cache", cents/100)
	}
	line += fmt.Sprintf("; %s", plural(t.Rewrites, "rewrite"))
	if t.Failed > 0 {
		line += fmt.Sprintf("; %d could not be prepared", t.Failed)
	}
	if t.Unreached > 0 {
		line += fmt.Sprintf("; %d did not reach the provider", t.Unreached)
	}
	if t.Errors > 0 {
		line += fmt.Sprintf("; %d answered with an error (the last: %d %s)", t.Errors, t.LastError,
			http.StatusText(t.LastError))
	}
	// The provider's refusal names the model's limit.
	if t.Resent > 0 {
		line += fmt.Sprintf("; %d sent again without thinking", t.Resent)
	}
	if t.Learned > 0 {
		line += fmt.Sprintf("; %d refused as too long", t.Learned)
	}
	if t.Narrow != "" {
		line += fmt.Sprintf("\nthresh: Claude Code took the window of %[1]s for 200,000 tokens; it has 1,000,000 with "+
			"--model '%[1]s[1m]'", t.Narrow)
	}
	if text := planText(plan, dryRun); text != "" {
		line += "\nthresh: " + text
	}
	return line
}

// planText says what was used of the windows of a plan, and what would have been used otherwise; "" if no provider
// told.
func planText(plan []watch.Plan, dryRun bool) string {
	otherwise := "without thresh"
	if dryRun {
		otherwise = "with thresh"
	}
	var parts []string
	for i, p := range plan {
		text := fmt.Sprintf("%s of the %s", percentOf(p.Session), windowName(p))
		if i == 0 {
			text = "of your plan, " + text + " was used"
		}
		if p.Session > 0 {
			text += fmt.Sprintf(", %s %s", percentOf(p.Otherwise), otherwise)
		}
		parts = append(parts, fmt.Sprintf("%s (now at %s)", text, percentOf(p.Used)))
	}
	return strings.Join(parts, "; ")
}

func windowName(p watch.Plan) string {
	return provider.WindowName(time.Duration(p.Hours * float64(time.Hour)))
}

// percentOf rounds as providers do, who tell whole percentages.
func percentOf(share float64) string {
	if share > 0 && share < 0.01 {
		return "under 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// passedOn says why requests were forwarded unchanged, the most frequent reason first.
func passedOn(passed map[body.Reason]int) string {
	words := map[body.Reason]string{
		body.Single: "single question", body.Compaction: "compaction", body.Continued: "kept by the provider",
		body.OpenTools: "with a call that has no result", body.Unpaired: "with a result that answers no call",
		body.Unknown: "in an unknown form", "encoded-body": "in an unknown encoding", "too-large": "too large to read",
		"busy": "while memory was short",
	}
	var out []string
	reasons := slices.SortedFunc(maps.Keys(passed), func(a, b body.Reason) int {
		return cmp.Or(passed[b]-passed[a], strings.Compare(string(a), string(b)))
	})
	for _, r := range reasons {
		if r == body.Single || r == body.Compaction {
			out = append(out, plural(passed[r], words[r]))
		} else {
			out = append(out, fmt.Sprintf("%d %s", passed[r], cmp.Or(words[r], string(r))))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ", passed on: " + strings.Join(out, ", ")
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
