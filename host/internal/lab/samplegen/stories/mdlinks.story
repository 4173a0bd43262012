# Native form: a code review and its documentation, with @-inclusions and much shell work.
@user
I want to release mdlinks 1.0 next week. Please review it like a strict colleague: correctness first, then robustness, then docs. Here are the two files that I trust least.

@@scan.go

@@check.go

Start with findings only, ordered by severity. Prove each finding with a run.
@ai
I'll read the rest before I judge these two, then try my suspicions on a small site of my own.
@think
Suspicions from the two files: bufio.Scanner limit 64 KB and s.Err ignored → a long line silently ends the scan, so links after it are never checked. Fences: only backticks, though the docs say tildes; indentation; closing fence of a longer fence. Duplicate headings: second gets -1 on code hosts. Percent encoding in targets. Images with titles: [a](b "title") not matched by regex as \s is excluded. strings.Contains(":") treats "a:b.md" as URL. path.Join escaping root: "../../x" -> fs.Stat gives invalid error -> "no such file" fine. Anchor scan rescans per link: quadratic.
@read slug.go
@read cmd/mdlinks/main.go
@read check_test.go
@read slug_test.go
@glob **/*.md
@ai
@many README.md docs/usage.md docs/design.md
@sh go vet ./... && go test ./... ## Vet and test as it is
@sh gofmt -l . ## Formatting
@sh go run ./cmd/mdlinks -anchors docs ## The tool on its own docs
@ai
The tool finds nothing wrong with its own docs. `gofmt` is not content with `check.go`, a detail. Now a site with one trap per file; each should be reported in exactly one place.
@sh mkdir -p trial && printf '# Fences\n\n~~~\n[in tildes](not-a-link.md)\n~~~\n\n````\n```\n[in a long fence](not-a-link-either.md)\n```\n````\n' > trial/fences.md && printf '# Titles\n\n[titled](gone.md "a title")\n\n[angle](<gone too.md>)\n\n![image](gone.png)\n' > trial/titles.md && printf '# Setup\n\n# Setup\n\n[second](#setup-1)\n\n[space](with%%20space.md)\n' > trial/twins.md && printf 'x\n' > 'trial/with space.md' && (printf '# Long\n\n'; head -c 70000 /dev/zero | tr '\0' 'x'; printf '\n\n[after the long line](gone.md)\n') > trial/long.md && ls trial ## Make a site of traps
@sh! go run ./cmd/mdlinks -anchors -v trial ## What the tool says about it
@ai
Five links are reported, and only one of them, the image, is really broken. The titled link, the one in angle brackets and everything in `long.md` are not even seen. I look at the lines that decide this.
@lines scan.go 29-52
@lines check.go 65-89
@ai
@write bench_test.go
package mdlinks

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// countingFS counts how often files are opened.
type countingFS struct {
	fstest.MapFS
	opened map[string]int
}

func (c countingFS) Open(name string) (fs.File, error) {
	c.opened[name]++
	return c.MapFS.Open(name)
}

func TestOpenedOnce(t *testing.T) {
	var page strings.Builder
	for i := 0; i < 200; i++ {
		fmt.Fprintf(&page, "[link %d](glossary.md#term)\n", i)
	}
	files := countingFS{fstest.MapFS{
		"page.md":     {Data: []byte(page.String())},
		"glossary.md": {Data: []byte("# Term\n")},
	}, map[string]int{}}
	c := &Checker{FS: files, Anchors: true}
	if _, err := c.Run(); err != nil {
		t.Fatal(err)
	}
	if n := files.opened["glossary.md"]; n > 1 {
		t.Errorf("glossary.md was opened %d times", n)
	}
}
@sh! go test -run TestOpenedOnce . ## How often is one file scanned?
@ai
Findings, most severe first. All but 6 were seen in the runs above; 6 follows from the first line of `check`.

**Wrong results**
1. *Links after a long line are never checked, without a word.* `bufio.Scanner` stops at lines over 64 KB, and `Scan` ignores `s.Err()`. In `trial/long.md` the broken link after the long line is missing from the output.
2. *Links with a title or in angle brackets are not seen at all.* `[titled](gone.md "a title")` and `[angle](<gone too.md>)` are broken and not reported.
3. *Code in tilde fences and in longer fences is taken for links.* `docs/design.md` promises tildes. A fence of four backticks is closed by three.
4. *The second of two equal headings has no anchor.* `#setup-1` is reported as broken, though it works on the code hosts.
5. *Targets are not decoded.* `with%20space.md` is reported, the file exists.

**Robustness**
6. Any target with a colon counts as a URL: `a:b.md#c` is skipped.
7. A file is scanned again for every link with an anchor into it. 200 links to one glossary: it was opened 201 times, as the test shows.

**Small**
8. `check.go` is not gofmt-ed; the command has no doc comment; `docs/usage.md` shows the words "broken link" that the output doesn't have.

I'd fix 1 to 5 and 7 with tests. 6 is a matter of taste; a scheme check is one line.
@user
Very good, thank you. Fix all eight. Two rules for this repository: test names are sentences (TestScanSkipsFencedCode, not TestScan2), and no new dependencies. Start with the scanner.
@ai
Scanner first: findings 1 to 3. The tests, named as sentences.
@todo
doing Scanner: long lines, titles and angle brackets, fences
open Slugs: repeated headings
open Checker: decoding, schemes, scan each file once
open Docs, doc comments, gofmt
@write scan_test.go
package mdlinks

import (
	"slices"
	"strings"
	"testing"
)

func targets(t *testing.T, text string) []string {
	t.Helper()
	doc, err := Scan(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, l := range doc.Links {
		found = append(found, l.Target)
	}
	return found
}

func TestScanFindsLinks(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"plain", "[a](b.md)", []string{"b.md"}},
		{"two in a line", "[a](b.md) and [c](d.md)", []string{"b.md", "d.md"}},
		{"image", "![a](b.png)", []string{"b.png"}},
		{"title in double quotes", `[a](b.md "c d")`, []string{"b.md"}},
		{"title in single quotes", `[a](b.md 'c d')`, []string{"b.md"}},
		{"angle brackets", "[a](<b c.md>)", []string{"b c.md"}},
		{"angle brackets and title", `[a](<b c.md> "d")`, []string{"b c.md"}},
		{"after a long line", strings.Repeat("x", 1<<20) + "\n[a](b.md)", []string{"b.md"}},
		{"no newline at the end", "[a](b.md)", []string{"b.md"}},
		{"Windows line ends", "[a](b.md)\r\n[c](d.md)\r\n", []string{"b.md", "d.md"}},
		{"no link", "[a] (b.md)", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := targets(t, tt.text); !slices.Equal(got, tt.want) {
				t.Errorf("targets %q, want %q", got, tt.want)
			}
		})
	}
}

func TestScanSkipsFencedCode(t *testing.T) {
	tests := []struct{ name, text string }{
		{"backticks", "```\n[a](b.md)\n```"},
		{"tildes", "~~~\n[a](b.md)\n~~~"},
		{"with a language", "```go\n[a](b.md)\n```"},
		{"indented by three", "   ```\n[a](b.md)\n   ```"},
		{"longer fence", "````\n```\n[a](b.md)\n```\n````"},
		{"other kind within", "```\n~~~\n[a](b.md)\n```"},
		{"not closed", "```\n[a](b.md)"},
		{"a closing fence has no text", "```\n```go\n[a](b.md)\n```"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := targets(t, tt.text); got != nil {
				t.Errorf("targets %q in code", got)
			}
			if got := targets(t, tt.text+"\n[c](d.md)"); tt.name != "not closed" && len(got) != 1 {
				t.Errorf("targets %q, want the one after the fence", got)
			}
		})
	}
}
@ai
@sh! go test -run TestScan . ## Before the fix
@ai
As expected. Now the scanner: `bufio.Reader` instead of `bufio.Scanner`, fences as a small type of their own.
@think
ReadString has no limit: memory of the longest line, fine for a local file tool. Fence: opening: up to 3 spaces, then run of >=3 of ` or ~; a backtick fence's info string contains no backtick. Closing: same char, run >= opening, only spaces after.
@write scan.go
package mdlinks

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strings"
)

// Link is a link or image in a Markdown file.
type Link struct {
	Line   int // the first is 1
	Text   string
	Target string // as written, without angle brackets and title
}

// Document is what Scan finds in a file.
type Document struct {
	Links   []Link
	Anchors map[string]bool
}

var (
	linkPattern    = regexp.MustCompile(`\[([^\]]*)\]\((?:<([^>]*)>|([^)\s<][^)\s]*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)`)
	headingPattern = regexp.MustCompile(`^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$`)
)

// Scan finds the links and headings of a Markdown file. Fenced code is skipped. Lines may have any length.
func Scan(r io.Reader) (*Document, error) {
	doc := &Document{Anchors: make(map[string]bool)}
	var open fence
	in := bufio.NewReader(r)
	for line := 1; ; line++ {
		text, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		doc.line(&open, line, strings.TrimRight(text, "\r\n"))
		if err != nil {
			return doc, nil
		}
	}
}

func (d *Document) line(open *fence, number int, text string) {
	if open.inside(text) {
		return
	}
	if m := headingPattern.FindStringSubmatch(text); m != nil {
		d.Anchors[Slug(m[2])] = true
	}
	for _, m := range linkPattern.FindAllStringSubmatch(text, -1) {
		d.Links = append(d.Links, Link{Line: number, Text: m[1], Target: m[2] + m[3]})
	}
}
@write fence.go
package mdlinks

import "strings"

// fence is the code block that a line is in; the zero value is none.
type fence struct {
	mark  byte // ` or ~
	width int
}

// inside reports whether a line belongs to a code block, its fences included, and moves on.
func (f *fence) inside(line string) bool {
	mark, width, rest := fenceOf(line)
	if f.width == 0 {
		if width == 0 || mark == '`' && strings.Contains(rest, "`") {
			return false
		}
		f.mark, f.width = mark, width
		return true
	}
	if mark == f.mark && width >= f.width && strings.TrimSpace(rest) == "" {
		*f = fence{}
	}
	return true
}

// fenceOf splits a line that begins with a fence. A width of 0 means that it doesn't.
func fenceOf(line string) (mark byte, width int, rest string) {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || text == "" || text[0] != '`' && text[0] != '~' {
		return 0, 0, ""
	}
	mark = text[0]
	rest = strings.TrimLeft(text, string(mark))
	if width = len(text) - len(rest); width < 3 {
		return 0, 0, ""
	}
	return mark, width, rest
}
@ai
@sh go test -v -run TestScan . ## After the fix
@sh! go run ./cmd/mdlinks -anchors trial ## The site of traps again
@ai
Findings 1 to 3 are gone: the link after the long line, the titled one and the one in angle brackets are reported, the code is not. What is left in `twins.md` are findings 4 and 5.

Next the headings.
@todo
done Scanner: long lines, titles and angle brackets, fences
doing Slugs: repeated headings
open Checker: decoding, schemes, scan each file once
open Docs, doc comments, gofmt
@user
Looks right. Before you go on, this is how the scanner looks on my side after I pulled your change; I only added a comment at the top. Is the regexp safe against nasty input? We run this on files from strangers.

@@scan.go
@ai
Go's `regexp` has no backtracking: its time grows in proportion to the length of the line, whatever the input. What can still hurt is `FindAllStringSubmatch` starting over at every `[`: for a line of a million `[` it looks for a `]` from each. I'd rather measure than argue.
@think
[^\]]* consumes [ too, so from first [ it scans all to the end w/o finding ]; RE2 handles unanchored search in one pass - a single linear pass for no match. With matches it's split. Worst: partial matches repeated? "[](" repeated... unanchored leftmost-first search is one pass until a match is confirmed; each match consumes text. When fail-late: "[a](b" repeated, with no closing paren: thread sets merge, one pass. So linear. Test it by comparing counts of steps? Time tests are flaky; make a benchmark rather than a test, but its output has timings. I'd run a test with a 2 MB line to show it ends.
@write hostile_test.go
package mdlinks

import (
	"strings"
	"testing"
)

// Lines from strangers. There is no time limit here: a quadratic scanner would not finish within the test's own.
func TestScanIsLinearOnHostileLines(t *testing.T) {
	const n = 1 << 20
	tests := []struct{ name, unit string }{
		{"opening brackets", "["},
		{"links without an end", "[a](b"},
		{"titles without an end", `[a](b "`},
		{"angle brackets without an end", "[a](<b "},
		{"empty links", "[]()"},
		{"backticks", "`"},
		{"hashes", "#"},
		{"spaces after a hash", "# "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Scan(strings.NewReader(strings.Repeat(tt.unit, n/len(tt.unit)))); err != nil {
				t.Fatal(err)
			}
		})
	}
}
@sh go test -timeout 120s -run Hostile . ## Hostile lines of one megabyte
@ai
All of them pass in one go, a megabyte each. I'll leave the test in; it guards the property for whoever changes the pattern next.

I don't see your comment in the working tree, by the way: the file you included is the same as mine. Perhaps it was not saved. Now the slugs.
@read slug.go
@read scan.go
@ai
@insert slug_test.go 19

func TestAnchorsNumberRepeatedHeadings(t *testing.T) {
	doc, err := Scan(strings.NewReader("# Setup\n## Setup\n# Setup-1\n# Setup\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"setup", "setup-1", "setup-1-1", "setup-2"} {
		if !doc.Anchors[want] {
			t.Errorf("no anchor %q in %v", want, doc.Anchors)
		}
	}
	if len(doc.Anchors) != 4 {
		t.Errorf("anchors %v, want 4", doc.Anchors)
	}
}
@edit slug_test.go
import "testing"
====
import (
	"strings"
	"testing"
)
@sh! go test -run 'Slug|Anchors' . ## Before the fix
@ai
The rule of the code hosts: the first is `setup`, then `setup-1`, `setup-2`; a number that is taken by another heading is skipped. A set and a counter for each base will do.
@edit scan.go
	if m := headingPattern.FindStringSubmatch(text); m != nil {
		d.Anchors[Slug(m[2])] = true
	}
====
	if m := headingPattern.FindStringSubmatch(text); m != nil {
		d.anchor(Slug(m[2]))
	}
@edit scan.go
func (d *Document) line(open *fence
====
// anchor adds the anchor of a heading. Equal headings are told apart by a number, from the second on.
func (d *Document) anchor(slug string) {
	name := slug
	for d.Anchors[name] {
		d.repeated[slug]++
		name = fmt.Sprintf("%s-%d", slug, d.repeated[slug])
	}
	d.Anchors[name] = true
}

func (d *Document) line(open *fence
@edit scan.go
	Anchors map[string]bool
}
====
	Anchors map[string]bool

	repeated map[string]int // how often a slug was needed again
}
@edit! scan.go
	doc := &Document{Anchors: map[string]bool{}}
====
	doc := &Document{Anchors: map[string]bool{}, repeated: map[string]int{}}
@edit scan.go
	"errors"
	"io"
====
	"errors"
	"fmt"
	"io"
@ai
The constructor line is written with `make` in this file. Once more:
@grep Document\{ in scan.go
@ai
@edit scan.go
	doc := &Document{Anchors: make(map[string]bool)}
====
	doc := &Document{Anchors: make(map[string]bool), repeated: make(map[string]int)}
@sh gofmt -l *.go; go test -run 'Slug|Anchors|Scan' . ## After the fix
@ai
Headings are done (`check.go` is still the one that gofmt lists). A thousand equal headings stay cheap, since the counter goes on where it stopped.

Now the checker: findings 5 to 7. Tests first.
@todo
done Scanner: long lines, titles and angle brackets, fences
done Slugs: repeated headings
doing Checker: decoding, schemes, scan each file once
open Docs, doc comments, gofmt
@read check_test.go
@ai
@write check_test.go
package mdlinks

import (
	"testing"
	"testing/fstest"
)

func TestRunReportsBrokenLinksInOrder(t *testing.T) {
	files := fstest.MapFS{
		"index.md":       {Data: []byte("# Index\n[setup](guide/setup.md)\n[gone](gone.md)\n[web](https://example.com/x)\n")},
		"guide/setup.md": {Data: []byte("# Setup\n[back](../index.md#index)\n[bad](../index.md#nothing)\n")},
	}
	c := &Checker{FS: files, Anchors: true}
	problems, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"guide/setup.md:3: broken anchor ../index.md#nothing: no such heading",
		"index.md:3: broken link gone.md: no such file",
	}
	if len(problems) != len(want) {
		t.Fatalf("problems %v, want %q", problems, want)
	}
	for i := range want {
		if got := problems[i].String(); got != want[i] {
			t.Errorf("problem %d: %q, want %q", i, got, want[i])
		}
	}
}

func TestCheckUnderstandsTargets(t *testing.T) {
	files := fstest.MapFS{
		"index.md":      {Data: []byte("# Index\n# Übersicht\n")},
		"with space.md": {Data: []byte("# Index\n")},
		"100%.md":       {Data: []byte("# Index\n")},
		"a:b.md":        {Data: []byte("# Index\n")},
		"img/logo.png":  {Data: []byte("not Markdown")},
	}
	tests := []struct{ target, want string }{
		{"with%20space.md", ""},
		{"with space.md", ""},
		{"100%25.md", ""},
		{"100%.md", "bad escape"},
		{"#%C3%BCbersicht", ""},
		{"#übersicht", ""},
		{"#uebersicht", "no such heading"},
		{"img", ""},
		{"img/logo.png#anything", ""},
		{"./a:b.md", ""},
		{"./x:y.md", "no such file"},
		{"mailto:robin@example.com", ""},
		{"https://example.com/gone.md", ""},
		{"//example.com/gone.md", ""},
		{"../outside.md", "outside of the folder"},
		{"index.md?raw=1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			c := &Checker{FS: files, Anchors: true}
			if got := c.check("index.md", tt.target); got != tt.want {
				t.Errorf("check = %q, want %q", got, tt.want)
			}
		})
	}
}
@sh! go test -v -run 'Run|Check|Opened' . ## Before the fix
@ai
Now `check.go`. I rewrite its second half and keep `Run`.
@read check.go
@ai
@delete check.go 56-89
@insert check.go 56
// scan returns the document in a file. Each file is scanned once, however many links lead to it.
func (c *Checker) scan(name string) (*Document, error) {
	if doc, ok := c.scanned[name]; ok {
		return doc, nil
	}
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := Scan(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.scanned == nil {
		c.scanned = make(map[string]*Document)
	}
	c.scanned[name] = doc
	return doc, nil
}

// check returns why a target is broken, or "".
func (c *Checker) check(from, target string) string {
	if hasScheme(target) || strings.HasPrefix(target, "//") {
		return "" // somewhere in the network
	}
	file, anchor, _ := strings.Cut(target, "#")
	file, _, _ = strings.Cut(file, "?")
	file, err := url.PathUnescape(file)
	if err != nil {
		return "bad escape"
	}
	if anchor, err = url.PathUnescape(anchor); err != nil {
		return "bad escape"
	}
	name := from
	if file != "" {
		name = path.Join(path.Dir(from), file)
	}
	if !fs.ValidPath(name) {
		return "outside of the folder"
	}
	if _, err := fs.Stat(c.FS, name); err != nil {
		return "no such file"
	}
	if anchor == "" || !c.Anchors || path.Ext(name) != ".md" {
		return ""
	}
	doc, err := c.scan(name)
	if err != nil {
		return err.Error()
	}
	if !doc.Anchors[anchor] {
		return "no such heading"
	}
	return ""
}

// hasScheme reports whether a target begins as https: and mailto: do.
func hasScheme(target string) bool {
	scheme, _, ok := strings.Cut(target, ":")
	if !ok || scheme == "" {
		return false
	}
	for i, c := range strings.ToLower(scheme) {
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c != '+' && c != '-' && c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return true
}
@edit check.go
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Target, p.Reason)
}
====
func (p Problem) String() string {
	kind := "link"
	if p.Reason == noHeading {
		kind = "anchor"
	}
	return fmt.Sprintf("%s:%d: broken %s %s: %s", p.File, p.Line, kind, p.Target, p.Reason)
}

const noHeading = "no such heading"
@edit check.go
		return "no such heading"
====
		return noHeading
@edit check.go
	Anchors bool                    // check anchors too
	Visit   func(string, Link)      // called for every link, if not nil
}
====
	Anchors bool               // check anchors too
	Visit   func(string, Link) // called for every link, if not nil

	scanned map[string]*Document
}
@edit check.go
	"io/fs"
	"path"
====
	"io/fs"
	"net/url"
	"path"
@ai
@sh gofmt -l . ; go vet ./... && go test ./... ## Format, vet, test
@sh! go run ./cmd/mdlinks -anchors trial ## The site of traps
@ai
Only the links that are really broken are left: four in the site of traps. One thing to decide: `a:b.md` without `./` is still taken for a URL with the scheme `a`, as browsers do. With `./` in front it is a file.

A look at the file as a whole, since I put it together from pieces:
@read check.go
@ai
It reads well. I'd like a broader test than my handful: a generated site, every page linking to every heading of every other. The verbose output is long, but it shows that each link was visited once.
@sh mkdir -p big && for i in 1 2 3 4 5 6 7 8 9 10 11 12; do (echo "# Page $i"; echo; echo "## Section A"; echo; echo "## Section B"; echo; for j in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "- [page $j, section A](page-$j.md#section-a)"; echo "- [page $j, section B](page-$j.md#section-b)"; done; echo "- [nowhere](page-$((i+1)).md#section-c)") > big/page-$i.md; done && ls big ## Make a bigger site
@sh! go run ./cmd/mdlinks -anchors -v big ## Check it verbosely
@ai
300 links visited, and the 12 wrong ones reported: eleven anchors that don't exist and one page beyond the last. Cleaning up, then the docs.
@sh rm -r big trial && git status --short ## Remove the trial sites
@todo
done Scanner: long lines, titles and angle brackets, fences
done Slugs: repeated headings
done Checker: decoding, schemes, scan each file once
doing Docs, doc comments, gofmt
@user
Great work. For the docs, this is the current state of the usage page, and check.go again so that you write about what it does and not about what you remember:

@@docs/usage.md

@@check.go

Please keep the page short. I don't like "simply", "just" and "easy" in docs.
@ai
Short, and without those words. The usage page first.
@write docs/usage.md
# Usage

    mdlinks [-anchors] [-v] DIR

Checks every `.md` file below DIR. The exit status is 0 if all links are good, 1 if one is broken or a file can't be
read, 2 if the command line is wrong.

## Options

- `-anchors` also checks the part after `#`, see [anchors](design.md#anchors).
- `-v` prints every link, not only the broken ones.

## Output

    guide/setup.md:12: broken link ../img/logo.png: no such file
    guide/setup.md:30: broken anchor usage.md#optons: no such heading

| reason | means |
|---|---|
| no such file | the target does not exist below DIR |
| outside of the folder | the target leads out of DIR, where nothing is checked |
| no such heading | the file exists, the anchor doesn't |
| bad escape | a `%` in the target is not followed by two hex digits |

## What is not checked

Links to the network (`https:`, `mailto:` and any other scheme), anchors in files that are not `.md`, links in fenced code,
and reference links (`[text][name]`). Inline code is not recognised: a link between single backticks is checked like any
other.

A file whose name has a colon needs `./` in front: `./a:b.md`. Otherwise `a:` is taken for a scheme.
@read docs/design.md
@ai
@edit docs/design.md
There is no full Markdown parser. A line is searched for links and images; fenced code blocks are skipped, see
[fences](#fences).
====
There is no full Markdown parser. A line is searched for links and images, with or without angle brackets and title;
fenced code blocks are skipped, see [fences](#fences). Lines may be of any length, and the time for a line grows in
proportion to it.
@edit docs/design.md
A block of three backticks or tildes.
====
Three or more backticks or tildes, indented by at most three spaces. A fence is closed by one of the same kind that is at
least as long and has no text after it. A fence that is never closed reaches to the end of the file.
@edit docs/design.md
Lower case, spaces become dashes, punctuation goes. See [usage](usage.md#options).
====
Lower case, spaces become dashes, punctuation goes. Equal headings are numbered from the second on: `setup`, `setup-1`.
See [usage](usage.md#options).

Each file is scanned once, however many links lead to it.
@read cmd/mdlinks/main.go
@ai
@edit cmd/mdlinks/main.go
package main

import (
====
// Command mdlinks finds broken links in a folder of Markdown files. See docs/usage.md.
package main

import (

@write doc.go
// Package mdlinks finds broken links in Markdown files, without asking the network.
//
// Begin with [Checker]. [Scan] and [Slug] are the parts it is made of, for those who only need one of them.
package mdlinks
@sh grep -n -i -w -E 'simply|just|easy' README.md docs/*.md *.go cmd/mdlinks/*.go; go run ./cmd/mdlinks -anchors . && go vet ./... && go test ./... ## Words to avoid; the tool on its own docs; tests
@ai
None of the unwanted words, the docs' own links are good, tests pass. One leftover of mine: the test that counts opened files lives in `bench_test.go`, and it is no benchmark. I'll move it to where it belongs under a name that is a sentence.
@sh git status --short && sed -i.bak 's/TestOpenedOnce/TestRunScansEachFileOnce/' bench_test.go && rm bench_test.go.bak && mv bench_test.go once_test.go && gofmt -l . ; go test -v ./... ## Rename and run everything verbosely
@ai
Everything is green. The complete change, for your own review:
@sh git add -A && git diff --cached --stat && git diff --cached scan.go check.go docs ## Show the change
@ai
All eight findings are fixed:

| # | finding | where |
|---|---|---|
| 1 | links after a long line were never checked | `scan.go`; `TestScanFindsLinks/after_a_long_line` |
| 2 | titles and angle brackets | `scan.go` |
| 3 | tilde fences and longer fences | `fence.go`; `TestScanSkipsFencedCode` |
| 4 | repeated headings | `TestAnchorsNumberRepeatedHeadings` |
| 5 | escaped targets | `TestCheckUnderstandsTargets` |
| 6 | anything with a colon was a URL | `hasScheme` |
| 7 | a file was scanned once for each link | `TestRunScansEachFileOnce` |
| 8 | formatting, doc comments, wrong sample output | `docs/usage.md`, `doc.go` |

No new dependencies, and the test names are sentences, apart from `TestSlug`, which was there before. Nothing is committed; the change is staged.

Not fixed, but written down in the usage page: reference links (`[text][name]`) are not checked, and links in inline code are.
@user
Please rename TestSlug too, then commit everything as one commit. "Review for 1.0" will do as the message.
@ai
@sh sed -i.bak 's/func TestSlug(/func TestSlugIsWhatCodeHostsMake(/' slug_test.go && rm slug_test.go.bak && go test ./... && git add -A && git commit -q -m "Review for 1.0" && git log --oneline && git status --short ## Rename, test, commit
@ai
Done: one commit, working tree clean. Good luck with the release.
