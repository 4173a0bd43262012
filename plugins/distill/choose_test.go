package distill

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// turn is an exchange: what the AI says, in an entry with its call, and the result. Sizes are in bytes; without words or
// a call there are none.
func turn(i, words, called, answered int, change ...func(i int, c *sdk.ToolCall)) []sdk.Content {
	entry := sdk.Content{Speaker: sdk.AI}
	if words > 0 {
		entry.Blocks = append(entry.Blocks, sdk.Text{Text: fmt.Sprintf("say %d %s", i, strings.Repeat("x", words))})
	}
	if called == 0 {
		return []sdk.Content{entry}
	}
	c := sdk.ToolCall{ID: fmt.Sprint("c", i), Name: "Bash",
		Parameters: json.RawMessage(fmt.Sprintf(`{"command":"run %d %s"}`, i, strings.Repeat("y", called)))}
	for _, f := range change {
		f(i, &c)
	}
	entry.Blocks = append(entry.Blocks, c)
	return []sdk.Content{entry, answer(c.ID, c.Name, strings.Repeat("z", answered))}
}

// writes has each second call write a file, another one each time or always the same.
func writes(file string) func(i int, c *sdk.ToolCall) {
	return func(i int, c *sdk.ToolCall) {
		if i%2 == 0 {
			c.Name = "Write"
			c.Parameters = json.RawMessage(fmt.Sprintf(`{"file_path":"/w/%s","content":%q}`,
				strings.ReplaceAll(file, "#", fmt.Sprint(i)), c.Parameters))
		}
	}
}

// thinks puts signed thinking in the place of words.
func thinks(history []sdk.Content) []sdk.Content {
	for _, entry := range history {
		if _, ok := entry.Blocks[0].(sdk.Text); ok && entry.Speaker == sdk.AI {
			entry.Blocks[0] = sdk.Thinking{Thought: entry.Blocks[0].(sdk.Text).Text, Signature: "s"}
		}
	}
	return history
}

// shape says what a history holds, entry by entry: h what a person said, w0 what the AI said in turn 0, c0 its call, R0
// and r0 the result and the line in its place, F the line for calls that went.
func shape(history []sdk.Content) string {
	var b strings.Builder
	number := regexp.MustCompile(`\d+`)
	for _, entry := range history {
		for _, block := range entry.Blocks {
			switch block := block.(type) {
			case sdk.Text:
				switch {
				case entry.Speaker == sdk.Human:
					b.WriteString("h ")
				case folded(entry) != nil:
					b.WriteString("F ")
				default:
					b.WriteString("w" + number.FindString(block.Text) + " ")
				}
			case sdk.Thinking:
				b.WriteString("w" + number.FindString(block.Thought) + " ")
			case sdk.ToolCall:
				b.WriteString("c" + number.FindString(block.ID) + " ")
			case sdk.ToolResponse:
				mark := "R"
				if strings.HasPrefix(block.ResultText(), "[") {
					mark = "r"
				}
				b.WriteString(mark + number.FindString(block.CallID) + " ")
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// What goes first, and how much of it. Each case but the last is about one rule of [plan.choose] or [plan.fix].
func TestWhatGoesFirst(t *testing.T) {
	many := func(n, words, called, answered int, change ...func(i int, c *sdk.ToolCall)) (h []sdk.Content) {
		h = append(h, said(sdk.Human, "Go."))
		for i := range n {
			h = append(h, turn(i, words, called, answered, change...)...)
		}
		return h
	}
	for name, tt := range map[string]struct {
		history []sdk.Content
		want    string
		window  float64 // a share of the window that the history just fills; 0 is 1
	}{
		"old results": {many(20, 40, 40, 2000), "h w0 c0 r0..w16 c16 r16 w17 c17 R17..w19 c19 R19", 0},
		"calls before words": {many(20, 200, 900, 300),
			"h w0..w12 F w13 c13 r13..w15 c15 r15 w16 c16 R16..w19 c19 R19", 0},
		"calls before what the AI wrote": {many(20, 40, 1400, 2000, writes("#")),
			"h w0..w1 w2 c2 r2 w3 F w4 c4 r4..w16 c16 r16 w17 c17 R17..w19 c19 R19", 0},
		"what was written over, like other calls": {many(20, 40, 1400, 2000, writes("same")),
			"h w0..w9 F w10 c10 r10..w16 c16 r16 w17 c17 R17..w19 c19 R19", 0},
		"old words, if their share of the room is not enough": {many(20, 900, 0, 0), "h w13..w19", 0},
		"the newest words where a large result just came": {
			slices.Concat(many(20, 400, 40, 700), turn(20, 40, 40, 60_000)), "h F w10 c10 r10..w19 c19 r19 w20 c20 R20", 0.7},
		"results, where words would fill the room": {many(20, 900, 40, 40), "h F w12 c12 R12..w19 c19 R19", 0},
		"results of calls that thinking belongs to": {thinks(many(20, 400, 40, 1000)),
			"h F w1 c1 r1..w16 c16 r16 w17 c17 R17..w19 c19 R19", 0},
		"thinking with its calls": {thinks(many(20, 40, 2000, 300)),
			"h F w10 c10 r10..w15 c15 r15 w16 c16 R16..w19 c19 R19", 0},
	} {
		config := limits(tt.history)
		config.Reason = sdk.ReasonManual
		if tt.window > 0 {
			config.ContextLimit = int(tt.window * float64(config.ContextLimit))
		}
		got := sdktest.Compress(t, Strategy{}, tt.history, config)
		if shape := shape(got.History); shape != spelledOut(tt.want) {
			t.Errorf("%s: %q\n got %s\nwant %s", name, got.NoOp, shape, spelledOut(tt.want))
		}
	}
}

// spelledOut writes out the turns between those around two dots: "w1..w3" is "w1 w2 w3", "w1 c1..w3 c3" likewise.
func spelledOut(s string) string {
	number := regexp.MustCompile(`\d+`)
	parts := strings.Split(s, "..")
	for i, part := range parts[:len(parts)-1] {
		// The turn before the dots is the last so many words, all of one number.
		before := strings.Fields(part)
		from := number.FindString(before[len(before)-1])
		first := slices.IndexFunc(before, func(w string) bool { return number.FindString(w) == from })
		after := strings.Fields(parts[i+1])
		var a, b int
		_, _ = fmt.Sscan(from, &a)
		_, _ = fmt.Sscan(number.FindString(after[0]), &b)
		for n := a + 1; n < b; n++ {
			for _, w := range before[first:] {
				parts[i] += " " + w[:1] + fmt.Sprint(n)
			}
		}
	}
	return strings.Join(parts, " ")
}

// What stays of a text, "" if nothing does; a token has four bytes.
func TestLinesThatStay(t *testing.T) {
	plain := strings.Repeat("some plain words here\n", 10)
	named := ""
	for i := range 14 {
		named += fmt.Sprintf("name_%d and so on\n", i)
	}
	for name, tt := range map[string]struct {
		text, known string
		room        float64
		want        string
		own         bool // what reads like a mark is one
	}{
		"with something new": {plain + "see io_read\n" + plain, "", 100,
			"[… 10 lines omitted]\nsee io_read\n[… 10 lines omitted]", false},
		"with nothing new":             {plain + "see io_read\n" + plain, "io_read", 100, "", false},
		"the last with a name":         {"see io_read\n" + plain + "see io_read\n", "", 100, "[… 11 lines omitted]\nsee io_read\n", false},
		"worth their length":           {plain + strings.Repeat("plain ", 100) + "io_read\n", "", 1000, "", false},
		"as far as there is room":      {"see io_read\n" + plain + "see io_write\n", "", 12, "[… 11 lines omitted]\nsee io_write\n", false},
		"little between others":        {"a_1x\nplain words\nb_2x\n" + plain, "", 100, "a_1x\nplain words\nb_2x\n[… 10 lines omitted]", false},
		"all where most do":            {named + plain, "", 200, named + plain, false},
		"all, unless there is no room": {named + plain, "", 120, named + "[… 10 lines omitted]", false},
		"all, if a mark were longer":   {"see io_read\nwords\n", "", 11, "see io_read\nwords\n", false},
		"no marks":                     {"[… 7 lines omitted]\n" + plain + "see io_read\n", "", 100, "[… 17 lines omitted]\nsee io_read\n", true},
		"no names in marks":            {"[… 3 lines omitted: lines 1-3 of the result of Read /w/a.go above]\n" + plain, "", 100, "", true},
		"no parts of lines": {"see io_read\n[… 30 characters omitted, to the end of the line]\n" + plain, "", 100,
			"", true},
		"what only reads like a mark": {
			"[… 7 lines omitted]\n" + plain + "see io_read\n", "", 100,
			"[… 11 lines omitted]\nsee io_read\n", false},
		"what only reads like one, with a name": {
			"[… 3 lines omitted: lines 1-3 of the result of Read /w/io_read.go above]\n" + plain, "", 100,
			"[… 3 lines omitted: lines 1-3 of the result of Read /w/io_read.go above]\n[… 10 lines omitted]", false},
		"what only reads like a part of a line": {
			"[… 3 characters omitted within the line]\n" + plain + "see io_read\n", "", 100,
			"[… 11 lines omitted]\nsee io_read\n", false},
	} {
		var own marks.Places
		for i, line := range slices.Collect(strings.Lines(tt.text)) {
			if tt.own && marks.Like(line) {
				own = append(own, 8+i)
			}
		}
		got, tokens := shorten(tt.text, own, 8, 0.25, tt.room, names{tt.known: true})
		if tokens == 0 {
			got = ""
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// The lines of a result's texts are numbered through.
func TestMarksInTheSecondTextOfAResult(t *testing.T) {
	p, r := plan{known: names{}}, sdk.ToolResponse{Result: json.RawMessage(`{"out":"see io_read\n[… 2 lines omitted]\n",` +
		`"err":"` + strings.Repeat(`plain words here\n`, 10) + `[… 7 lines omitted]\nsee io_write\n"}`)}
	got, _ := p.distilled(r, marks.Places{13}, 0.25, 100)
	want := `{"out":"see io_read\n[… 2 lines omitted]\n","err":"[… 17 lines omitted]\nsee io_write\n"}`
	if string(got.Result) != want {
		t.Errorf("got %s", got.Result)
	}
}

// Of a result, a line stays for what only it says; where that stands in what stays anyway, the result is cleared. A pinned
// result, and one whose middle the host cut out, stay as they are.
func TestResultsThatStay(t *testing.T) {
	plain := strings.Repeat("some plain words\n", 60)
	result := plain + "see io_read\n" + plain
	goOn := said(sdk.Human, "Go.")
	for name, tt := range map[string]struct {
		before sdk.Content
		result string
		pinned bool
		want   string
	}{
		"a line":                 {goOn, result, false, "[… 60 lines omitted]\nsee io_read\n[… 60 lines omitted]"},
		"what people named":      {said(sdk.Human, "Mind io_read."), result, false, "[Bash: run — success, 121 lines]"},
		"what the AI named":      {said(sdk.AI, "I mind io_read."), result, false, "[Bash: run — success, 121 lines]"},
		"pinned":                 {goOn, result, true, result},
		"cut by the host":        {goOn, "see io_read\n[… 9" + marks.RemovedBytes + "e1]\n" + plain, false, ""},
		"with nothing but words": {goOn, plain, false, "[Bash: run — success, 60 lines]"},
	} {
		history := append(work(4), tt.before, call("c", "Bash", `{"command":"run"}`),
			answer("c", "Bash", tt.result), said(sdk.AI, strings.Repeat("I see. ", 600)), said(sdk.AI, "Well."))
		if strings.Contains(tt.result, marks.RemovedBytes) {
			history[len(history)-3].Metadata = json.RawMessage(`{"marksAt":[{"block":0,"line":2}]}`)
		}
		if at := len(history) - 3; tt.pinned {
			history[at].Metadata = json.RawMessage(`{"pinned":true}`)
		}
		if tt.want == "" {
			tt.want = tt.result
		}
		config := limits(history)
		config.ContextLimit, config.Reason = 2*config.ContextLimit, sdk.ReasonManual
		got := sdktest.Compress(t, Strategy{}, history, config).History
		if r, ok := got[len(got)-3].Blocks[0].(sdk.ToolResponse); !ok || r.ResultText() != tt.want {
			t.Errorf("%s: got %.200q", name, r.ResultText())
		}
	}
}

// A result that would be taken for something else without the lines that go is cleared: the line says how it ended.
func TestAFailureStaysOne(t *testing.T) {
	history := append(work(4), call("c", "Edit", `{"file_path":"/w/a","old_string":"x","new_string":"y"}`),
		answer("c", "Edit", "<tool_use_error>it was not found\n"+strings.Repeat("some plain words\n", 60)+
			"name_1_x\nso it is</tool_use_error>"),
		said(sdk.AI, strings.Repeat("I see. ", 200)), said(sdk.AI, "Well."))
	config := limits(history)
	text := transcript(sdktest.Compress(t, Strategy{}, history, config).History)
	if strings.Contains(text, "name_1_x") || !strings.Contains(text, "[Edit: /w/a — error, 63 lines]") {
		t.Errorf("%.600s", text)
	}
}

// The line for calls names each once by its tool, where it was made last, no more than fit, and says how many others there
// are. Read again, it says the same.
func TestTheLineForCalls(t *testing.T) {
	long := "/w/" + strings.Repeat("deep/", 40) + "a.go"
	many := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("Make target-%03d", i))
		}
		return all
	}
	for want, calls := range map[string][]string{
		"Bash b, a ×2":         {"Bash a", "Bash b", "Bash a"},
		"Bash a; Read x, y":    {"Read x", "Bash a", "Read y"},
		"Bash ×2; Read x":      {"Bash", "Bash", "Read x"},
		"Read x; Bash":         {"Read x", "Bash"},
		"Bash a — error ×2, a": {"Bash a — error", "Bash a — error", "Bash a"},
		"Read " + long:         {"Read " + subject(long)},
		"Bash cd /w && grep -rn something in all of these files because it must be somewhere there and …": {"Bash " + subject(
			"cd /w && grep -rn something in all of these files because it must be somewhere there and nowhere-else")},
		"Bash …":            {"Bash " + subject(strings.Repeat("x", 5000))},
		"Bash echo a,b c x": {"Bash " + subject("echo a, b; c ×")},
		"Make " + strings.ReplaceAll(strings.Join(many(400)[68:], ", "), "Make ", "") + "; and 68 more": many(400),
	} {
		var all []told
		for _, c := range calls {
			all = append(all, told{c, 1})
		}
		line := fold([][]told{nil, all})
		if got := line.Blocks[0].(sdk.Text).Text; got != foldStart+want+foldEnd || len(got) > maxFold+100 {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if again := fold([][]told{folded(line)}); !reflect.DeepEqual(again, line) {
			t.Errorf("read again: %s", again.Blocks[0].(sdk.Text).Text)
		}
	}
}

// A call that is answered late is not parted from its answer by the line for calls that were made in between.
func TestTheLineForCallsPartsNoCallFromItsAnswer(t *testing.T) {
	history := []sdk.Content{said(sdk.Human, "Go."), call("late", "Write", `{"file_path":"/w/a","content":"kept"}`)}
	history = append(history, turn(1, 0, 9000, 300)...)
	history = append(history, answer("late", "Write", "ok"))
	for i := range 10 {
		history = append(history, turn(i, 200, 0, 0)...)
	}
	got := sdktest.Compress(t, Strategy{}, history, limits(history))
	if s := shape(got.History); !strings.HasPrefix(s, "h c R F w0") {
		t.Error(s)
	}
}

// A rewrite that frees less than a tenth is not worth the cache; at the hard limit anything is.
func TestALittleGainIsNotWorthARewrite(t *testing.T) {
	history := []sdk.Content{said(sdk.Human, strings.Repeat("Please mind the rules. ", 3000))}
	for i := range 8 {
		history = append(history, turn(i, 0, 40, 900)...)
	}
	for reason, applied := range map[sdk.CompressReason]bool{sdk.ReasonManual: false, sdk.ReasonHardLimit: true} {
		config := limits(history)
		config.Reason = reason
		config.ContextLimit /= 6
		if got := sdktest.Compress(t, Strategy{}, history, config); (got.NoOp == "") != applied {
			t.Errorf("%s: %q, %d of %d tokens are left", reason, got.NoOp, got.TokensAfter, got.TokensBefore)
		}
	}
}
