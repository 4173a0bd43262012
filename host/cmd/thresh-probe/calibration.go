package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk/content"
)

// modelCalibration compares the counts of a model's prompts with what its provider reported. Errors are means of
// |estimate − reported| / reported over the compared requests, each estimated before its report was known.
type modelCalibration struct {
	File  string `json:"file"`
	Model string `json:"model"` // "" if the recorder did not say
	// Requests is how many prompts were reported, Compared those that an estimate existed for: all but the first.
	Requests        int     `json:"requests"`
	PeakPrompt      int     `json:"peakPrompt"`
	Compared        int     `json:"compared"`
	PlainError      float64 `json:"plainError"`
	CalibratedError float64 `json:"calibratedError"`
	Ratio           float64 `json:"ratio"`
	// In the host's tokens. Ratio and Overhead are as learned after the last request.
	Overhead int `json:"overhead"`
}

func calibrationCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "calibration FILE…", Short: "Compare counted tokens with what providers reported",
		Long: `Shows for each model how far the count of a prompt was from the one that its provider reported in the
recording: plain, and calibrated by the reports before it, as a live session is. Calibration learns
the overhead, which is what every prompt has in addition to what the file holds (tool schemas, often
also the system prompt), and the ratio of the provider's tokens to ours.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			c, err := p.config()
			if err != nil {
				return err
			}
			set := c.Settings().Model
			all := []modelCalibration{}
			for _, file := range files {
				t, err := p.read(file)
				if err != nil {
					return err
				}
				counter, err := tokens.For(cmp.Or(set.Name, t.Model), set.Encoding)
				if err != nil {
					return err
				}
				counts, err := counter.CountAll(cmd.Context(), t.Entries, nil)
				if err != nil {
					return err
				}
				system := 0
				if len(t.System) > 0 {
					system = counter.Entry(content.Content{Speaker: content.Human, Blocks: t.System})
				}
				all = append(all, calibrate(file, t, counts, system)...)
			}
			if p.json {
				return p.printJSON(all)
			}
			return p.printCalibration(all)
		},
	}
}

// calibrate replays the calibration of a session over the recorded requests, separately for each model, since the ratio
// between its tokens and ours is a property of the model. Models are in the order of their first use. It does what a
// live session does with usage reports: its errors are those that a user would have had.
func calibrate(file string, t *transcript.Transcript, counts []int, system int) (out []modelCalibration) {
	var models []string
	samples := map[string][]tokens.Sample{}
	// Prompts returns, for each recorded usage, the size of the history in its request.
	for i, counted := range t.Prompts(counts) {
		u := t.Usage[i]
		if samples[u.Model] == nil {
			models = append(models, u.Model)
		}
		samples[u.Model] = append(samples[u.Model], tokens.Sample{Counted: system + counted, Reported: u.PromptTokens})
	}
	for _, model := range models {
		var c tokens.Calibration
		fit := c.Learn(samples[model])
		out = append(out, modelCalibration{
			File: file, Model: model, Requests: fit.Requests, PeakPrompt: fit.Peak, Compared: fit.Compared,
			PlainError: fit.PlainError, CalibratedError: fit.CalibratedError, Ratio: c.Ratio(), Overhead: c.Overhead(),
		})
	}
	return out
}

// printCalibration prints "-" where nothing could be compared: the first request of a model only sets the baseline.
func (p *program) printCalibration(list []modelCalibration) error {
	t := table.New(
		table.Column{Name: "file", Min: 16, Middle: true},
		table.Column{Name: "model", Head: "REPORTED FOR", Min: 15}, table.Column{Name: "requests", Right: true},
		table.Column{Name: "peak", Head: "PEAK\nPROMPT", Right: true},
		table.Column{Name: "error", Head: "ERROR OF\nTHE COUNT", Right: true},
		table.Column{Name: "calibrated", Head: "ERROR\nCALIBRATED", Right: true},
		table.Column{Name: "ratio", Right: true, Rank: 1}, table.Column{Name: "overhead", Right: true, Rank: 1},
	)
	for _, c := range list {
		plain, calibrated := "-", "-"
		if c.Compared > 0 {
			plain, calibrated = table.Percentage(100*c.PlainError), table.Percentage(100*c.CalibratedError)
		}
		t.Row(c.File, cmp.Or(c.Model, "(unknown model)"), table.Int(c.Requests), table.Int(c.PeakPrompt), plain,
			calibrated, fmt.Sprintf("%.2f", c.Ratio), table.Int(c.Overhead))
	}
	return p.printTable(t)
}
