package verify

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/sdk"
)

// Outcome is what came of a check.
type Outcome string

// The outcomes.
const (
	Pass Outcome = "pass"
	Fail Outcome = "fail"
	// Skip: there was nothing to look at; the detail says why.
	Skip Outcome = "skip"
)

// Result is what came of one check.
type Result struct {
	Check   string  `json:"check"`
	Outcome Outcome `json:"outcome"`
	// Detail is one line: what is wrong, why it was skipped, or what was seen.
	Detail string `json:"detail,omitempty"`
	// Meaning is what the check demands.
	Meaning  string        `json:"meaning"`
	Duration time.Duration `json:"durationNs"`
}

// Report is what came of all of them.
type Report struct {
	// Binary is an absolute path, SHA256 what it holds, in hexadecimal.
	Binary string `json:"binary"`
	SHA256 string `json:"sha256"`
	Name   string `json:"name"`
	// Version, Trigger and RequiresLLM are what the plugin says of itself; empty if it does not start.
	Version     string          `json:"version,omitempty"`
	Trigger     sdk.TriggerMode `json:"trigger,omitempty"`
	RequiresLLM bool            `json:"requiresLLM"`
	Results     []Result        `json:"results"`
	Duration    time.Duration   `json:"durationNs"`
}

// Count returns how many checks came to the outcome.
func (r *Report) Count(o Outcome) int {
	n := 0
	for _, result := range r.Results {
		if result.Outcome == o {
			n++
		}
	}
	return n
}

// OK reports whether no check failed.
func (r *Report) OK() bool { return r.Count(Fail) == 0 }

// MarshalJSON adds the counts to the fields.
func (r *Report) MarshalJSON() ([]byte, error) {
	type fields Report
	return json.Marshal(struct {
		*fields
		Passed  int `json:"passed"`
		Failed  int `json:"failed"`
		Skipped int `json:"skipped"`
	}{(*fields)(r), r.Count(Pass), r.Count(Fail), r.Count(Skip)})
}

// Summary is the report in one line.
func (r *Report) Summary() string {
	return fmt.Sprintf("%s %s: %d passed, %d failed, %d skipped, in %.2fs",
		r.Name, r.Version, r.Count(Pass), r.Count(Fail), r.Count(Skip), r.Duration.Seconds())
}
