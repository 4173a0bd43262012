package main

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/shell"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// tokenReport shows where a session's tokens are. Exact is false if the model's own encoding is unknown and another one
// is used in its place. The shares of Tools and Files overlap: a call counts for its tool and for each of its files.
type tokenReport struct {
	// Encoding is the name of the vocabulary, such as o200k_base.
	Encoding string `json:"encoding"`
	Exact    bool   `json:"exact"`
	Total    int    `json:"total"`
	// System is the system prompt's tokens, which are in every request and not in Total; 0 if the file has none.
	System  int           `json:"system"`
	Entries []entryTokens `json:"entries"`
	Tools   []shareTokens `json:"tools"`
	Files   []shareTokens `json:"files"`
	// Calibration has an element for each model with usage in the file, in the order of their first use.
	Calibration []modelCalibration `json:"calibration"`
}

type entryTokens struct {
	Index   int             `json:"index"`
	Speaker content.Speaker `json:"speaker"`
	Tokens  int             `json:"tokens"`
}

// shareTokens is what the calls and responses of one tool, or about one file, count.
type shareTokens struct {
	Name string `json:"name"`
	// Calls without a response count too: their parameters are in the history.
	Calls  int `json:"calls"`
	Tokens int `json:"tokens"`
}

// modelCalibration compares the counts of a model's prompts with what its provider reported. Errors are means of
// |estimate − reported| / reported over the compared requests, each estimated before its report was known.
type modelCalibration struct {
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

// tokensCommand counts tokens without a host or a plugin. The calibration table answers how far the counts can be
// trusted for the user's own model.
func tokensCommand(a *app) *cobra.Command {
	var source *sources
	cmd := &cobra.Command{
		Use:   "tokens [FILE]",
		Short: "Count the tokens of a session by entry, tool and file",
		Long: `Counts a session's tokens with the encoding of model.name or model.encoding and shows where they
are: by entry, by tool, and by the file that a tool call reads or writes. A call and its response
count for their tool and for each of their files.

If the file has the provider's own counts, the last table shows for each model how far the count of
a prompt was from the reported one, plain and calibrated by earlier reports. Calibration learns the
overhead, which is what every prompt has in addition to what the file holds (tool schemas, often
also the system prompt), and the ratio of the provider's tokens to ours.`,
		Example: `  thresh tokens
  thresh tokens session.jsonl
  thresh tokens -o json --set model.name=gpt-4o session.jsonl | jq .total`,
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := a.files(cmd, source, args)
			if err != nil {
				return err
			}
			file := files[0]
			t, err := a.read(cmd.Context(), file)
			if err != nil {
				return err
			}
			counter, taxonomy, err := a.reading(cmd, t.Model)
			if err != nil {
				return err
			}
			a.warnings(file, t.Notes)
			counts, err := counter.CountAll(cmd.Context(), t.Entries, nil)
			if err != nil {
				return err
			}
			report := countByEntry(t.Entries, counts)
			if len(t.System) > 0 {
				report.System = counter.Entry(content.Content{Speaker: content.Human, Blocks: t.System})
			}
			report.Encoding, report.Exact = counter.Encoding(), counter.Exact()
			report.Tools, report.Files = countByTool(counter, taxonomy, t.Entries, t.Dir)
			report.Calibration = calibrate(t, counts, report.System)
			return a.show(report, func() error { return a.printTokens(file, report) })
		},
	}
	source = a.addSources(cmd, 1)
	a.addOutput(cmd)
	return cmd
}

// reading returns how tokens are counted and which tool calls read or write which files, by the settings. model is the
// recorded one, used if none is set.
func (a *app) reading(cmd *cobra.Command, model string) (*tokens.Counter, *tools.Taxonomy, error) {
	c, err := a.loadConfig(cmd)
	if err != nil {
		return nil, nil, err
	}
	set := c.Settings()
	counter, err := tokens.For(cmp.Or(set.Model.Name, model), set.Model.Encoding)
	if err != nil {
		return nil, nil, err
	}
	taxonomy, err := window.Taxonomy(set)
	return counter, taxonomy, err
}

func countByEntry(entries []content.Content, counts []int) tokenReport {
	r := tokenReport{Entries: make([]entryTokens, len(entries))}
	for i, c := range entries {
		r.Entries[i] = entryTokens{Index: i, Speaker: c.Speaker, Tokens: counts[i]}
		r.Total += counts[i]
	}
	return r
}

// countByTool attributes tokens to tools and files, block by block, as one entry may hold calls of several tools. A
// call and its response count together. A file that a call both reads and writes counts once for that call. Files are
// known by their paths from root on, so one that is named in two ways is one; an empty root leaves relative paths.
// Responses without a call, and texts, are left out, so the sum of the shares is below the total.
func countByTool(
	counter *tokens.Counter,
	taxonomy *tools.Taxonomy,
	entries []content.Content,
	root string,
) (byTool, byFile []shareTokens) {
	toolShare, fileShare := map[string]*shareTokens{}, map[string]*shareTokens{}
	add := func(m map[string]*shareTokens, name string, tokens int) {
		if m[name] == nil {
			m[name] = &shareTokens{Name: name}
		}
		m[name].Calls++
		m[name].Tokens += tokens
	}
	// One block costs the count of an entry with only that block, less an empty entry's, the fixed overhead of a
	// message.
	blockTokens := func(speaker content.Speaker, b content.Block) int {
		return counter.Entry(
			content.Content{Speaker: speaker, Blocks: []content.Block{b}},
		) - counter.Entry(
			content.Content{Speaker: speaker, Blocks: []content.Block{}},
		)
	}
	// By adjacency, as providers match calls and responses: ids repeat.
	pairs := turns.Pair(entries)
	for i, c := range entries {
		for j, b := range c.Blocks {
			call, ok := b.(content.ToolCall)
			if !ok {
				continue
			}
			n := blockTokens(content.AI, call)
			if r, answered := pairs.Response(turns.At{Entry: i, Block: j}); answered {
				n += blockTokens(content.Tool, entries[r.Entry].Blocks[r.Block])
			}
			add(toolShare, call.Name, n)
			use := shell.Use(call, taxonomy)
			var files []string
			for _, p := range use.Reads {
				files = append(files, tools.Resolve(root, p))
			}
			for _, w := range use.Writes {
				files = append(files, tools.Resolve(root, w.Path))
			}
			for _, p := range use.MayWrite {
				files = append(files, tools.Resolve(root, p))
			}
			slices.Sort(files)
			for _, f := range slices.Compact(files) {
				add(fileShare, f, n)
			}
		}
	}
	return largestFirst(toolShare), largestFirst(fileShare)
}

// calibrate replays the calibration of a session over the recorded requests, separately for each model, since the ratio
// between its tokens and ours is a property of the model. Models are in the order of their first use. It does what a
// live session does with usage reports: its errors are those that a user would have had.
func calibrate(t *transcript.Transcript, counts []int, system int) []modelCalibration {
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
	out := make([]modelCalibration, len(models))
	for i, model := range models {
		var c tokens.Calibration
		fit := c.Learn(samples[model])
		out[i] = modelCalibration{
			Model: model, Requests: fit.Requests, PeakPrompt: fit.Peak, Compared: fit.Compared,
			PlainError: fit.PlainError, CalibratedError: fit.CalibratedError, Ratio: c.Ratio(), Overhead: c.Overhead(),
		}
	}
	return out
}

// largestFirst sorts ties by name: the output is reproducible.
func largestFirst(m map[string]*shareTokens) []shareTokens {
	out := make([]shareTokens, 0, len(m))
	for _, s := range m {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b shareTokens) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name))
	})
	return out
}
