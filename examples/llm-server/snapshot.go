package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/testkit/llmtest"
)

// answer plays the model. A request that does not ask for a state snapshot gets "ok".
func answer(r llmtest.Request) llmtest.Reply {
	var all []string
	for _, m := range r.Messages {
		all = append(all, m.Text)
	}
	text := strings.Join(all, "\n")
	// Prompts for summaries name the tag that the answer must have.
	if !strings.Contains(text, "<state_snapshot>") {
		return llmtest.Reply{Text: "ok"}
	}
	return llmtest.Reply{Text: snapshot(record(text))}
}

// entry is one entry of the record in a request: the part of the history to be summarised.
type entry struct {
	// label is the speaker or the kind of the entry. Labels are those of package summary: user, assistant, tool, todos,
	// and the kinds of snapshots.
	label string
	lines []string
}

// opening is the mark before a record. Its id is a nonce, so that text in a record cannot end it.
var opening = regexp.MustCompile(`^<record id="([0-9a-f]+)">$`)

// record extracts from a request what is to be summarised: the entries between the marks that the strategies of this
// project set. Without marks, everything is one entry of the user.
func record(text string) []entry {
	var entries []entry
	mark, last := "", "" // the marks of an entry and of the end, in the current record
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		// Inside of a record the same line is text.
		if m := opening.FindStringSubmatch(line); m != nil && mark == "" {
			mark, last = "=== "+m[1]+" ", `</record id="`+m[1]+`">`
			continue
		}
		switch {
		case mark == "":
		case line == last:
			mark = ""
		case strings.HasPrefix(line, mark):
			entries = append(entries, entry{label: strings.TrimPrefix(line, mark)})
		case len(entries) > 0:
			e := &entries[len(entries)-1]
			e.lines = append(e.lines, line)
		}
	}
	if entries == nil {
		entries = []entry{{label: "user", lines: strings.Split(text, "\n")}}
	}
	return entries
}

// sections are the sections of a snapshot, in order: the names that the shipped prompt asks for.
var sections = []string{"overall_goal", "key_knowledge", "current_progress", "active_tasks", "open_questions",
	"task_context", "user_directives", "errors_encountered", "code_references"}

// These bound a snapshot, so that it is always shorter than what it summarises.
const (
	maxLines = 8   // lines in a section
	maxLine  = 160 // bytes in a line
)

// notes are the lines of a snapshot, by section. Every section has at least the line "none" when it is written.
type notes map[string][]string

// add adds a line, unless the section has it already. A full section keeps its first line and the latest of the
// others.
func (n notes) add(section, line string) {
	line = tidy(line)
	if line == "" || line == "none" || slices.Contains(n[section], line) {
		return
	}
	// The first line of a section is usually what it is about.
	if n[section] = append(n[section], line); len(n[section]) > maxLines {
		n[section] = slices.Delete(n[section], 1, 2)
	}
}

// The rules of the "model": what looks like a file, a problem, a standing instruction, and a tag of a snapshot.
var (
	path = regexp.MustCompile(`[\w.~-]*(?:/[\w.-]+)+\.\w{1,8}\b|` +
		`\b[\w-]+\.(?:go|ts|js|py|rs|java|c|h|md|json|ya?ml|toml)\b`)
	problem  = regexp.MustCompile(`(?i)\b(error|failed|failure|panic|exception|cannot|not found)\b`)
	standing = regexp.MustCompile(`(?i)\b(always|never|must|don't|do not|please|instead|prefer|from now on)\b`)
	heading  = regexp.MustCompile(`^</?(\w+)>$`)
)

// snapshot sorts the lines of all entries into sections.
func snapshot(entries []entry) string {
	n := notes{}
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.label, "snapshot"):
			n.carry(e.lines)
		case e.label == "todos":
			for _, line := range e.lines {
				n.add("active_tasks", line)
				n.add("task_context", line+" — on the agent's list of tasks")
			}
		default:
			n.read(e)
		}
	}
	var b strings.Builder
	b.WriteString("<state_snapshot>\n")
	for _, name := range sections {
		lines := n[name]
		if len(lines) == 0 {
			lines = []string{"none"}
		}
		fmt.Fprintf(&b, "<%s>\n%s\n</%s>\n", name, strings.Join(lines, "\n"), name)
	}
	b.WriteString("</state_snapshot>")
	return b.String()
}

// carry takes over the lines of an earlier snapshot, section by section.
func (n notes) carry(lines []string) {
	section := ""
	for _, line := range lines {
		if m := heading.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			// A closing tag ends the section; a tag of another kind is not carried.
			if section = m[1]; !slices.Contains(sections, section) || strings.Contains(line, "</") {
				section = ""
			}
			continue
		}
		if section != "" {
			n.add(section, line)
		}
	}
}

// read sorts the lines of one entry into sections: what the user said into goals, directives and questions, what
// tools and the AI said into progress, errors and knowledge. Paths in any line become code references.
func (n notes) read(e entry) {
	user := strings.HasPrefix(e.label, "user")
	for _, line := range e.lines {
		switch {
		case user:
			if len(n["overall_goal"]) == 0 {
				n.add("overall_goal", line)
			}
			if standing.MatchString(line) {
				n.add("user_directives", quoted(line))
			}
			if strings.HasSuffix(strings.TrimSpace(line), "?") {
				n.add("open_questions", line)
			}
		case strings.HasPrefix(line, "[calls "):
			n.add("current_progress", line)
		case problem.MatchString(line):
			n.add("errors_encountered", line)
		case strings.HasPrefix(line, "[result of "):
		default:
			n.add("key_knowledge", line)
		}
		// At most four in a line, and only in its beginning: a listing of files would fill the section by itself.
		for _, found := range path.FindAllString(line[:min(len(line), 4*maxLine)], 4) {
			n.add("code_references", found)
		}
	}
}

// quoted quotes a line as what the user said word for word.
func quoted(line string) string {
	if line = tidy(line); line == "" {
		return ""
	}
	return `"` + line + `"`
}

// tidy shortens a line and escapes "<", so that the line cannot be mistaken for a tag of the snapshot.
func tidy(line string) string {
	// Bounded before the work: a tool's output may be one line of megabytes.
	line = strings.ToValidUTF8(line[:min(len(line), 8*maxLine)], "")
	line = strings.ReplaceAll(strings.Join(strings.Fields(line), " "), "<", "&lt;")
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "") + "…"
	}
	return line
}
