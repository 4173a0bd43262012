package verify

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
)

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
	Results  []conform.Result `json:"results"`
	Duration time.Duration    `json:"durationNs"`
}

func (r *Report) Count(o conform.Outcome) int {
	n := 0
	for _, result := range r.Results {
		if result.Outcome == o {
			n++
		}
	}
	return n
}

// OK reports whether no check failed. Those that were skipped or had nothing to judge do not count against a plugin.
func (r *Report) OK() bool { return r.Count(conform.Fail) == 0 }

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
	}{(*fields)(r), r.Count(conform.Pass), r.Count(conform.Fail), r.Count(conform.Nothing), r.Count(conform.Skip)})
}

// Summary returns the report in one line, the last one that 'plugins verify' prints.
func (r *Report) Summary() string {
	return fmt.Sprintf("%s: %d passed, %d failed, %d with nothing to judge, %d skipped, in %.2fs", strings.TrimSpace(
		r.Name+" "+r.Version), r.Count(conform.Pass), r.Count(conform.Fail), r.Count(conform.Nothing),
		r.Count(conform.Skip), r.Duration.Seconds())
}
