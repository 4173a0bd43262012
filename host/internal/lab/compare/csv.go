package compare

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/thresh-dev/thresh/host/outcome"
)

// csvHead names the columns of [Report.WriteCSV]. New ones come at the end.
var csvHead = []string{
	"session", "format", "variant", "strategy", "settings", "price_list", "done", "error",
	"turns", "sent_tokens", "unpruned_tokens", "saved", "peak_tokens", "peak_unpruned_tokens", "over_limit",
	"unpruned_over_limit",
	"rewrites", "optimized", "held", "compressed", "laddered",
	"recall", "recall_used", "recall_kept", "recall_results", "recall_results_used", "recall_results_kept",
	"rereads", "reread_tokens", "pruned_entries", "pruned_tokens",
	"cost_usd", "model_cost_usd", "nothing_cost_usd", "relative_cost", "cache_read_tokens", "cache_write_tokens",
	"uncached_tokens",
	"model_calls", "model_input_tokens", "model_output_tokens", "model_seconds", "host_seconds", "plugin_seconds",
	"needs", "needs_calls", "needs_kept", "needs_edits", "needs_edits_calls", "needs_edits_kept",
	"own", "own_worst", "own_requests",
}

// WriteCSV writes the results of the sessions as RFC 4180 has it: a header, then one row for each session, variant
// (doing nothing is the first) and price list, with the cost columns empty where there is none. Tokens are whole
// numbers, shares are from 0 to 1, times in seconds; decimals have a point.
//
// Text that a spreadsheet would take for a formula ("=", "+", "-" or "@" at its beginning) has an apostrophe before it.
func (r *Report) WriteCSV(w io.Writer) error {
	rows := [][]string{csvHead}
	for i := range r.Sessions {
		s := &r.Sessions[i]
		rows = append(rows, csvRows(s, VariantInfo{Name: NothingName}, &s.Nothing)...)
		for v := range s.Variants {
			rows = append(rows, csvRows(s, r.Variants[v], &s.Variants[v])...)
		}
	}
	out := csv.NewWriter(w)
	// As the standard has it; spreadsheets of all systems take it.
	out.UseCRLF = true
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	return nil
}

// csvRows are one row per price list, or a single row with empty cost columns if nothing is priced.
func csvRows(s *SessionReport, v VariantInfo, res *Result) (rows [][]string) {
	if len(res.Costs) == 0 {
		return [][]string{csvRow(s, v, res, nil)}
	}
	for i := range res.Costs {
		rows = append(rows, csvRow(s, v, res, &res.Costs[i]))
	}
	return rows
}

// csvRow is one row. A replay that was not begun has empty cells instead of figures, as zeros would be taken for
// results.
func csvRow(s *SessionReport, v VariantInfo, res *Result, c *Cost) []string {
	list := v.PriceList
	if c != nil {
		list = c.List
	}
	row := []string{
		s.Name, string(s.Format), v.Name, v.Strategy, SettingsText(v.Settings, " "), list, strconv.FormatBool(res.Done),
		res.Error,
	}
	for i := range row {
		row[i] = harmless(row[i])
	}
	if !res.Ran() {
		// All rows have as many cells as the head, as RFC 4180 demands.
		return append(row, make([]string, len(csvHead)-len(row))...)
	}
	cost := make([]string, 7)
	if c != nil {
		cost = append([]string{decimal(c.USD), decimal(c.Model), decimal(c.Nothing), decimal(c.Relative)},
			counts(c.CacheRead, c.CacheWrite, c.Uncached)...)
	}
	// Zeros if no model was called: it cost nothing, which is a figure and not a gap.
	var llm outcome.Spent
	if res.LLM != nil {
		llm = *res.LLM
	}
	return slices.Concat(row,
		counts(res.Turns, res.Sent, res.Unpruned), []string{decimal(res.Saved)},
		counts(res.Peak, res.PeakUnpruned, res.OverLimit, res.UnprunedOverLimit),
		counts(res.Rewrites, res.Optimized, res.Held, res.Compressed, res.Laddered),
		[]string{decimal(res.Recall.Share)}, counts(res.Recall.Used, res.Recall.Kept),
		[]string{decimal(res.Recall.ShareResults)}, counts(res.Recall.UsedResults, res.Recall.KeptResults),
		counts(res.Rereads.Calls, res.Rereads.Tokens, res.Pruned.Entries, res.Pruned.Tokens),
		cost, counts(llm.Calls, llm.InputTokens, llm.OutputTokens),
		[]string{seconds(llm.Time), seconds(res.HostTime), seconds(res.PluginTime)},
		[]string{decimal(res.Needs.Share)}, counts(res.Needs.Calls, res.Needs.Kept),
		[]string{decimal(res.Needs.ShareEdits)}, counts(res.Needs.Edits, res.Needs.KeptEdits),
		[]string{decimal(res.Own.Share), decimal(res.Own.Worst)}, counts(res.Own.Requests))
}

// counts formats whole numbers without separators, which spreadsheets would read as text.
func counts(values ...int) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strconv.Itoa(v)
	}
	return out
}

// decimal formats a number with at most six decimals, without trailing zeros and never as "-0".
func decimal(v float64) string {
	text := strings.TrimRight(strconv.FormatFloat(v, 'f', 6, 64), "0")
	text = strings.TrimSuffix(text, ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// seconds formats a duration in seconds, as a number: spreadsheets cannot add up "1m30s".
func seconds(d time.Duration) string { return decimal(d.Seconds()) }

// SettingsText returns a variant's settings as KEY=VALUE, sorted by key.
func SettingsText(settings map[string]string, separator string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		parts = append(parts, key+"="+settings[key])
	}
	return strings.Join(parts, separator)
}

// harmless keeps a spreadsheet from running text as a formula. What is invisible at the beginning may be skipped by the
// spreadsheet, so it is skipped here. The full-width signs are taken for formulas too.
func harmless(text string) string {
	first := strings.TrimLeftFunc(text, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Cf, c)
	})
	if first != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(first)[0]) || strings.HasPrefix(text, "\t") ||
		strings.HasPrefix(text, "\r") {
		return "'" + text
	}
	return text
}
