package gen

import (
	"encoding/json"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Rereads draws sessions in which tools print the same lines again, or nearly: parts of files with line numbers and
// without, files that were edited in between, tests that pass, then fail, long lines, odd line ends, and output that
// looks like what a strategy writes. What a strategy says about repeated lines is easily wrong here.
func Rereads() *rapid.Generator[[]content.Content] {
	return rapid.Custom(func(t *rapid.T) []content.Content {
		r := rereader{t: t, files: map[string][]string{}}
		out := []content.Content{Said(content.Human, "Mend the parser, please.")}
		for i := range rapid.IntRange(1, 25).Draw(t, "turns") {
			if rapid.IntRange(0, 7).Draw(t, "asks") == 0 {
				out = append(out, Said(content.Human, r.text(rapid.IntRange(0, 40).Draw(t, "words"))))
			}
			tool, params, result := r.step(i)
			id := fmt.Sprint("c", i)
			out = append(out, Call(id, tool, params))
			if rapid.IntRange(0, 20).Draw(t, "unanswered") > 0 {
				out = append(out, r.answer(id, tool, result))
			}
		}
		return out
	})
}

type rereader struct {
	t     *rapid.T
	files map[string][]string
}

// file is a file of the session, which is made when it is first named. Some lines stand there more than once.
func (r *rereader) file() (name string, lines []string) {
	name = rapid.SampledFrom([]string{"/w/a.go", "/w/b.go", "/w/sub/a.go"}).Draw(r.t, "file")
	if r.files[name] == nil {
		for i := range rapid.IntRange(5, 60).Draw(r.t, "lines") {
			r.files[name] = append(r.files[name], r.line(name, i))
		}
	}
	return name, r.files[name]
}

func (r *rereader) line(name string, i int) string {
	switch rapid.IntRange(0, 9).Draw(r.t, "line") {
	case 0:
		return "}"
	case 1:
		return "\treturn nil, errUnexpectedEnd_"
	case 2:
		return rapid.SampledFrom([]string{"", "[… 3 lines omitted]", "Error: no", "x; y] — error", "\t\r"}).Draw(r.t, "odd")
	case 3:
		if i%7 == 0 {
			return strings.Repeat(fmt.Sprintf("long_line_%d_of%s, ", i, name), rapid.IntRange(10, 60).Draw(r.t, "long"))
		}
	}
	return fmt.Sprintf("\tstep_%d(ctx, %q) // of a file that has many lines", i, name)
}

// step is one call and what it prints.
func (r *rereader) step(i int) (tool, params, result string) {
	name, lines := r.file()
	from := rapid.IntRange(0, len(lines)-1).Draw(r.t, "from")
	part := lines[from:rapid.IntRange(from+1, len(lines)).Draw(r.t, "to")]
	switch rapid.IntRange(0, 5).Draw(r.t, "tool") {
	case 0: // an edit; some fail
		at := rapid.IntRange(0, len(lines)-1).Draw(r.t, "edited")
		if rapid.IntRange(0, 2).Draw(r.t, "fails") > 0 {
			r.files[name] = append(append(lines[:at:at], fmt.Sprintf("\tchanged_%d(ctx)", i)), lines[at+1:]...)
			return "Edit", fmt.Sprintf(`{"file_path":%q,"new_string":%s}`, name, content.String(r.text(at))), "ok"
		}
		return "Edit", fmt.Sprintf(`{"file_path":%q}`, name), "<tool_use_error>String to replace not found</tool_use_error>"
	case 1: // numbered, as some tools read
		var b strings.Builder
		for k, line := range part {
			fmt.Fprintf(&b, "%6d→%s\n", from+k+1, line)
		}
		return "Read", fmt.Sprintf(`{"file_path":%q,"offset":%d}`, name, from+1), b.String()
	case 2: // a number in front that is no line number
		var b strings.Builder
		for k, line := range part {
			fmt.Fprintf(&b, "%d:%s\n", 10*i+k, line)
		}
		return "Bash", `{"command":"grep -n step_ log.txt"}`, b.String()
	case 3: // tests of which some fail
		var b strings.Builder
		for k := range 8 {
			ends := rapid.SampledFrom([]string{"PASS", "FAIL"}).Draw(r.t, "ends")
			fmt.Fprintf(&b, "=== RUN   TestParser_%d\n--- %s: TestParser_%d (0.00s)\n", k, ends, k)
		}
		return "Bash", `{"command":"go test -v ./..."}`, b.String() + fmt.Sprintf("Exit code %d\n",
			rapid.IntRange(0, 1).Draw(r.t, "code"))
	default:
		return "read_file", fmt.Sprintf(`{"path":%q}`, name), strings.Join(part,
			rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r.t, "end"))
	}
}

// answer is the answer with a result, as a text or in an object.
func (r *rereader) answer(id, tool, result string) content.Content {
	c := Answer(id, tool, result)
	if rapid.IntRange(0, 5).Draw(r.t, "object") == 0 {
		b := c.Blocks[0].(content.ToolResponse)
		b.Result = json.RawMessage(fmt.Sprintf(`{"output":%s,"n":1,"more":%s}`, content.String(result),
			content.String(r.text(3))))
		c.Blocks[0] = b
	}
	return c
}

// text is some lines of a file.
func (r *rereader) text(n int) string {
	_, lines := r.file()
	return strings.Join(lines[:min(n, len(lines))], "\n")
}
