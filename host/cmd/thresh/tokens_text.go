package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/thresh-dev/thresh/host/internal/table"
)

// maxShares is the most rows of each table: tools, files, entries and models. Sessions touch hundreds of files, and
// the tail adds nothing. The JSON form has all of them.
const maxShares = 15

func (a *app) printTokens(name string, r tokenReport) error {
	// An approximation is usually within some percent, but the user must know which one it is.
	exact := ""
	if !r.Exact {
		exact = ", an approximation: set model.name or model.encoding for the model's own"
	}
	// Not part of the total: no strategy can save anything of it.
	system := ""
	if r.System > 0 {
		system = fmt.Sprintf(", %s in the system prompt", table.Int(r.System))
	}
	a.paragraph(fmt.Sprintf("%s: %s tokens in %s entries%s (%s%s)", displayName(name), table.Int(r.Total),
		table.Int(len(r.Entries)), system, r.Encoding, exact), 2)
	if err := a.printShares("TOOL", false, r.Tools, r.Total); err != nil {
		return err
	}
	if err := a.printShares("FILE", true, r.Files, r.Total); err != nil {
		return err
	}
	// A copy, sorted stably: the report's entries are in the order of the session.
	largest := slices.Clone(r.Entries)
	slices.SortStableFunc(largest, func(a, b entryTokens) int { return cmp.Compare(b.Tokens, a.Tokens) })
	entries := table.New(
		table.Column{Name: "entry", Head: "LARGEST ENTRIES"}, table.Column{Name: "speaker"},
		table.Column{Name: "tokens", Right: true}, table.Column{Name: "share", Right: true},
	)
	for _, e := range largest[:min(len(largest), maxShares)] {
		entries.Row(strconv.Itoa(e.Index), string(e.Speaker), table.Int(e.Tokens), table.Percent(e.Tokens, r.Total))
	}
	fmt.Fprintln(a.out)
	if err := a.printSmallTable(entries); err != nil {
		return err
	}
	return a.printCalibration(r.Calibration)
}

// printShares prints the largest of a list of tools or files, with their shares of total. paths shortens names in the
// middle, since both ends of a path carry information.
func (a *app) printShares(title string, paths bool, list []shareTokens, total int) error {
	if len(list) == 0 {
		return nil
	}
	shares := table.New(
		table.Column{Name: "name", Head: title, Min: 16, Middle: paths}, table.Column{Name: "calls", Right: true},
		table.Column{Name: "tokens", Right: true}, table.Column{Name: "share", Right: true},
	)
	for _, s := range list[:min(len(list), maxShares)] {
		shares.Row(s.Name, table.Int(s.Calls), table.Int(s.Tokens), table.Percent(s.Tokens, total))
	}
	if more := len(list) - maxShares; more > 0 {
		shares.Row(fmt.Sprintf("(%d more)", more))
	}
	fmt.Fprintln(a.out)
	return a.printSmallTable(shares)
}

// printCalibration prints how far counts were from what the provider reported. "-" means that nothing could be
// compared: the first request of a model only sets the baseline.
func (a *app) printCalibration(list []modelCalibration) error {
	if len(list) == 0 {
		return nil
	}
	models := table.New(
		table.Column{Name: "model", Head: "REPORTED FOR", Min: 15}, table.Column{Name: "requests", Right: true},
		table.Column{Name: "peak", Head: "PEAK\nPROMPT", Right: true},
		table.Column{Name: "error", Head: "ERROR OF\nTHE COUNT", Right: true},
		table.Column{Name: "calibrated", Head: "ERROR\nCALIBRATED", Right: true},
		table.Column{Name: "ratio", Right: true, Rank: 1}, table.Column{Name: "overhead", Right: true, Rank: 1},
	)
	for _, c := range list[:min(len(list), maxShares)] {
		plain, calibrated := "-", "-"
		if c.Compared > 0 {
			plain, calibrated = table.Percentage(100*c.PlainError), table.Percentage(100*c.CalibratedError)
		}
		models.Row(
			cmp.Or(c.Model, "(unknown model)"), table.Int(c.Requests), table.Int(c.PeakPrompt), plain, calibrated,
			fmt.Sprintf("%.2f", c.Ratio), table.Int(c.Overhead),
		)
	}
	if more := len(list) - maxShares; more > 0 {
		models.Row(fmt.Sprintf("(%d more)", more))
	}
	fmt.Fprintln(a.out)
	return a.printSmallTable(models)
}
