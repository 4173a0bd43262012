package distill

import (
	"context"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Repeats. Agents read the same files again and again, in part or with other line numbers. A run of lines that stands
// in an earlier result is replaced by a mark that says where: see [marks.Reference]. The host sees to it that the mark
// holds, or that the lines come back, when the earlier result changes.
const (
	// minRepeat is how many bytes a text must have to be looked through.
	minRepeat = 600
	// runLines is how long a run must be to be left out. It must also be twice as long as its mark.
	runLines = 3
	// maxRuns is how many runs of one text go: what is made of more pieces nobody puts together.
	maxRuns = 12
	// minOmitted is the share of a text that must go for it to be changed at all.
	minOmitted = 0.1
	// ruleRepeated is the reason that the host shows.
	ruleRepeated = "repeated-lines"
)

// memory is what is known of a history from one Optimize to the next, so a turn costs what is new in it.
type memory struct {
	lineIndex
	upTo int // entries that were taken in: all that the AI had seen
}

// Optimize drops from new results what earlier ones already showed. New are those after the last entry of the AI: they
// were never sent, so no provider has them in its cache and dropping lines costs nothing. What was sent stays as it is
// until a Compress. Edits that the host holds back are found again in the next call, until the AI has answered.
func (Strategy) Optimize(ctx context.Context, in sdk.OptimizeInput) (r sdk.DensityResult, err error) {
	fresh := len(in.History)
	for fresh > 0 && in.History[fresh-1].Speaker != sdk.AI {
		fresh--
	}
	m, ok := in.Memo.Load().(*memory)
	if !ok || min(in.Unchanged, fresh) < m.upTo {
		m = &memory{lineIndex: newLineIndex()}
	}
	in.Memo.Store(nil) // m fits no history until this is done
	reader := reader{in, &m.lineIndex, map[string]int32{}}
	begin := m.upTo // of what the AI said last, which has the calls that are answered next
	for begin > 0 && in.History[begin-1].Speaker == sdk.AI {
		begin--
	}
	var exchange marks.Exchange
	for i := begin; i < len(in.History); i++ {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		entry := &in.History[i]
		edited := entry.Blocks
		exchange.Add(entry, func(block int, call sdk.ToolCall) {
			if i >= m.upTo {
				now, ok := reader.read(i, block, call, i < fresh)
				if ok && !entry.Pinned() {
					if &edited[0] == &entry.Blocks[0] {
						edited = slices.Clone(edited)
					}
					edited[block] = now
				}
			}
		})
		if len(edited) > 0 && &edited[0] != &entry.Blocks[0] {
			if r.Replacements == nil {
				r.Replacements, r.Reasons = map[int]sdk.Content{}, map[int]sdk.Reason{}
			}
			now := *entry
			now.Blocks = edited
			r.Replacements[i], r.Reasons[i] = now, sdk.Reason{Rule: ruleRepeated}
		}
	}
	m.upTo = fresh
	in.Memo.Store(m)
	return r, nil
}

// reader reads the results of one call.
type reader struct {
	in    sdk.OptimizeInput
	index *lineIndex
	later map[string]int32 // how many new results so far have a label
}

// read takes a result in that was sent, and returns one that is new without what it repeats; ok is false if it stays.
func (r *reader) read(entry, block int, call sdk.ToolCall, sent bool) (now sdk.ToolResponse, ok bool) {
	now = r.in.History[entry].Blocks[block].(sdk.ToolResponse)
	texts := content.Literals(now.Result)
	// What was asked for once more stays whole, and nothing is left out because it stands there.
	if tools.Recalls(call.Name) || slices.ContainsFunc(texts, func(s content.Literal) bool { return marks.HasRecalled(s.Text) }) {
		return now, false
	}
	label := marks.LabelOf(r.in.Tools, call)
	if sent {
		r.index.add(label, texts)
		return now, false
	}
	was := now
	var changes []content.Literal
	for _, s := range texts {
		if short, ok := r.omitted(s.Text); ok {
			s.Text = short
			changes = append(changes, s)
		}
	}
	if marks.HasText(was.Result) {
		r.later[label]++
	}
	if len(changes) == 0 {
		return was, false
	}
	now.Result = content.WithLiterals(now.Result, changes)
	return now, r.in.Tools.Failed(call, now) == r.in.Tools.Failed(call, was)
}

// omitted puts a mark in the place of each run of lines that stands in an earlier result; ok is false if that is not
// worth it. A text with a line that looks like a mark stays: it was changed before, or could be taken for that.
func (r *reader) omitted(text string) (now string, ok bool) {
	if len(text) < minRepeat {
		return "", false
	}
	all := slices.Collect(strings.Lines(text))
	if slices.ContainsFunc(all, marks.Like) {
		return "", false
	}
	keys := r.index.keys(all)
	var b strings.Builder
	for i, runs := 0, 0; i < len(all); {
		mark, n := "", len(all)-i
		if runs < maxRuns {
			mark, n = r.repeat(all, keys, i)
		}
		if mark != "" {
			b.WriteString(mark)
			runs++
		} else {
			for _, line := range all[i : i+n] {
				b.WriteString(line)
			}
		}
		i += n
	}
	now = b.String()
	return now, float64(len(now)) <= (1-minOmitted)*float64(len(text))
}

// repeat returns the mark for the run of lines that begins at i, and how many lines that is; "" and how many lines stay
// if there is none. As the run is the longest, all of it stays if it may not go: so each line is followed once.
func (r *reader) repeat(all []string, keys []uint64, i int) (mark string, n int) {
	s, from, n := r.index.longest(keys[i:])
	if n < runLines {
		return "", 1
	}
	bytes := 0
	for _, line := range all[i : i+n] {
		bytes += len(line)
	}
	ref := marks.Reference{From: from + 1, To: from + n, Label: s.label,
		Nth: int(r.index.labels[s.label]-s.nth+r.later[s.label]) + 1}
	mark = ref.String()
	if bytes < 2*len(mark) || ref.Nth > marks.MaxNth {
		return "", n
	}
	if last := all[i+n-1]; last[len(last)-1] == '\n' {
		mark += "\n"
	}
	return mark, n
}
