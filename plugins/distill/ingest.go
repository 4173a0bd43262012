package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/prune"
)

// Repeats. Agents read the same files again and again, in part or with other line numbers. What a result repeats is
// replaced by a mark with the number of lines. The lines themselves stand further up, and stay there until a Compress,
// which weighs every line and keeps the newest line with an identifier.
const (
	// leastRepeat is how many bytes a result must have to be looked through.
	leastRepeat = 600
	// runLines and runBytes are how long a run of lines must be that stood earlier.
	runLines, runBytes = 6, 160
	// leastOmitted is the share of a result that must go for it to be changed at all.
	leastOmitted = 0.1
	// recall ends the name of the tool by which agents read removed results again. What an agent asked for once more
	// stays whole.
	recall = "thresh_recall"
	// ruleRepeated is the reason that the host shows.
	ruleRepeated = "repeated-lines"
)

// memory is what is known of a history from one Optimize to the next, so that a turn costs what is new in it. Lines are
// known by 64-bit hashes: that two lines of a session have the same is too unlikely to matter.
type memory struct {
	lines  map[uint64]int32 // the first entry that holds a line, for the entries before upTo
	upTo   int
	pruned sdk.Memo // of package prune
}

// MemoBytes is about how much memory it takes: a key, a value, and a map's own share; and what package prune says.
func (m *memory) MemoBytes() int {
	n := 32 * len(m.lines)
	if state, ok := m.pruned.Load().(interface{ MemoBytes() int }); ok {
		n += state.MemoBytes()
	}
	return n
}

// Optimize leaves out of new results what stood in earlier ones. New are those behind the last entry of the AI: they
// were never sent, so that no provider has them in its cache and leaving lines out costs nothing. What was sent stays
// as it is until a Compress, unless a setting asks for a rule of package prune.
func (Strategy) Optimize(ctx context.Context, in sdk.OptimizeInput) (r sdk.DensityResult, err error) {
	s, err := settingsOf(in.Config)
	if err != nil {
		return r, err
	}
	m, ok := in.Memo.Load().(*memory)
	if !ok {
		m = &memory{lines: map[uint64]int32{}}
	}
	in.Memo.Store(nil) // m fits no history until this is done
	if s.StaleReads || s.Inclusions || s.Recency > 0 {
		rules := in // with Applied: the edits of omit say nothing to the rule that may run with it
		rules.Memo, rules.Density = &m.pruned, sdk.DensityConfig{
			ReadWritePruning: s.StaleReads, FileDedupe: s.Inclusions, RecencyPruning: s.Recency > 0,
			RecencyRetention: s.Recency, PartialWrites: in.Density.PartialWrites,
		}
		if r, err = prune.Optimize(ctx, rules); err != nil {
			return r, err
		}
	}
	if !s.StaleReads && s.Recency == 0 { // otherwise the earlier result may be one that goes
		if err := m.learn(ctx, in); err != nil {
			return r, err
		}
		m.omit(in.History, &r)
	}
	in.Memo.Store(m)
	return r, nil
}

// learn takes in the lines of results and of the long parameters of calls, of the entries that are new. A rewrite of
// the history makes entries new again from the first one that changed.
func (m *memory) learn(ctx context.Context, in sdk.OptimizeInput) error {
	if in.Unchanged < m.upTo {
		maps.DeleteFunc(m.lines, func(_ uint64, entry int32) bool { return int(entry) >= in.Unchanged })
		m.upTo = in.Unchanged
	}
	for ; m.upTo < len(in.History); m.upTo++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		entry := in.History[m.upTo]
		for _, b := range entry.Blocks {
			for _, s := range textsOf(b) {
				if _, said := b.(sdk.Text); said || !mayShrink(entry.Speaker, b, s) {
					continue
				}
				for line := range strings.Lines(s.Text) {
					key, long := lineHash(line)
					if _, have := m.lines[key]; long && !have {
						m.lines[key] = int32(m.upTo)
					}
				}
			}
		}
	}
	return nil
}

// lineHash identifies a line, without its number and the white space at its end; ok is false for a short one.
func lineHash(line string) (key uint64, ok bool) {
	if line = bare(line); len(line) <= shortLine {
		return 0, false
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(line)) // a hash never fails
	return h.Sum64(), true
}

// bare returns a line without the number that a tool put in front of it ("12→", "12: ", "12\t") and without the white
// space at its end.
func bare(line string) string {
	line = strings.TrimRight(line, " \t\r\n")
	rest := strings.TrimLeft(strings.TrimLeft(line, " \t"), "0123456789")
	if len(rest) < len(line) {
		for _, mark := range [...]string{"→", "\t", ":", "|"} {
			if after, ok := strings.CutPrefix(rest, mark); ok {
				return after
			}
		}
	}
	return line
}

// omit adds the edits of the results behind the last entry of the AI to r. They may repeat one another, too. Edits that
// the host holds back are found again in the next call, until the AI has answered.
func (m *memory) omit(history []sdk.Content, r *sdk.DensityResult) {
	fresh := len(history)
	for fresh > 0 && history[fresh-1].Speaker != sdk.AI {
		fresh--
	}
	replaced, reasons := maps.Clone(r.Replacements), maps.Clone(r.Reasons) // they are package prune's
	for i, entry := range history[fresh:] {
		if blocks, changed := m.withoutRepeats(entry, int32(fresh+i)); changed {
			if entry.Blocks = blocks; replaced == nil {
				replaced, reasons = map[int]sdk.Content{}, map[int]sdk.Reason{}
			}
			replaced[fresh+i], reasons[fresh+i] = entry, sdk.Reason{Rule: ruleRepeated}
		}
	}
	r.Replacements, r.Reasons = replaced, reasons
}

// withoutRepeats returns the blocks of an entry without what its results repeat of the entries before.
func (m *memory) withoutRepeats(entry sdk.Content, at int32) (blocks []sdk.Block, edited bool) {
	if entry.Speaker != sdk.Tool || entry.Pinned() {
		return nil, false
	}
	blocks = slices.Clone(entry.Blocks)
	for j, b := range blocks {
		response, ok := b.(sdk.ToolResponse)
		if !ok || strings.HasSuffix(response.ToolName, recall) {
			continue
		}
		var changes []content.Literal
		for _, s := range content.Literals(response.Result) {
			if now, ok := m.omitted(s.Text, at); ok {
				s.Text = now
				changes = append(changes, s)
			}
		}
		if len(changes) > 0 {
			blocks[j], edited = changed(b, changes), true
		}
	}
	return blocks, edited
}

// omitted puts a mark in the place of each run of lines that stood before an entry; ok is false if that is not worth
// it. A text with such a mark was changed before, and stays.
func (m *memory) omitted(text string, entry int32) (now string, ok bool) {
	if len(text) < leastRepeat || strings.Contains(text, markRepeated) {
		return "", false
	}
	var b strings.Builder
	for all := slices.Collect(strings.Lines(text)); len(all) > 0; {
		n, bytes := m.run(all, entry)
		if n >= runLines && bytes >= runBytes {
			fmt.Fprintf(&b, "%s%d lines%s\n", markStart, n, markRepeated)
		} else {
			n = max(n, 1)
			for _, line := range all[:n] {
				b.WriteString(line)
			}
		}
		all = all[n:]
	}
	now = b.String()
	return now, float64(len(now)) <= (1-leastOmitted)*float64(len(text))
}

// run returns how many lines from the first on stood before an entry, and their bytes. Short lines, such as closing
// brackets, are not looked up: they belong to the run if longer ones follow that do.
func (m *memory) run(all []string, entry int32) (n, bytes int) {
	sum := 0
	for i, line := range all {
		sum += len(line)
		key, long := lineHash(line)
		if first, known := m.lines[key]; long && known && first < entry {
			n, bytes = i+1, sum
		} else if long || n == 0 {
			break
		}
	}
	return n, bytes
}
