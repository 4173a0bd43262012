package distill

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/prune"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Repeats. Agents read the same files again and again, in part or with other line numbers. A run of lines that stands
// in an earlier result is replaced by a mark that says where: see [marks.Reference]. The host sees to it that the mark
// holds, or that the lines come back, when the earlier result changes.
const (
	// minRepeat is how many bytes a text must have to be looked through.
	minRepeat = 600
	// runLines and runBytes are how long a run must be to be left out. It must also be twice as long as its mark.
	runLines, runBytes = 3, 160
	// maxRuns is how many runs of one text go: what is made of more pieces nobody puts together.
	maxRuns = 12
	// minOmitted is the share of a text that must go for it to be changed at all.
	minOmitted = 0.1
	// ruleRepeated is the reason that the host shows.
	ruleRepeated = "repeated-lines"
)

// memory is what is known of a history from one Optimize to the next, so a turn costs what is new in it.
type memory struct {
	lines    lineIndex
	exchange marks.Exchange
	upTo     int      // entries that were taken in
	sure     int      // of these, how many stand as they were taken in, whether or not the host applies the last answer
	pruned   sdk.Memo // of package prune
}

// MemoBytes is about how much memory it takes, with what package prune says.
func (m *memory) MemoBytes() int {
	n := m.lines.bytes()
	if state, ok := m.pruned.Load().(interface{ MemoBytes() int }); ok {
		n += state.MemoBytes()
	}
	return n
}

// Optimize drops from new results what earlier ones already showed. New are those after the last entry of the AI: they
// were never sent, so no provider has them in its cache and dropping lines costs nothing. What was sent stays
// as it is until a Compress, unless a setting asks for a rule of package prune.
func (Strategy) Optimize(ctx context.Context, in sdk.OptimizeInput) (r sdk.DensityResult, err error) {
	s, err := settingsOf(in.Config)
	if err != nil {
		return r, err
	}
	m, ok := in.Memo.Load().(*memory)
	if !ok {
		m = &memory{lines: newLineIndex()}
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
		if err := m.omit(ctx, in, &r); err != nil {
			return r, err
		}
	}
	in.Memo.Store(m)
	return r, nil
}

// omit takes in the entries that are new, and adds the edits of the results behind the last entry of the AI to r. They
// may repeat one another, too: a result is taken in as the edit leaves it. Edits that the host holds back are found
// again in the next call, until the AI has answered.
func (m *memory) omit(ctx context.Context, in sdk.OptimizeInput, r *sdk.DensityResult) error {
	fresh := len(in.History)
	for fresh > 0 && in.History[fresh-1].Speaker != sdk.AI {
		fresh--
	}
	known := min(in.Unchanged, m.sure, m.upTo)
	if in.Unchanged < m.upTo { // what the AI had seen may be new again
		known = min(known, fresh)
	}
	m.forget(in.History, known)
	reader := &reader{in: in, lines: &m.lines, edited: map[int]sdk.Content{}}
	for ; m.upTo < len(in.History); m.upTo++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		reader.take(m.upTo, m.upTo >= fresh, &m.exchange)
	}
	m.sure = m.upTo
	if len(reader.edited) == 0 {
		return nil
	}
	r.Replacements, r.Reasons = maps.Clone(r.Replacements), maps.Clone(r.Reasons) // they are package prune's
	if r.Replacements == nil {
		r.Replacements, r.Reasons = map[int]sdk.Content{}, map[int]sdk.Reason{}
	}
	for i, entry := range reader.edited {
		r.Replacements[i], r.Reasons[i] = entry, sdk.Reason{Rule: ruleRepeated}
		m.sure = min(m.sure, i)
	}
	return nil
}

// forget goes back to the moment before an entry. The exchange that it is in is read again: it may be answered still.
func (m *memory) forget(history []sdk.Content, to int) {
	if to >= m.upTo {
		return
	}
	m.upTo = m.lines.forget(to)
	begin := m.upTo
	for begin > 0 {
		begin--
		if history[begin].Speaker == sdk.AI && (begin == 0 || history[begin-1].Speaker != sdk.AI) {
			break
		}
	}
	m.exchange = marks.Exchange{}
	for i := begin; i < m.upTo; i++ {
		m.exchange.Add(&history[i], nil)
	}
}

// reader takes the entries of one call in.
type reader struct {
	in     sdk.OptimizeInput
	lines  *lineIndex
	edited map[int]sdk.Content
	texts  map[int32][]string // the lines of sources that were looked at, by their number
}

// take takes an entry in, and edits its results first if it was never sent.
func (r *reader) take(at int, fresh bool, exchange *marks.Exchange) {
	entry := r.in.History[at]
	fresh = fresh && entry.Speaker == sdk.Tool && !entry.Pinned()
	exchange.Add(&r.in.History[at], func(block int, call sdk.ToolCall) {
		response := entry.Blocks[block].(sdk.ToolResponse)
		use := r.in.Tools.UseCall(call)
		from := origin{entry: int32(at), block: int32(block)}
		if use.Class == tools.ClassRead && len(use.Reads) == 1 && !use.Glob {
			from.file = r.lines.hash(tools.Key(r.in.WorkspaceRoot, use.Reads[0])) | 1
		}
		texts := content.Literals(response.Result)
		// What was asked for once more stays whole, and nothing is left out because it stands there.
		if tools.Recalls(call.Name) || slices.ContainsFunc(texts, func(s content.Literal) bool { return marks.HasRecalled(s.Text) }) {
			return
		}
		if fresh {
			now, ok := r.withoutRepeats(response, texts, from)
			if ok && r.in.Tools.Failed(call, now) == r.in.Tools.Failed(call, response) {
				if _, again := r.edited[at]; !again {
					entry.Blocks = slices.Clone(entry.Blocks)
				}
				entry.Blocks[block], r.edited[at] = now, entry
				texts = content.Literals(now.Result)
			}
		}
		r.lines.add(from, marks.Label(call.Name, use.Subject), texts)
	})
}

// withoutRepeats returns a response without what its texts repeat of earlier results.
func (r *reader) withoutRepeats(response sdk.ToolResponse, texts []content.Literal, from origin) (
	now sdk.ToolResponse, ok bool,
) {
	var changes []content.Literal
	for _, s := range texts {
		if now, ok := r.omitted(s.Text, from); ok {
			s.Text = now
			changes = append(changes, s)
		}
	}
	if len(changes) == 0 {
		return response, false
	}
	response.Result = content.WithLiterals(response.Result, changes)
	return response, true
}

// omitted puts a mark in the place of each run of lines that stands in an earlier result; ok is false if that is not
// worth it. A text with a line that looks like a mark stays: it was changed before, or could be taken for that.
func (r *reader) omitted(text string, from origin) (now string, ok bool) {
	if len(text) < minRepeat {
		return "", false
	}
	all := slices.Collect(strings.Lines(text))
	if slices.ContainsFunc(all, marks.Like) {
		return "", false
	}
	keys := r.lines.keys(all, from.file)
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
// if there is none. As the run is the longest, all of it stays if it may not go: so each line is followed once. What
// the index finds by hashes is compared byte by byte.
func (r *reader) repeat(all []string, keys []lineKey, i int) (mark string, n int) {
	at, n, numbered := r.lines.longest(keys, i)
	if n < runLines {
		return "", 1
	}
	run, bytes := all[i:i+n], 0
	for _, line := range run {
		bytes += len(line)
	}
	ref, source, ok := r.lines.reference(at, n)
	if !ok || bytes < runBytes {
		return "", n
	}
	there := r.source(source)[at-r.lines.sources[source].at:][:n]
	if numbered {
		ref.Number, _, _ = marks.Number(run[0])
		there, ok = marks.Renumbered(there, ref.Number)
	}
	if !ok || numbered && ref.Number == 0 || !slices.EqualFunc(run, there, func(here, there string) bool {
		return strings.TrimSuffix(here, "\n") == there
	}) {
		return "", n
	}
	if mark = ref.String(); bytes < 2*len(mark) {
		return "", n
	}
	if last := run[n-1]; last[len(last)-1] == '\n' {
		mark += "\n"
	}
	return mark, n
}

// source returns the lines of a text that was taken in, without their line breaks.
func (r *reader) source(number int32) []string {
	if lines, ok := r.texts[number]; ok {
		return lines
	}
	s := r.lines.sources[number]
	entry, ok := r.edited[int(s.entry)]
	if !ok {
		entry = r.in.History[s.entry]
	}
	text := content.Literals(entry.Blocks[s.block].(sdk.ToolResponse).Result)[s.text].Text
	lines := make([]string, 0, s.n)
	for line := range strings.Lines(text) {
		if len(lines) == int(s.n) {
			break
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	if r.texts == nil {
		r.texts = map[int32][]string{}
	}
	r.texts[number] = lines
	return lines
}
