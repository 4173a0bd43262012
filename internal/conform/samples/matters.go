package samples

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Matter is something in a history that strategies react to.
type Matter struct {
	Name string
	work func(*worker)
}

// Matters are what strategies react to, as far as anyone knows.
func Matters() []Matter {
	return []Matter{
		{"long results", longResults}, {"stale reads", staleReads}, {"repeated results", repeats},
		{"repeated inclusions", inclusionsAgain}, {"failed calls", failedCalls}, {"thoughts and idle words", thoughts},
		{"earlier marks", earlierMarks},
	}
}

// History is a session of one matter, with results of about 50 lines or more. Equal seeds give equal histories.
func (m Matter) History(seed uint64) Sample {
	w := &worker{rnd: rand.New(rand.NewPCG(seed, 7)), seed: seed}
	w.say("The build fails since yesterday. Find out why, and mend it.")
	m.work(w)
	w.say("Go on, and do not touch the tests.")
	w.call("run_shell_command", params("command", "git status"), "nothing to commit")
	return w.sample(fmt.Sprintf("%s, %d", m.Name, seed))
}

// Mixed is a session of all the given matters in turn.
func Mixed(matters []Matter, seed uint64) Sample {
	w := &worker{rnd: rand.New(rand.NewPCG(seed, 8)), seed: seed}
	w.say("Do not change anything before you have read it.")
	for _, i := range w.rnd.Perm(len(matters)) {
		matters[i].work(w)
	}
	w.say("Thanks. What is left to do?")
	return w.sample(fmt.Sprint("all of it, ", seed))
}

// worker writes a session, entry by entry.
type worker struct {
	rnd   *rand.Rand
	seed  uint64
	calls int
	out   []content.Content
	added map[int]content.Content // entries of out as they were before an earlier pass
}

func (w *worker) sample(name string) Sample {
	s := Sample{Name: name, History: w.out}
	if len(w.added) > 0 {
		s.Added = slices.Clone(w.out)
	}
	for i, c := range w.added {
		s.Added[i] = c
	}
	return s
}

func params(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

func (w *worker) say(s string) { w.out = append(w.out, human(s)) }

func (w *worker) exchange(c content.ToolCall, r content.ToolResponse) {
	w.out = append(w.out, ai(text(fmt.Sprintf("Step %d.", w.calls)), c), tool(r))
}

func (w *worker) call(name string, params map[string]string, result string) {
	w.calls++
	c := call(fmt.Sprintf("w%d-%d", w.seed, w.calls), name, params)
	w.exchange(c, answer(c, result))
}

// cut is a call of whose result an earlier pass left less.
func (w *worker) cut(name string, params map[string]string, was, left string) {
	w.call(name, params, was)
	at := len(w.out) - 1
	c := w.out[at]
	if w.added == nil {
		w.added = map[int]content.Content{}
	}
	w.added[at] = c
	now := tool(c.Blocks[0].(content.ToolResponse).WithResultText(left))
	var own []marks.Written
	for i, line := range marks.BlockLines(now.Blocks[0]) {
		if marks.Reads(line) {
			own = append(own, marks.Written{Line: i + 1})
		}
	}
	w.out[at] = check.Record(now, own)
}

// fail is a call that failed: with an error of its own, or with a result that says so.
func (w *worker) fail(name string, params map[string]string, result, failure string) {
	w.calls++
	c := call(fmt.Sprintf("w%d-%d", w.seed, w.calls), name, params)
	r := answer(c, result)
	r.Error = failure
	w.exchange(c, r)
}

// source is a text of so many lines, all of them different.
func (w *worker) source(lines int) string {
	var b strings.Builder
	n := w.rnd.IntN(1000)
	for i := range lines {
		fmt.Fprintf(&b, "\tstep%d(ctx, %d) // of %d\n", n+i, w.rnd.IntN(9999), w.calls)
	}
	return b.String()
}

// lines are how long results are: most of some dozens of lines, a few of hundreds.
func (w *worker) lines() int { return 50 + w.rnd.IntN(60) + w.rnd.IntN(8)/7*400 }

func (w *worker) path() string { return fmt.Sprintf("/w/src/part%d.go", w.rnd.IntN(6)) }

// longResults has a result of every kind of tool, of 50 to 5,000 lines, and one long line.
func longResults(w *worker) {
	sizes := []int{50, 60, 75, 90, 120, 250, 1000, 5000}
	for i, c := range []struct {
		name   string
		params map[string]string
	}{
		{"read_file", params("file_path", "/w/go.sum")}, {"run_shell_command", params("command", "go test -v ./...")},
		{"search_file_content", params("pattern", "func ")}, {"list_directory", params("path", "/w/src")},
		{"Bash", params("command", "cat src/log.txt")}, {"Grep", params("pattern", "TODO", "path", "/w")},
		{"web_fetch", params("prompt", "https://example.com/spec")}, {"execute_bash", params("command", "make")},
		{"a_tool_of_its_own", params("query", "all")},
	} {
		w.call(c.name, c.params, w.source(sizes[(i+int(w.seed))%len(sizes)]))
	}
	w.call("Bash", params("command", "cat bundle.js"), strings.ReplaceAll(w.source(200), "\n", ";"))
}

// staleReads has files that are read, written and read again.
func staleReads(w *worker) {
	for range 10 {
		path := w.path()
		w.call("read_file", params("file_path", path), w.source(w.lines()))
		switch w.rnd.IntN(4) {
		case 0:
			w.call("write_file", params("file_path", path, "content", w.source(5)), "ok")
		case 1:
			w.call("replace", params("file_path", path, "old_string", "a", "new_string", "b"), "ok")
		case 2:
			w.fail("write_file", params("file_path", path, "content", "x"), "permission denied", "permission denied")
		}
	}
}

// repeats has results that say what earlier ones said, whole and in part.
func repeats(w *worker) {
	file := w.source(w.lines())
	half := strings.SplitAfterN(file, "\n", 30)
	for range 3 {
		w.call("read_file", params("file_path", "/w/src/same.go"), file)
		w.call("run_shell_command", params("command", "go vet ./..."), w.source(10)+strings.Join(half[:29], ""))
		w.call("run_shell_command", params("command", "git log"), w.source(w.lines()))
	}
}

// inclusionsAgain has messages with the same files.
func inclusionsAgain(w *worker) {
	for i := range 4 {
		path := fmt.Sprintf("src/included%d.go", i%2)
		w.say(fmt.Sprintf("Look at this, %d:\n--- %s ---\n%s--- End of content ---\nIs it right?", i, path, w.source(60)))
		w.call("read_file", params("file_path", w.path()), w.source(w.lines()))
	}
}

// failedCalls has calls that failed, in each way to say so.
func failedCalls(w *worker) {
	for range 2 { // a Compress may leave the newer half alone
		log := w.source(w.lines())
		w.fail("read_file", params("file_path", w.path()), "no such file", "no such file")
		w.fail("run_shell_command", params("command", "go build ./..."), log+"build failed\n", "exit status 2")
		w.call("run_shell_command", params("command", "go test ./..."), log+"--- FAIL: TestParse\nFAIL\n"+log+"Exit code: 1\n")
		w.call("Bash", params("command", "make"), "Exit code 2\n"+log)
		// Behind a banner, or before the last words.
		for _, at := range []int{2, 5, 9, -2, -3, -4, -6} {
			lines := strings.SplitAfter(strings.TrimSuffix(w.source(w.lines()), "\n"), "\n")
			if at < 0 {
				at += len(lines) + 1
			}
			w.call("run_shell_command", params("command", "make check"), strings.Join(slices.Insert(lines, at, "Exit code: 4\n"), ""))
		}
	}
}

// earlierMarks has results that an earlier pass made shorter, with each kind of mark at each distance from both ends,
// so that wherever a strategy cuts, some result has the two parts of a line there.
func earlierMarks(w *worker) {
	base := w.source(200)
	w.call("read_file", params("file_path", "/w/src/base.go"), base)
	ref := marks.Reference{Nth: 1, Label: marks.Label("read_file", "/w/src/base.go")}
	for i, size := range []int{60, 90, 60, 150, 75, 60, 110, 60, 300, 60, 90, 60} {
		was, left := worn(w, i, size, ref, strings.SplitAfter(base, "\n"))
		w.cut("run_shell_command", params("command", fmt.Sprintf("cat part%d.txt", i)), was, left)
	}
	w.cut("web_fetch", params("prompt", "https://example.com/spec"), w.source(80), tools.Pruned)
	w.cut("list_directory", params("path", "/w/src"), w.source(40), "[list_directory: /w/src — success, 40 lines]")
}

// cutOut returns the marks in place of text[from:to].
func cutOut(text string, from, to int) string { out, _ := marks.Cut(text, from, to); return out }

// worn returns a text and what an earlier pass left of it, about so many lines. The parts follow one another in a cycle
// that begins with a part of its own for each phase. Some lines were cut because lines of base had them.
func worn(w *worker, phase, lines int, ref marks.Reference, base []string) (was, left string) {
	var before, after strings.Builder
	put := func(was, left string) { before.WriteString(was); after.WriteString(left) }
	long := func() string { return strings.ReplaceAll(w.source(20), "\n", ";") + "\n" }
	const head, tail = 60, 50 // bytes that are left at the ends of a long line
	cycle := []func(){
		func() {
			s := long()
			put(s, s[:head]+"\n"+cutOut(s, head, len(s)-tail)+s[len(s)-tail:])
		},
		func() { s := w.source(7); put(s, cutOut(s, 0, len(s))) },
		func() { s := long(); put(s, s[:head]+"\n"+cutOut(s, head, len(s))) },
		func() { s := w.source(1); put(s, s) },
		func() { s := long(); put(s, cutOut(s, 0, len(s)-tail)+s[len(s)-tail:]) },
		func() {
			ref.From = 1 + w.rnd.IntN(100)
			ref.To = ref.From + 13
			put(strings.Join(base[ref.From-1:ref.To], ""), ref.String()+"\n")
		},
	}
	for i := phase; strings.Count(after.String(), "\n") < lines; i++ {
		if (i+phase/len(cycle))%2 == 1 { // before every other part, and in later phases before the others
			s := w.source(1)
			put(s, s)
		}
		cycle[i%len(cycle)]()
	}
	return before.String(), after.String()
}

// thoughts has words of the model that lead nowhere, and thinking with and without a proof.
func thoughts(w *worker) {
	for i := range 6 {
		w.out = append(w.out, ai(text(fmt.Sprint("I will look at it, ", i%2))),
			ai(content.Thinking{Thought: w.source(8), Signature: strings.Repeat("c2ln", i%2)}, text("Well.")))
		w.call("read_file", params("file_path", w.path()), w.source(w.lines()))
	}
}

// Many is a session of so many small entries, to see how time grows.
func Many(entries int) Sample {
	w := &worker{rnd: rand.New(rand.NewPCG(1, 9))}
	for i := 0; len(w.out) < entries; i++ {
		switch path := fmt.Sprintf("/w/src/part%d.go", i%500); i % 8 {
		case 0:
			w.say(fmt.Sprint("Request ", i))
		case 1:
			w.call("write_file", params("file_path", path), "ok")
		case 2:
			w.out = append(w.out, ai(text("I see.")))
		default:
			w.call("read_file", params("file_path", path), "package a")
		}
	}
	return Sample{Name: fmt.Sprintf("%d entries", entries), History: w.out[:entries]}
}
