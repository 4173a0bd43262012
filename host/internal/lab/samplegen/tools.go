package main

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// do runs the tool that a step asks for. An error means that the story is wrong; a tool that fails returns a result
// with a failure. The tools are the common denominator of the agents' own: they find, read and change text. The result
// has no words yet; the dialect finds those.
func (ws *workspace) do(ctx context.Context, s step) (result, error) {
	switch s.verb {
	case "sh":
		command, _ := splitWhy(s.arg)
		return ws.shell(ctx, command), nil
	// The list lives in the agent's program. Nothing on disk changes.
	case "todo":
		return result{}, nil
	case "glob":
		return ws.glob(s.arg)
	case "grep":
		return ws.grep(s.arg)
	case "many":
		return ws.many(strings.Fields(s.arg)), nil
	}
	// The verbs from here on are about one file.
	name, span := splitSpan(s.arg)
	text, err := ws.load(name)
	// A file that cannot be loaded is new. This comes before the check below, as all other verbs need the file.
	if s.verb == "write" {
		return result{isNew: err != nil}, ws.save(name, s.body+"\n")
	}
	if err != nil {
		return result{failure: fmt.Sprintf("File does not exist: %s", ws.shown(name))}, nil
	}
	lines := slices.Collect(strings.Lines(text))
	total := len(lines)
	// A range beyond the file is a mistake of the story and not something for the agent to stumble over.
	if span.to > total || span.from > span.to+1 {
		return result{}, fmt.Errorf("%s has %d lines, not %d-%d", name, total, span.from, span.to)
	}
	switch s.verb {
	case "read":
		return result{text: text, first: 1, total: total}, nil
	case "lines":
		return result{text: strings.TrimSuffix(strings.Join(lines[span.from-1:span.to], ""), "\n"), first: span.from,
			total: total}, nil
	// Line breaks belong to the lines before them, so that the inserted body ends with one.
	case "insert":
		head, tail := strings.Join(lines[:span.from-1], ""), strings.Join(lines[span.from-1:], "")
		return result{}, ws.save(name, head+s.body+"\n"+tail)
	case "delete":
		head, tail := strings.Join(lines[:span.from-1], ""), strings.Join(lines[span.to:], "")
		return result{}, ws.save(name, head+tail)
	case "edit":
		old, new, err := splitEdit(s.body)
		if err != nil {
			return result{}, err
		}
		// Agents refuse an ambiguous edit in the same way, and stories use that to show a failed call.
		switch n := strings.Count(text, old); n {
		case 1:
			return result{}, ws.save(name, strings.Replace(text, old, new, 1))
		case 0:
			return result{failure: "String to replace not found in file."}, nil
		default:
			return result{failure: fmt.Sprintf("Found %d matches of the string to replace, but one was expected.", n)},
				nil
		}
	}
	return result{}, fmt.Errorf("no tool does @%s", s.verb)
}

// glob lists the files that match pattern. A leading "**/" means in any directory. path.Match knows no "**", which is
// all that stories need beyond it.
func (ws *workspace) glob(pattern string) (result, error) {
	names, err := ws.files()
	if err != nil {
		return result{}, err
	}
	var found []string
	for _, name := range names {
		p, subject := pattern, name
		if rest, ok := strings.CutPrefix(pattern, "**/"); ok {
			p, subject = rest, path.Base(name)
		}
		ok, err := path.Match(p, subject)
		if err != nil {
			return result{}, err
		}
		if ok {
			found = append(found, ws.shown(name))
		}
	}
	return result{text: strings.Join(found, "\n"), total: len(found)}, nil
}

// grep finds lines by regular expression, in all files or in those below a directory: "pattern in dir". Go's regular
// expressions and the tool's own differ in corners that stories avoid. Each match has its file and line in front, as
// grep -n prints it.
func (ws *workspace) grep(arg string) (result, error) {
	pattern, dir := splitGrep(arg)
	re, err := regexp.Compile(pattern)
	if err != nil {
		return result{}, err
	}
	names, err := ws.files()
	if err != nil {
		return result{}, err
	}
	var found []string
	for _, name := range names {
		if dir != "" && !strings.HasPrefix(name, dir) {
			continue
		}
		text, err := ws.load(name)
		if err != nil {
			return result{}, err
		}
		for i, line := range strings.Split(text, "\n") {
			if re.MatchString(line) {
				found = append(found, fmt.Sprintf("%s:%d:%s", name, i+1, line))
			}
		}
	}
	// No match is no failure: agents report it as an empty result.
	return result{text: strings.Join(found, "\n"), total: len(found)}, nil
}

// many reads several files into one text, each under a heading with its path. The first missing file fails the whole
// call.
func (ws *workspace) many(names []string) result {
	var b strings.Builder
	for _, name := range names {
		text, err := ws.load(name)
		if err != nil {
			return result{failure: "File does not exist: " + ws.shown(name)}
		}
		fmt.Fprintf(&b, "--- %s ---\n\n%s\n\n", ws.shown(name), text)
	}
	b.WriteString("--- End of content ---")
	return result{text: b.String(), total: len(names)}
}

// span is a range of line numbers, from 1, both ends included.
type span struct{ from, to int }

// splitSpan splits "path 10-20" and "path 10". Without numbers the span is zero; with one number it is the empty place
// before that line. The empty place is what an insert needs. A malformed range gives zeros, which the check of the
// range refuses.
func splitSpan(arg string) (name string, s span) {
	name, numbers, ok := strings.Cut(arg, " ")
	if !ok {
		return arg, span{}
	}
	if n, err := fmt.Sscanf(numbers, "%d-%d", &s.from, &s.to); err != nil && n == 1 {
		s.to = s.from - 1
	}
	return name, s
}

// splitEdit splits the body of an edit at the line "====" into the old and the new text. Line breaks are added around
// the body, so that the old or the new text may be empty.
func splitEdit(body string) (old, new string, err error) {
	old, new, ok := strings.Cut("\n"+body+"\n", "\n====\n")
	if !ok {
		return "", "", fmt.Errorf(`an edit needs a line "====" between old and new text`)
	}
	return strings.TrimPrefix(old, "\n"), strings.TrimSuffix(new, "\n"), nil
}

// splitWhy splits "command ## why". The reason is shown to the person who is asked for permission.
func splitWhy(arg string) (command, why string) {
	command, why, _ = strings.Cut(arg, " ## ")
	return command, why
}

// splitGrep splits "pattern in dir"; dir is "" for all files.
func splitGrep(arg string) (pattern, dir string) {
	pattern, dir, _ = strings.Cut(arg, " in ")
	return pattern, dir
}
