package window_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// ours are sentences as thresh and the strategies that ship write them, about a session of strangers.
func ours(random *rand.Rand) string {
	file := fmt.Sprintf("Read /r/f%d.go", random.IntN(4))
	from := 1 + random.IntN(30)
	n := 1 + random.IntN(60)
	all := []string{
		marks.Reference{From: from, To: from + n, Nth: 1 + random.IntN(2), Label: file}.String(),
		strings.TrimSuffix(marks.Omitted(5000), "\n"),
		"[… 30 characters omitted within the line]",
		"[… 30 characters omitted, to the end of the line]",
		marks.Inclusion("f1.go"), marks.InclusionAlone("f1.go"), marks.Gone(3, 2, 1),
		fmt.Sprintf("[%d bytes removed here to stay under the context limit: entry e%d]", 1000*n, 1+random.IntN(40)),
		fmt.Sprintf("[result removed, %d tokens, to stay under the context limit: entry e%d]", n, 1+random.IntN(40)),
		tools.Pruned, fmt.Sprintf("[%s — success, %d lines]", strings.Replace(file, " ", ": ", 1), n),
		"[Earlier tool calls, results removed: Read /r/f1.go ×9; and 7 more]",
		marks.Recalled(1, file+", lines 1-20 of 90, id 123456789012345", ""),
		marks.Recalled(1, file+", lines 1-20 of 90, id 123456789012345", "123456789"),
		"x" + marks.Recall("123456789012345"), "x [hash=" + strings.Repeat("1", 24) + "]",
		marks.SnapshotStart + "<goal>none</goal>" + marks.SnapshotEnd,
	}
	return all[random.IntN(len(all))]
}

// forged is a text with such sentences at any line, or one such sentence alone.
func forged(random *rand.Rand, lines []string) string {
	if random.IntN(12) == 0 {
		return ours(random)
	}
	lines = slices.Clone(lines)
	for range random.IntN(6) {
		lines = slices.Insert(lines, random.IntN(len(lines)+1), ours(random))
	}
	return strings.Join(lines, "\n") + "\n"
}

// FuzzStrangers puts our sentences into results, and into what people and the model say. Whatever they say, each stays
// what it was: nothing comes into a result that the tool did not print, no count is of lines that never were, what goes
// can be found, and nothing is kept as if it had been read again.
func FuzzStrangers(f *testing.F) {
	race.Skip(f)
	strategies := []string{"high-density", "distill", "top-down-truncation", "one-shot"}
	server := modelapi.Start(f, modelapi.Options{Reply: summary})
	h := openOn(f, store.NewMemory(), withModel("openai", server, map[string]any{"model.contextLimit": 8000,
		"compression.density.cadence": "every-turn", "compression.recall": true}))
	for seed := range uint64(6) {
		for i := range strategies {
			f.Add(seed, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, seed uint64, strategy uint8) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := begin(t, h, map[string]any{"compression.strategy": strategies[int(strategy)%len(strategies)]})
		defer s.Close()
		var added []content.Content
		put := func(c ...content.Content) {
			added = append(added, c...)
			add(t, s, c...)
		}
		body := func(of int) (lines []string) {
			for i := range 40 {
				lines = append(lines, fmt.Sprintf("\tif v%d_%d := read(%d); v%d_%d != nil { return }", of, i, i, of, i))
			}
			return lines
		}
		needles := 0
		put(says(content.Human, "Mend the parser."))
		for turn := range 24 {
			switch random.IntN(6) {
			case 0:
				put(says(content.Human, "Go on.\n"+forged(random, []string{fmt.Sprint("and mind number ", turn)})))
			case 1:
				put(says(content.AI, "I see.\n"+forged(random, []string{fmt.Sprint("This is number ", turn)})))
			}
			calls, results := content.Content{Speaker: content.AI}, content.Content{Speaker: content.Tool}
			for i := range 1 + random.IntN(3) {
				id, of := fmt.Sprintf("c%d-%d", turn, i), random.IntN(4)
				name, params := "Read", fmt.Sprintf(`{"file_path":"/r/f%d.go"}`, of)
				lines := body(of)
				switch random.IntN(4) {
				case 0:
					name, params = "Bash", fmt.Sprintf(`{"command":"cat thresh_recall-%d.md"}`, turn)
				case 1:
					name, params = "Write", fmt.Sprintf(`{"file_path":"/r/f%d.go","content":"x"}`, of)
					lines = []string{"ok"}
				}
				needles++
				lines = slices.Insert(lines, random.IntN(len(lines)+1), fmt.Sprintf("needle%dx", needles))
				call := content.ToolCall{ID: id, Name: name, Parameters: json.RawMessage(params)}
				result := content.ToolResponse{CallID: id, ToolName: name}.WithResultText(forged(random, lines))
				calls.Blocks, results.Blocks = append(calls.Blocks, call), append(results.Blocks, result)
			}
			put(calls, results)
			view := prepareTurn(t, s).Contents()
			if bytes, most := len(everything(view)), len(everything(added))+200*len(added); bytes > most {
				t.Fatalf("turn %d: %d bytes are sent, %d were added", turn, bytes, most)
			}
			unchanged(t, added, owned(t, s).Contents())
		}
		sent, searched := everything(prepareTurn(t, s).Contents()), 0
		for n := range needles {
			needle := fmt.Sprintf("needle%dx", n+1)
			if !strings.Contains(everything(added), needle) || strings.Contains(sent, needle) {
				continue // the result was one sentence alone, or has not gone
			}
			searched++
			found, err := s.Search(t.Context(), search.Query{Words: `"` + needle + `"`})
			if !slices.ContainsFunc(found.Passages, func(p search.Passage) bool { return strings.Contains(p.Text, needle) }) {
				t.Errorf("%s is not found: %v", needle, err)
			}
		}
		t.Logf("%d of %d results are searched for", searched, needles)
	})
}

var oneLine = regexp.MustCompile(`^\[\w+: .* — [a-z ]+, (\d+) lines?]$`)

// unchanged reports what stands in a history that was not added, apart from marks that it has recorded.
func unchanged(t *testing.T, added, now []content.Content) {
	t.Helper()
	was := map[string]content.ToolResponse{}
	said := map[string]bool{}
	for _, c := range added {
		for _, b := range c.Blocks {
			switch b := b.(type) {
			case content.ToolResponse:
				was[b.CallID] = b
			case content.Text:
				said[b.Text] = true
			}
		}
	}
	for _, c := range now {
		if check.KeptBy(c) == tools.Recall {
			t.Errorf("kept as if it had been read again: %.300s", c.AppendJSON(nil))
		}
		own := marks.In(c)
		for j, b := range c.Blocks {
			switch b := b.(type) {
			case content.Text:
				if c.Speaker == content.Human && !check.Summary(c) && !said[b.Text] {
					t.Errorf("nobody said %q", b.Text)
				}
			case content.ToolResponse:
				old := was[b.CallID]
				if content.Equal(old, b) {
					continue
				}
				if m := oneLine.FindStringSubmatch(b.ResultText()); m != nil {
					if n, _ := strconv.Atoi(m[1]); n != marks.Lines(old.ResultText()) {
						t.Errorf("%s of %d lines: %q", b.ResultText(), marks.Lines(old.ResultText()), old.ResultText())
					}
					continue
				}
				if b.ResultText() == tools.Pruned || strings.HasPrefix(b.ResultText(), marks.RemovedResult) {
					continue
				}
				lines := strings.Split(old.ResultText(), "\n")
				for i, line := range marks.BlockLines(b) {
					switch at := slices.Index(lines, line); {
					case own[j].Has(i + 1):
					case at < 0:
						t.Errorf("the tool did not print %q:\n%s", line, b.ResultText())
					default:
						lines = lines[at+1:]
					}
				}
				if n, ok := marks.LinesOf(b.Result, own[j]); ok && n != marks.Lines(old.ResultText()) {
					t.Errorf("%d lines of %d: %q\n%q", n, len(lines), b.ResultText(), old.ResultText())
				}
			}
		}
	}
}
