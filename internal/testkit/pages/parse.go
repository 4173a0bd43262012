package pages

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Page is a Markdown page.
type Page struct {
	// Path is the file it was read from.
	Path string
	// Lines are the page's lines without their ends.
	Lines []string
	// Blocks are its fenced blocks, in order.
	Blocks []Block
}

// Block is a fenced block.
type Block struct {
	// Language is the word behind the opening fence, "" if there is none.
	Language string
	// From and To delimit the lines of the block in [Page.Lines], without the fences. To is exclusive.
	From, To int
	// Text is the block without the fences; each line ends with a newline.
	Text string
	// NotRun is why the block is not run, "" if it is.
	NotRun string
	// File is the name of the file that the block is written to, "" for none.
	File string
	// Source is the file in the repository whose text the block shows, "" for none.
	Source string
}

// Runnable reports whether the block holds commands that have to be run.
func (b Block) Runnable() bool {
	return b.NotRun == "" && b.File == "" && (b.Language == "sh" || b.Language == "console")
}

var (
	fence     = regexp.MustCompile("^(`{3,})([a-z]*)$")
	directive = regexp.MustCompile(`^<!-- (not run|file|is): (.+) -->$`)
)

// Read reads a page. An error is one of the file, or names the line of a fence or a directive that makes no sense.
func Read(path string) (*Page, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := &Page{Path: path, Lines: strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")}
	for i := 0; i < len(p.Lines); i++ {
		m := fence.FindStringSubmatch(p.Lines[i])
		if m == nil {
			// A fence that is not understood would turn the rest of the page inside out.
			if strings.HasPrefix(p.Lines[i], "```") {
				return nil, fmt.Errorf("%s:%d: a fence is ``` and one word", path, i+1)
			}
			continue
		}
		b := Block{Language: m[2], From: i + 1}
		for b.To = b.From; b.To < len(p.Lines) && p.Lines[b.To] != m[1]; b.To++ {
			b.Text += p.Lines[b.To] + "\n"
		}
		if b.To == len(p.Lines) {
			return nil, fmt.Errorf("%s:%d: the block has no end", path, i+1)
		}
		if i > 0 {
			b.direct(p.Lines[i-1])
		}
		p.Blocks = append(p.Blocks, b)
		i = b.To
	}
	return p, nil
}

// direct reads the comment on the line before a block, if there is one.
func (b *Block) direct(line string) {
	switch m := directive.FindStringSubmatch(line); {
	case m == nil:
	case m[1] == "file":
		b.File = m[2]
	case m[1] == "is":
		b.Source = m[2]
	default:
		b.NotRun = m[2]
	}
}

// step is what is run at once, and what the page shows of it.
type step struct {
	line    int // of the first line in the page, from 0
	command string
	strict  bool // its exit status must be 0, and its output is not compared
	// from and to delimit the lines of the output in the page.
	from, to int
}

// steps are the commands of the page in order.
func (p *Page) steps() []step {
	var all []step
	for _, b := range p.Blocks {
		switch {
		case b.File != "":
			command := fmt.Sprintf("cat > '%s' <<'END-OF-THE-BLOCK'\n%sEND-OF-THE-BLOCK\n", b.File, b.Text)
			all = append(all, step{line: b.From, command: command, strict: true})
		case b.Runnable() && b.Language == "sh":
			all = append(all, step{line: b.From, command: b.Text, strict: true})
		case b.Runnable():
			all = append(all, p.console(b)...)
		}
	}
	return all
}

// console takes a block apart into commands and their outputs.
func (p *Page) console(b Block) []step {
	var all []step
	for i := b.From; i < b.To; {
		command, isCommand := strings.CutPrefix(p.Lines[i], "$ ")
		if !isCommand {
			i++ // what stands before the first command belongs to none
			continue
		}
		s := step{line: i, command: command + "\n"}
		for i++; i < b.To && strings.HasSuffix(p.Lines[i-1], `\`); i++ {
			s.command += p.Lines[i] + "\n"
		}
		for s.from = i; i < b.To && !strings.HasPrefix(p.Lines[i], "$ "); i++ {
		}
		s.to = i
		all = append(all, s)
	}
	return all
}
