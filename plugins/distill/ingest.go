package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
)

const (
	// leastRepeat is how many bytes a result must have to be looked through.
	leastRepeat = 600
	// runLines and runBytes are how long a run of lines must be that stood earlier.
	runLines, runBytes = 6, 160
	// leastOmitted is the share of a result that must go for it to be changed at all.
	leastOmitted = 0.1
	// recall ends the name of the tool by which agents read removed results again: what was asked for again stays whole.
	recall = "thresh_recall"
	// ruleRepeated is the reason that the host shows.
	ruleRepeated = "repeated-lines"
)

// memory is what is known of the lines that were sent: the first entry that holds each. It covers the entries before
// upTo.
type memory struct {
	lines map[uint64]int32
	upTo  int
}

// MemoBytes is about how much memory it takes: a key, a value, and a map's own share.
func (m *memory) MemoBytes() int { return 32 * len(m.lines) }

// Optimize leaves out of new results what stood in earlier ones. New are those behind the last entry of the AI: they
// were never sent, so that no provider has them in its cache and leaving lines out costs nothing. What was sent stays
// as it is until a Compress.
func (Strategy) Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	fresh := len(in.History)
	for fresh > 0 && in.History[fresh-1].Speaker != sdk.AI {
		fresh--
	}
	m, ok := in.Memo.Load().(*memory)
	if !ok || in.Unchanged == 0 {
		m = &memory{lines: map[uint64]int32{}}
	}
	if in.Unchanged < m.upTo {
		maps.DeleteFunc(m.lines, func(_ uint64, entry int32) bool { return int(entry) >= in.Unchanged })
		m.upTo = in.Unchanged
	}
	for ; m.upTo < fresh; m.upTo++ {
		if err := ctx.Err(); err != nil {
			in.Memo.Store(nil)
			return sdk.DensityResult{}, err
		}
		m.learn(m.lines, in.History[m.upTo], m.upTo)
	}
	in.Memo.Store(m)
	return m.omit(in, fresh), nil
}

// learn adds the lines of an entry's results and of the long parameters of its calls.
func (m *memory) learn(known map[uint64]int32, entry sdk.Content, at int) {
	for _, b := range entry.Blocks {
		for _, s := range textsOf(b) {
			if _, said := b.(sdk.Text); said || !mayShrink(entry.Speaker, b, s) {
				continue
			}
			for line := range strings.Lines(s.text) {
				if key, ok := lineHash(line); ok {
					if _, have := known[key]; !have {
						known[key] = int32(at)
					}
				}
			}
		}
	}
}

// lineHash identifies a line; ok is false for a short one.
func lineHash(line string) (key uint64, ok bool) {
	if line = bare(line); len(line) <= shortLine {
		return 0, false
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(line)) // a hash never fails
	return h.Sum64(), true
}

// omit makes the edits of the results from position fresh on. These may repeat one another, too.
func (m *memory) omit(in sdk.OptimizeInput, fresh int) (r sdk.DensityResult) {
	latest := map[uint64]int32{}
	known := func(line string) (short, stood bool) {
		key, ok := lineHash(line)
		if !ok {
			return true, false
		}
		if _, stood = m.lines[key]; !stood {
			_, stood = latest[key]
		}
		return false, stood
	}
	for i := fresh; i < len(in.History); i++ {
		entry := in.History[i]
		if entry.Speaker != sdk.Tool {
			continue
		}
		edited := false
		for j, b := range entry.Blocks {
			response, ok := b.(sdk.ToolResponse)
			if !ok || entry.Pinned() || strings.HasSuffix(response.ToolName, recall) {
				continue
			}
			var changes []change
			for _, s := range stringsIn(response.Result) {
				if now, ok := omitRepeats(s.text, known); ok {
					changes = append(changes, change{s, now})
				}
			}
			if len(changes) == 0 {
				continue
			}
			if !edited {
				entry.Blocks, edited = slices.Clone(entry.Blocks), true
			}
			entry.Blocks[j] = changed(response, changes)
		}
		if edited {
			if r.Replacements == nil {
				r.Replacements, r.Reasons = map[int]sdk.Content{}, map[int]sdk.Reason{}
			}
			r.Replacements[i], r.Reasons[i] = entry, sdk.Reason{Rule: ruleRepeated}
		}
		m.learn(latest, in.History[i], i)
	}
	return r
}

// omitRepeats puts a mark in the place of each run of lines that stood earlier; ok is false if that is not worth it.
// A text with such a mark was changed before, and stays.
func omitRepeats(text string, known func(line string) (short, stood bool)) (now string, ok bool) {
	if len(text) < leastRepeat || strings.Contains(text, markRepeated) {
		return "", false
	}
	var b strings.Builder
	var run []string // lines that stood earlier, and short ones among and behind them
	last := 0        // how many of them there are up to the last that stood earlier
	flush := func() {
		bytes := 0
		for _, line := range run[:last] {
			bytes += len(line)
		}
		if last >= runLines && bytes >= runBytes {
			fmt.Fprintf(&b, "%s%d lines%s\n", markStart, last, markRepeated)
			run = run[last:]
		}
		for _, line := range run {
			b.WriteString(line)
		}
		run, last = run[:0], 0
	}
	for line := range strings.Lines(text) {
		short, stood := known(line)
		if !stood && (!short || last == 0) {
			flush()
			b.WriteString(line)
			continue
		}
		if run = append(run, line); stood {
			last = len(run)
		}
	}
	flush()
	now = b.String()
	return now, float64(len(now)) <= (1-leastOmitted)*float64(len(text))
}
