package main

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
)

// A story is a text file of directives. A directive is a line "@verb argument"; the lines after it are its body.
//
//	@user                 what the developer says; a body line "@@path" includes that file as it is then
//	@ai                   a new message of the agent; the body is its text
//	@think                its reasoning, before it speaks
//	@read path            @lines path 10-40      @many path path…     @glob pattern
//	@grep pattern path…   @sh command ## why     @todo (body: "done|doing|open text" lines)
//	@write path (body)    @edit path (body: old text, a line "====", new text)
//	@insert path 12 (body)     @delete path 10-12
//	@compact              the agent compacts; the body is its summary
//	@info                 a notice of the agent's program
//
// Calls belong to the message before them; several are asked in parallel. A call must succeed, "@verb!" must fail, and
// "@verb?" is refused by the developer: a story that no longer fits its project is an error, not a different sample.
//
//go:embed stories
var stories embed.FS

// step is one directive of a story.
type step struct {
	// Errors name it.
	line int // in the story file
	verb string
	// 0 is a call that must succeed.
	mark byte // 0, '!' or '?'
	// arg is the rest of the directive's line, and body the lines up to the next directive.
	arg  string
	body string
}

// directive matches the line of a directive: verb, mark and argument. A line of a body that begins with @ and a word
// would be taken for a directive. The list of verbs makes that an error instead of a silent cut.
var directive = regexp.MustCompile(`^@([a-z]+)([!?]?)(?: (.*))?$`)

// verbs says of each directive whether it is a tool call.
var verbs = map[string]bool{
	"user": false, "ai": false, "think": false, "compact": false, "info": false,
	"read": true, "lines": true, "many": true, "glob": true, "grep": true, "sh": true, "todo": true,
	"write": true, "edit": true, "insert": true, "delete": true,
}

// loadStory reads and parses an embedded story.
func loadStory(name string) ([]step, error) {
	data, err := stories.ReadFile("stories/" + name + ".story")
	if err != nil {
		return nil, err
	}
	return parseStory(string(data))
}

// parseStory parses a story. Lines before the first directive must be comments ("#") or blank; later, "#" is text.
// Trailing blank lines of a body are dropped, so that stories can be laid out freely.
func parseStory(text string) ([]step, error) {
	var steps []step
	var body []string
	// Ends the body of the last step. Before the first step the lines are comments, and are dropped.
	finish := func() {
		if len(steps) > 0 {
			steps[len(steps)-1].body = strings.TrimRight(strings.Join(body, "\n"), "\n")
		}
		body = nil
	}
	for i, line := range strings.Split(text, "\n") {
		m := directive.FindStringSubmatch(line)
		switch {
		// A typo in the first directive would otherwise make the story begin later, without notice.
		case m == nil && len(steps) == 0 && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#"):
			return nil, fmt.Errorf("line %d: text before the first directive", i+1)
		case m == nil:
			body = append(body, line)
		default:
			if _, ok := verbs[m[1]]; !ok {
				return nil, fmt.Errorf("line %d: unknown directive @%s", i+1, m[1])
			}
			finish()
			s := step{line: i + 1, verb: m[1], arg: m[3]}
			if m[2] != "" {
				s.mark = m[2][0]
			}
			steps = append(steps, s)
		}
	}
	finish()
	return steps, nil
}

// file is one file of a project, by its path relative to the project's root. The paths use slashes on every system.
type file struct{ path, text string }

// loadProject reads the project's files: in the archive each begins with a line "-- path --". The form is that of
// golang.org/x/tools/txtar, without comments before the first file. The files are no Go files of this module, so that
// they are not built and vetted with it.
func loadProject(name string) ([]file, error) {
	data, err := stories.ReadFile("stories/" + name + ".project")
	if err != nil {
		return nil, err
	}
	var files []file
	for i, line := range strings.SplitAfter(string(data), "\n") {
		path, isHead := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- ")
		path, ok := strings.CutSuffix(path, " --")
		switch {
		case isHead && ok:
			files = append(files, file{path: path})
		case len(files) == 0:
			return nil, fmt.Errorf("%s.project:%d: text before the first file", name, i+1)
		default:
			files[len(files)-1].text += line
		}
	}
	return files, nil
}
