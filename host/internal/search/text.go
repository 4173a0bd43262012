package search

import (
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Text returns what of a block is searched, and what the lines of a [Place] are counted in: words and code as they are,
// results, and calls with each argument behind its name. It is "" for thinking, media, and blocks of unknown kinds.
func Text(b content.Block) string {
	switch b := b.(type) {
	case content.Text:
		return b.Text
	case content.Code:
		return b.Code
	case content.ToolCall:
		return plain(b.Parameters)
	case content.ToolResponse:
		text := plain(b.Result)
		if b.Error != "" && !strings.Contains(text, b.Error) {
			text = strings.TrimPrefix(text+"\n"+b.Error, "\n")
		}
		return text
	}
	return ""
}

// Texts returns the [Text] of each block.
func Texts(c content.Content) []string {
	texts := make([]string, len(c.Blocks))
	for i, b := range c.Blocks {
		texts[i] = Text(b)
	}
	return texts
}

// plain returns JSON as a person reads it: strings without escapes, and each value of an object behind its name.
// What is no JSON stays as it is.
func plain(raw []byte) string {
	if rawjson.IsNull(raw) {
		return ""
	}
	if text, ok := rawjson.Text(raw); ok {
		return text
	}
	p := printer{in: rawjson.New(raw)}
	if err := p.value(); err != nil {
		return string(raw)
	}
	return strings.TrimSuffix(p.out.String(), "\n")
}

// maxNested is how deep values are taken apart: what people read is not nested deeper.
const maxNested = 50

type printer struct {
	in     *rawjson.Scanner
	out    strings.Builder
	nested int
}

func (p *printer) value() error {
	p.nested++
	defer func() { p.nested-- }()
	kind := p.in.Kind()
	if p.nested > maxNested {
		kind = 0
	}
	switch kind {
	case '{':
		return p.in.Object(func(name []byte) error {
			p.out.Write(name)
			p.out.WriteString(":")
			return p.behind()
		})
	case '[':
		return p.in.Array(func(int) error { return p.value() })
	}
	raw, err := p.in.Skip()
	if text, ok := rawjson.Text(raw); ok {
		p.out.WriteString(text)
	} else {
		p.out.Write(raw)
	}
	p.out.WriteString("\n")
	return err
}

// behind writes a value behind its name, in the same line if it is one.
func (p *printer) behind() error {
	if kind := p.in.Kind(); kind == '{' || kind == '[' {
		p.out.WriteString("\n")
		return p.value()
	}
	raw, err := p.in.Skip()
	text, ok := rawjson.Text(raw)
	if !ok {
		text = string(raw)
	}
	if strings.Contains(text, "\n") {
		p.out.WriteString("\n")
	} else {
		p.out.WriteString(" ")
	}
	p.out.WriteString(text)
	p.out.WriteString("\n")
	return err
}
