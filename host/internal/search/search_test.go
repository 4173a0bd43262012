package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

func all(text string) (list []string) {
	for t := range terms(text) {
		list = append(list, t.text)
	}
	return list
}

func TestTerms(t *testing.T) {
	for text, want := range map[string]string{
		"getUserById":               "get user by id getuserbyid",
		"get_user_by_id":            "get user by id getuserbyid",
		"GetUserByID":               "get user by id getuserbyid",
		"HTTPServer":                "http server httpserver",
		"user by id":                "user by id",
		"host/internal/store.go:42": "host internal store go storego hostinternalstorego 42",
		`C:\src\main.c`:             "c src main c mainc srcmainc",
		"sha256 v2":                 "sha 256 sha256 v2",
		"a.b":                       "a b ab",
		"__init__(self):":           "init self",
		"Größe naïve":               "größe naïve",
		"日本語テスト":                    "日本 本語 語テ テス スト",
		"語":                         "語",
		"fix日本go":                   "fix 日本 go",
		"end. Next...":              "end next",
		"--flag=x/":                 "flag x",
		"it failed in 1,600 ms":     "it failed fail in 1 600 1600 ms",
		"１６ retries, sessions":      "16 retries retry sessions session",
		"":                          "",
		"\xff\xfe!?":                "",
		strings.Repeat("a", 100):    strings.Repeat("a", maxTerm),
		strings.Repeat("é", 100):    strings.Repeat("é", maxTerm/2),
	} {
		if got := strings.Join(all(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// wrongPassages says what is wrong with the passages of a text: they have every byte once, in order, and no rune in two.
func wrongPassages(text string) error {
	at, line, whole := 0, 1, utf8.ValidString(text)
	for _, p := range passages(text) {
		if p.from != at || p.to <= p.from || p.to > len(text) {
			return fmt.Errorf("a passage has bytes %d to %d, the last one ended at %d", p.from, p.to, at)
		}
		part := text[p.from:p.to]
		switch {
		case p.line != line:
			return fmt.Errorf("a passage begins in line %d, not %d", p.line, line)
		case len(part) > passageBytes || marks.Lines(part) > passageLines:
			return fmt.Errorf("a passage has %d bytes in %d lines", len(part), marks.Lines(part))
		case whole && !utf8.ValidString(part):
			return fmt.Errorf("a passage splits a rune: %q", part)
		}
		at, line = p.to, line+strings.Count(part, "\n")
	}
	if at != len(text) {
		return fmt.Errorf("passages end at %d of %d bytes", at, len(text))
	}
	return nil
}

func TestPassages(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "a line": "a", "lines": strings.Repeat("a line\n", 100), "breaks": strings.Repeat("\n", 100),
		"a long line": strings.Repeat("語", 10_000), "long lines": strings.Repeat(strings.Repeat("é", 1200)+"\n", 5),
		"no text": strings.Repeat("\x80", 10_000),
	} {
		if err := wrongPassages(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := len(passages(strings.Repeat("a line\n", 24))); got != 2 {
		t.Errorf("24 lines are %d passages", got)
	}
}

func TestParse(t *testing.T) {
	for q, want := range map[string]struct{ terms, phrases string }{
		`user by id`:                 {"user|by|id", ""},
		`"a \"b\" \\ \n" c`:          {"c|a|b|n", `a "b" \ \n`},
		`say "hello`:                 {"say|hello", ""},
		`"x" "" "=>"`:                {"x", `x|=>`},
		`retry "host/store.go:42" r`: {"retry|r|host|store|go|storego|hoststorego|42", "host/store.go:42"},
	} {
		p, err := Query{Words: q}.Parse()
		var phrases []string
		for _, f := range p.phrases {
			phrases = append(phrases, f.text)
		}
		var asked []string
		for _, a := range p.asked {
			asked = append(asked, p.Terms[a.term])
		}
		if got := strings.Join(asked, "|"); got != want.terms || strings.Join(phrases, "|") != want.phrases || err != nil {
			t.Errorf("%s: terms %q, quoted %q, %v", q, got, phrases, err)
		}
	}
	for _, q := range []Query{{}, {Words: "=> !"}, {Words: strings.Repeat("word ", 100_000)}, {Words: "a", Limit: -1},
		{Words: "a", Tokens: 1 << 30}} {
		if _, err := q.Parse(); err == nil {
			t.Errorf("%.20q was read", q.Words)
		}
	}
}

// A passage of a block is found again by its number, and its lines by theirs.
func TestLines(t *testing.T) {
	text := strings.Repeat("one\ntwo\n", 10) + "last"
	block := Cut(content.Text{Text: text})
	p, ok := block.Passage(1)
	if !ok || p.Line != 13 || p.Lines != 9 || p.Of != 21 || !strings.HasSuffix(p.Text, "last") {
		t.Errorf("%+v, %v", p, ok)
	}
	for want, at := range map[string][2]int{"one\ntwo\n": {1, 2}, "two\nlast": {20, 99}, "": {5, 4}, "one\n": {-3, 1}} {
		if p := Lines(text, at[0], at[1]); p.Text != want {
			t.Errorf("lines %v are %q, want %q", at, p.Text, want)
		}
	}
}

// indexed makes an index of texts, three to a part.
func indexed(texts []string) (parts []store.Part) {
	x := &Indexer{}
	for i := 0; i < len(texts); i += 3 {
		x, _ = NewIndexer(nil, func(string) bool { return false }, store.Part{})
		for j, text := range texts[i:min(i+3, len(texts))] {
			x.Add(uint64(i+j+1), 0, &content.Content{Blocks: []content.Block{content.Text{Text: text}}})
		}
		parts = append(parts, store.Part{Until: uint64(i + 3), Pieces: x.Part()})
	}
	return parts
}

// A term is found in the passages that have it, and only in those, over all parts.
func TestAnIndexHasTheTermsOfEachPassage(t *testing.T) {
	var texts, words []string
	for n := range 50 {
		texts = append(texts, fmt.Sprintf("all of %d and_%d getBy%d", n, n%7, n%3))
		words = append(words, fmt.Sprintf("%d and_%d getBy%d", n, n, n))
	}
	parts := indexed(texts)
	for _, query := range append(words, "all of", "nothing") {
		p, err := Query{Words: query}.Parse()
		if err != nil {
			t.Fatal(err)
		}
		var some []store.Part // a store returns no more
		for _, part := range parts {
			some = append(some, part.With(p.Pieces()))
		}
		x, ok := p.NewIndex(some)
		if !ok || len(x.Spots) != len(texts) {
			t.Fatalf("%s: %d passages, %v", query, len(x.Spots), ok)
		}
		for i, term := range p.Terms {
			var want []uint32
			for n, text := range texts {
				if slices.Contains(all(text), term) {
					want = append(want, uint32(n))
				}
			}
			if !slices.Equal(x.has[i], want) {
				t.Errorf("%s: passages %v, want %v", term, x.has[i], want)
			}
		}
	}
}

// What a tool or a model says makes an index that grows as its text does, and a query of few terms.
func TestWhatIsUntrustedIsBounded(t *testing.T) {
	var names strings.Builder
	for n := range 200_000 {
		fmt.Fprintf(&names, "getName%d ", n)
	}
	for name, tt := range map[string]struct {
		text string
		most int // bytes of the index
	}{
		"one letter":             {strings.Repeat("a", 1<<20), 1 << 12},
		"a path":                 {strings.Repeat("a/", 1<<17), 1 << 12},
		"a name of many parts":   {strings.Repeat("aB", 1<<17), 1 << 12},
		"the same word":          {strings.Repeat("word ", 1<<16), 1 << 12},
		"no letters":             {strings.Repeat("=> ", 1<<16), 1 << 12},
		"empty lines":            {strings.Repeat("\n", 1<<17), 1 << 15},
		"200,000 distinct names": {names.String(), 2 * names.Len()},
	} {
		size := 0
		for _, part := range indexed([]string{tt.text}) {
			for _, piece := range part.Pieces {
				size += len(piece)
			}
		}
		if size > tt.most {
			t.Errorf("%s: %d bytes of text have an index of %d, want at most %d", name, len(tt.text), size, tt.most)
		}
	}
	if _, err := (Query{Words: names.String()[:10_000]}).Parse(); !errors.Is(err, ErrQuery) {
		t.Errorf("a query of 10,000 characters: %v", err)
	}
	common := strings.Repeat("the of and to a in is it ", 50)
	parts := indexed([]string{common, names.String(), common})
	for name, words := range map[string]string{
		"common words": common[:MaxQuery], "names": names.String()[:MaxQuery], "letters": strings.Repeat("語a", MaxQuery/4),
		"a path": strings.Repeat("a/b.", MaxQuery/4), "quotes": strings.Repeat(`"a b"`, MaxQuery/5),
	} {
		p, err := Query{Words: words}.Parse()
		if err != nil {
			t.Fatal(err)
		}
		x, _ := p.NewIndex(parts)
		terms, pieces, counted := len(p.Terms), len(p.Pieces()), len(p.rarest([]Index{x}))
		if terms > MaxQuery/2 || pieces > groups || counted > maxTerms {
			t.Errorf("%s: a query of %d terms, which reads %d pieces and counts %d", name, terms, pieces, counted)
		}
		if hits := len(p.Rank([]Index{x}, false, func(int, Spot) bool { return true }).hits); hits > len(x.Spots) {
			t.Errorf("%s: %d of %d passages", name, hits, len(x.Spots))
		}
	}
}

// Whatever becomes of an index's bytes, reading it ends, and it names no passage that is not there.
func TestADamagedIndex(t *testing.T) {
	p, err := Query{Words: "all of getBy1 3"}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	for number := range groups + 1 {
		for at := 0; ; at++ {
			part := indexed([]string{"all of 1", "all getBy1", "of 3"})[0]
			damaged := part.Pieces[number]
			if at >= len(damaged) {
				break
			}
			for _, c := range []byte{0, 1, 0x7f, 0x80, 0xff} {
				damaged[at] = c
				part.Pieces[number] = damaged[:len(damaged):len(damaged)]
				x, _ := p.NewIndex([]store.Part{part})
				for _, list := range x.has {
					for _, n := range list {
						if int(n) >= len(x.Spots) {
							t.Fatalf("byte %d of piece %d is %d: passage %d of %d", at, number, c, n, len(x.Spots))
						}
					}
				}
				part.Pieces[number] = damaged[:at]
				p.NewIndex([]store.Part{part})
			}
		}
	}
}

func TestText(t *testing.T) {
	for want, b := range map[string]content.Block{
		"plain":                         content.Text{Text: "plain"},
		"path: a.go\nold:\na\nb\nn: 3":  content.ToolCall{Parameters: []byte(`{"path":"a.go","old":"a\nb","n":3}`)},
		"list:\none\ntwo\nat:\nx: true": content.ToolCall{Parameters: []byte(`{"list":["one","two"],"at":{"x":true}}`)},
		"it says\nno":                   content.ToolResponse{Result: content.String("it says"), Error: "no"},
		"{broken":                       content.ToolCall{Parameters: []byte("{broken")},
		"":                              content.Thinking{Thought: "hm"},
	} {
		if got := Text(b); got != want {
			t.Errorf("%T: %q, want %q", b, got, want)
		}
	}
}
