package verify

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/sdk"
)

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

// Report is the result of a run: one result per check that was chosen, in the order in which they ran. Its JSON form
// is stable; fields are only added.
type Report struct {
	// Binary is the absolute path of the file, SHA256 the hash of its content in hexadecimal: the hash that 'plugins
	// lock' would record, so a report can be matched with a lock file.
	Binary string `json:"binary"`
	SHA256 string `json:"sha256"`
	// The strategy's name, as the file name gives it.
	Name string `json:"name"`
	// Version, Trigger and RequiresLLM are the plugin's own claims; empty if it never started.
	Version     string          `json:"version,omitempty"`
	Trigger     sdk.TriggerMode `json:"trigger,omitempty"`
	RequiresLLM bool            `json:"requiresLLM"`
	// Never nil in a report that Run returns.
	Results  []Result      `json:"results"`
	Duration time.Duration `json:"durationNs"`
}

func (r *Report) Count(o Outcome) int {
	n := 0
	for _, result := range r.Results {
		if result.Outcome == o {
			n++
		}
	}
	return n
}

// OK reports whether no check failed. Those that were skipped or had nothing to judge do not count against a plugin.
func (r *Report) OK() bool { return r.Count(Fail) == 0 }

// MarshalJSON adds the counts to the fields, so scripts need not compute them. The local type has no methods,
// which prevents an endless recursion.
func (r *Report) MarshalJSON() ([]byte, error) {
	type fields Report
	return json.Marshal(struct {
		*fields
		Passed  int `json:"passed"`
		Failed  int `json:"failed"`
		Nothing int `json:"nothingToJudge"`
		Skipped int `json:"skipped"`
	}{(*fields)(r), r.Count(Pass), r.Count(Fail), r.Count(Nothing), r.Count(Skip)})
}

// Summary returns the report in one line, the last one that 'plugins verify' prints.
func (r *Report) Summary() string {
	return fmt.Sprintf("%s: %d passed, %d failed, %d with nothing to judge, %d skipped, in %.2fs", strings.TrimSpace(
		r.Name+" "+r.Version), r.Count(Pass), r.Count(Fail), r.Count(Nothing), r.Count(Skip), r.Duration.Seconds())
}
