package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Session makes a coding session of the given number of entries: questions, reads of files, edits that supersede them,
// some of which fail, and shell output. An entry has about 200 tokens on average, so that 5,000 entries are about a
// million tokens. The session may end between a call and its response. Not drawn from rapid: benchmarks compare runs
// and need the same input in each.
func Session(entries int, seed uint64) []content.Content {
	s := session{rnd: rand.New(rand.NewPCG(seed, 0))}
	for len(s.entries) < entries {
		s.turn()
	}
	return s.entries[:entries]
}

// session is a session in the making. All its choices come from rnd.
type session struct {
	rnd     *rand.Rand
	entries []content.Content
	// calls makes ids of equal length, so that sizes do not depend on the position.
	calls int
}

// words are the vocabulary of prose and of identifiers. All lower case and plain, so that the vocabulary of a tokenizer
// has them and counts are those of real prose.
var words = strings.Fields(`the parser reads a token and returns an error when buffer is empty so that callers ` +
	`retry with
	context before they close file handle while index config value map string result test case fails again update`)

// prose makes a text of n words.
func (s *session) prose(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(words[s.rnd.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()
}

// code makes the output of a read: numbered lines of source code. Line numbers in front, as agents show files to
// models.
func (s *session) code(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%6d\tif err := %s(ctx, %q); err != nil { return %s }\n",
			i+1, words[s.rnd.IntN(len(words))], words[s.rnd.IntN(len(words))], words[s.rnd.IntN(len(words))])
	}
	return b.String()
}

// say appends an entry, one second after the one before.
func (s *session) say(speaker content.Speaker, blocks ...content.Block) {
	meta := fmt.Appendf(nil, `{"timestamp":"2026-02-03T04:%02d:%02dZ"}`, len(s.entries)/60%60, len(s.entries)%60)
	s.entries = append(s.entries, content.Content{Speaker: speaker, Blocks: blocks, Metadata: meta})
}

// turn appends a call with its response and, now and then, a question before it.
func (s *session) turn() {
	// A person says something about every twelfth call, as in recorded sessions.
	if s.rnd.IntN(12) == 0 {
		s.say(content.Human, content.Text{Text: s.prose(20 + s.rnd.IntN(40))})
	}
	s.calls++
	call := content.ToolCall{ID: fmt.Sprintf("call_%06d", s.calls)}
	// 40 files: most reads are stale by the end, so that pruning has work to do.
	path := fmt.Sprintf("/w/src/file%d.go", s.rnd.IntN(40))
	answer := content.ToolResponse{CallID: call.ID}
	switch s.rnd.IntN(5) {
	case 0, 1:
		call.Name, call.Parameters = "read_file", fmt.Appendf(nil, `{"file_path":%q}`, path)
		answer.Result = content.String(s.code(10 + s.rnd.IntN(20)))
	case 2:
		call.Name, call.Parameters = "write_file", fmt.Appendf(nil, `{"file_path":%q,"content":%s}`, path,
			content.String(s.code(10)))
		answer.Result = content.String("ok")
	case 3:
		call.Name, call.Parameters = "replace",
			fmt.Appendf(nil, `{"file_path":%q,"old_string":"a","new_string":%s}`, path,
				content.String(s.prose(12)))
		answer.Result = content.String("1 occurrence replaced")
		if s.rnd.IntN(4) == 0 {
			answer.Result, answer.Error = content.String("old_string not found"), "old_string not found"
		}
	default:
		call.Name, call.Parameters = "run_shell_command", fmt.Appendf(nil, `{"command":"go test ./%s"}`,
			words[s.rnd.IntN(len(words))])
		answer.Result = content.String(s.prose(150 + s.rnd.IntN(200)))
	}
	answer.ToolName = call.Name
	s.say(content.AI, content.Text{Text: s.prose(10 + s.rnd.IntN(20))}, call)
	s.say(content.Tool, answer)
}
