package distill

import (
	"context"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
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

// Optimize drops from new results what earlier ones already showed. New are those after the last entry of the AI: they
// were never sent, so no provider has them in its cache and dropping lines costs nothing. What was sent stays as it is
// until a Compress. Edits that the host holds back are found again in the next call, until the AI has answered.
func (Strategy) Optimize(ctx context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	r := sdk.DensityResult{Replacements: map[int]sdk.Content{}, Reasons: map[int]sdk.Reason{}}
	fresh := len(in.History)
	for fresh > 0 && in.History[fresh-1].Speaker != sdk.AI {
		fresh--
	}
	x, ok := in.Memo.Load().(*lineIndex)
	if !ok || min(in.Unchanged, fresh) < x.upTo {
		x = newLineIndex()
	}
	in.Memo.Store(nil) // x fits no history until this is done
	reader := reader{in, x, map[string]int32{}}
	begin := x.upTo // of what the AI said last, which has the calls that are answered next
	for begin > 0 && in.History[begin-1].Speaker == sdk.AI {
		begin--
	}
	var exchange marks.Exchange
	for i := begin; i < len(in.History); i++ {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		entry := &in.History[i]
		again := rawjson.FieldText(entry.Metadata, "keptBy") == tools.Recall // what a script printed of it, too
		exchange.Add(entry, func(block int, call sdk.ToolCall) {
			if i < x.upTo {
				return
			}
			now, changed := reader.read(entry.Blocks[block].(sdk.ToolResponse), call, i < fresh, again)
			if !changed || entry.Pinned() {
				return
			}
			edited, ok := r.Replacements[i]
			if !ok {
				edited = *entry
				edited.Blocks = slices.Clone(entry.Blocks)
			}
			edited.Blocks[block] = now
			r.Replacements[i], r.Reasons[i] = edited, sdk.Reason{Rule: ruleRepeated}
		})
	}
	x.upTo = fresh
	in.Memo.Store(x)
	return r, nil
}

// reader reads the results of one call.
type reader struct {
	in    sdk.OptimizeInput
	index *lineIndex
	later map[string]int32 // how many new results so far have a label
}

// read takes a result in that was sent, and returns one that is new without what it repeats; ok is false if it stays.
func (r *reader) read(was sdk.ToolResponse, call sdk.ToolCall, sent, recalled bool) (now sdk.ToolResponse, ok bool) {
	texts := content.Literals(was.Result)
	// What was asked for once more stays whole, and nothing is left out because it stands there.
	if tools.Recalls(call.Name) || recalled {
		return was, false
	}
	label := marks.LabelOf(r.in.Tools, call)
	if sent {
		r.index.add(label, texts)
		return was, false
	}
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
	now = was
	now.Result = content.WithLiterals(was.Result, changes)
	return now, len(changes) > 0 && r.in.Tools.Failed(call, now) == r.in.Tools.Failed(call, was)
}

// omitted puts a mark in the place of each run of lines that stands in an earlier result; ok is false if that is not
// worth it. A text with a line that reads like a mark stays, whoever wrote it.
func (r *reader) omitted(text string) (now string, ok bool) {
	lines := slices.Collect(strings.Lines(text))
	if len(text) < minRepeat || slices.ContainsFunc(lines, marks.Like) {
		return "", false
	}
	keys := r.index.keys(lines)
	var b strings.Builder
	for i, runs := 0, 0; i < len(lines); {
		now, n, omitted := lines[i], 1, false
		if runs < maxRuns {
			now, n, omitted = r.repeat(lines[i:], keys[i:])
		}
		if omitted {
			runs++
		}
		b.WriteString(now)
		i += n
	}
	return b.String(), float64(b.Len()) <= (1-minOmitted)*float64(len(text))
}

// repeat returns the mark for the run that lines begin with and how many lines that is, or the lines that stay. As the
// run is the longest, all of it stays if it may not go: so each line is followed once.
func (r *reader) repeat(lines []string, keys []uint64) (now string, n int, omitted bool) {
	s, from, n := r.index.longest(keys)
	if n < runLines {
		return lines[0], 1, false
	}
	run := strings.Join(lines[:n], "")
	ref := marks.Reference{From: from, To: from + n - 1, Label: s.label,
		Nth: int(r.index.labels[s.label]-s.nth+r.later[s.label]) + 1}
	mark := ref.String()
	if len(run) < 2*len(mark) || ref.Nth > marks.MaxNth {
		return run, n, false
	}
	if strings.HasSuffix(run, "\n") {
		mark += "\n"
	}
	return mark, n, true
}
