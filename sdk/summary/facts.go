package summary

import (
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// facts are what the tool calls of a range reveal without a model, each list newest first and without repeats. They are
// exact where a model's account may be invented.
type facts struct{ modified, commands, read []string }

// A session of hours has thousands of calls. Beyond these limits the oldest are left out: the snapshot has the story,
// and the transcript has all.
const (
	maxModified = 100 // lines
	maxCommands = 30
	maxRead     = 60
	factLength  = 200 // characters
)

// readFacts reads these texts again. Changing one makes the facts of older summaries plain text.
const (
	factsHead    = "\n\nRecorded from the tool calls, newest first:"
	modifiedHead = "\nFiles modified:"
	commandsHead = "\nCommands run:"
	readHead     = "\nFiles read:"
	factStart    = "\n- "
	deletedMark  = " (deleted)"

	noResult tools.Outcome = "no result"
)

// collector gathers facts, from the newest call to the oldest, so the newest fact about a file or command wins and
// full lists hold the newest.
type collector struct {
	in                       sdk.CompressInput
	facts                    facts
	modified, commands, read map[string]bool
}

// gather returns the facts of a range. carried holds the facts of earlier summaries in the range, by entry position.
func gather(in sdk.CompressInput, r Range, pairs *turns.Pairs, carried map[int]facts) facts {
	c := collector{in: in, modified: map[string]bool{}, commands: map[string]bool{}, read: map[string]bool{}}
	for i := r.To - 1; i >= r.From; i-- {
		if older, ok := carried[i]; ok {
			c.carry(older)
			continue
		}
		if in.History[i].Speaker != sdk.AI {
			continue
		}
		blocks := in.History[i].Blocks
		for j := len(blocks) - 1; j >= 0; j-- {
			call, ok := blocks[j].(sdk.ToolCall)
			if !ok {
				continue
			}
			use := in.Tools.Use(call.Name, call.Parameters)
			if !c.isNews(use) {
				continue // reading a result takes its time
			}
			result := noResult
			if at, ok := pairs.Response(turns.At{Entry: i, Block: j}); ok {
				// The response may stand behind the range; it is a fact about the range all the same.
				response := in.History[at.Entry].Blocks[at.Block].(sdk.ToolResponse)
				result = in.Tools.Judge(call, response).Outcome
			}
			c.call(use, result)
		}
	}
	c.facts.read = slices.DeleteFunc(c.facts.read, func(p string) bool { return c.modified[p] })
	return c.facts
}

// isNews reports whether a call may tell something that no newer one has told. It avoids judging results, which can be
// megabytes.
func (c *collector) isNews(use tools.Use) bool {
	return use.Command != "" || len(use.Writes) > 0 ||
		len(c.facts.read) < maxRead &&
			slices.ContainsFunc(use.Reads, func(p string) bool { return !c.read[c.path(p)] })
}

// call records one tool call with its outcome. That a command failed is worth knowing; a failed read or write showed and
// changed nothing.
func (c *collector) call(use tools.Use, result tools.Outcome) {
	if use.Command != "" {
		c.command(clipRun(use.Command, factLength), string(result))
	}
	if result != tools.OutcomeSuccess {
		return
	}
	for _, w := range use.Writes {
		c.write(c.path(w.Path), w.Deletes)
	}
	for _, p := range use.Reads {
		add(&c.facts.read, c.read, maxRead, c.path(p), "")
	}
}

// write records a file that was written or deleted. A file that was deleted and later written again counts as modified.
func (c *collector) write(p string, deletes bool) {
	mark := ""
	if deletes {
		mark = deletedMark
	}
	add(&c.facts.modified, c.modified, maxModified, p, mark)
}

func (c *collector) command(line, result string) {
	add(&c.facts.commands, c.commands, maxCommands, line, " — "+result)
}

// add records a fact unless a newer one has the same key, or the list is full. mark is shown but is no part of the key.
func add(list *[]string, seen map[string]bool, most int, key, mark string) {
	if key != "" && !seen[key] && len(*list) < most {
		seen[key] = true
		*list = append(*list, key+mark)
	}
}

// carry records the facts of an earlier summary. It is called at that summary's position, so newer facts win.
func (c *collector) carry(older facts) {
	for _, line := range older.modified {
		name, deleted := strings.CutSuffix(line, deletedMark)
		c.write(name, deleted)
	}
	for _, line := range older.commands {
		// The last one, since a command may hold the same characters.
		if at := strings.LastIndex(line, " — "); at >= 0 {
			c.command(line[:at], line[at+len(" — "):])
		}
	}
	for _, line := range older.read {
		add(&c.facts.read, c.read, maxRead, line, "")
	}
}

// path returns the name under which a file is shown: relative to the workspace if it is inside. Different spellings of
// one file thus become one fact.
func (c *collector) path(p string) string {
	root := path.Clean(c.in.WorkspaceRoot)
	if tools.IsAbs(root) {
		root = tools.Resolve(root, ".")
	}
	p = tools.Resolve(root, p)
	if inside, ok := strings.CutPrefix(p, strings.TrimSuffix(root, "/")+"/"); ok {
		p = inside
	}
	return clipRun(p, factLength)
}

// writeFacts writes as many facts as fit into the given bytes: modified files first, then commands, files that were
// only read last. Headings count; a heading is written only with a first line below it.
func writeFacts(b *strings.Builder, f facts, bytes int) {
	bytes -= len(factsHead)
	head := factsHead
	for _, list := range [...]struct {
		head  string
		lines []string
	}{{modifiedHead, f.modified}, {commandsHead, f.commands}, {readHead, f.read}} {
		if len(list.lines) == 0 {
			continue
		}
		head += list.head
		bytes -= len(list.head)
		for _, line := range list.lines {
			if bytes -= len(factStart) + len(line); bytes < 0 {
				return
			}
			b.WriteString(head + factStart + line)
			head = ""
		}
	}
}

// readFacts is the inverse of writeFacts. It reads at the start of text and returns what follows. It stops at the first
// line that writeFacts could not have written, so nothing of a text made elsewhere is lost.
func readFacts(text string) (f facts, rest string) {
	rest, ok := strings.CutPrefix(text, factsHead)
	if !ok {
		return facts{}, text
	}
	var list *[]string
	for strings.HasPrefix(rest, "\n") {
		line := rest
		if end := strings.IndexByte(rest[1:], '\n'); end >= 0 {
			line = rest[:1+end]
		}
		switch line {
		case modifiedHead:
			list = &f.modified
		case commandsHead:
			list = &f.commands
		case readHead:
			list = &f.read
		default:
			fact, ok := strings.CutPrefix(line, factStart)
			if !ok || list == nil {
				return f, rest
			}
			*list = append(*list, fact)
		}
		rest = rest[len(line):]
	}
	return f, rest
}
