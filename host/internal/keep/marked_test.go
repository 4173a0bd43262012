package keep

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/hostile"
	"github.com/thresh-dev/thresh/sdk/content"
)

func says(speaker content.Speaker, texts ...string) content.Content {
	c := content.Content{Speaker: speaker}
	for _, t := range texts {
		c.Blocks = append(c.Blocks, content.Text{Text: t})
	}
	return c
}

func TestWhatAPersonMarks(t *testing.T) {
	for name, tt := range map[string]struct {
		text         []string
		marked, open bool
	}{
		"a word":                      {text: []string{"do it. <keep>never push</keep> thanks"}, marked: true},
		"lines":                       {text: []string{"<keep>\nnever push\n</keep>"}, marked: true},
		"a block of code":             {text: []string{"<keep>\n```sql\ncreate table a\n```\n</keep>"}, marked: true},
		"inline code":                 {text: []string{"<keep>`make test`</keep>"}, marked: true},
		"two parts of a message":      {text: []string{"<keep>never", "push</keep>"}, marked: true},
		"the second":                  {text: []string{"`<keep>` is a tag: <keep>never push</keep>"}, marked: true},
		"behind a code block":         {text: []string{"```\n<keep>\n```\n<keep>never push</keep>"}, marked: true},
		"behind a heading":            {text: []string{"--- rules ---\n<keep>never push</keep>"}, marked: true},
		"a reminder within":           {text: []string{"<keep>a<system-reminder>x</system-reminder></keep>"}, marked: true},
		"an open backtick":            {text: []string{"a ` b <keep>never push</keep>"}, marked: true},
		"nothing":                     {text: []string{"<keep></keep>"}},
		"only blank":                  {text: []string{"<keep> \n </keep>"}},
		"no end":                      {text: []string{"<keep>never push"}, open: true},
		"no beginning":                {text: []string{"never push</keep>"}},
		"another tag":                 {text: []string{"<keeper>never push</keeper> < keep>x</ keep>"}},
		"in capitals":                 {text: []string{"<KEEP>never push</Keep>"}, marked: true},
		"with a blank":                {text: []string{"<keep >never push</keep >"}, marked: true},
		"in a code block":             {text: []string{"```\n<keep>x</keep>\n```"}},
		"in a long fence":             {text: []string{"````md\n```\n<keep>x</keep>\n```\n````"}},
		"in tildes":                   {text: []string{"~~~\n<keep>x</keep>\n~~~"}},
		"in a code block without end": {text: []string{"```\n<keep>x</keep>"}, marked: true},
		"behind a fence without end":  {text: []string{"```sh\nmake\n\n<keep>x</keep>"}, marked: true},
		"in an indented fence":        {text: []string{"    ```\n    <keep>x</keep>\n    ```"}, marked: true},
		"in a fence of another kind":  {text: []string{"~~~\n<keep>x</keep>\n```"}, marked: true},
		"in inline code":              {text: []string{"write `<keep>x</keep>` here"}},
		"in double backticks":         {text: []string{"write ``a ` <keep>x</keep>`` here"}},
		"in a reminder":               {text: []string{"<system-reminder>\n<keep>x</keep>\n</system-reminder>"}},
		"in what a command printed":   {text: []string{"<bash-stdout><keep>x</keep></bash-stdout>"}},
		"in an included file":         {text: []string{"see\n--- a.md ---\n<keep>x</keep>\n--- End of content ---\n"}},
		"the end in code":             {text: []string{"<keep>x `</keep>`"}, open: true},
	} {
		t.Run(name, func(t *testing.T) {
			if h := hear(says(content.Human, tt.text...)); h.marked != tt.marked || h.lost == unclosed != tt.open {
				t.Errorf("%+v", h)
			}
		})
	}
}

func FuzzHostileMessages(f *testing.F) {
	var texts []hostile.Text
	for _, piece := range []string{"a", "`", "<", "<keep>", "</keep>", "` ", "<system-reminder>", "``` `%d",
		"<system-reminder></system-reminder>`", "```\n", "--- a ---\n", "<keep>`", "<keep>x</keep>", "```a\n", "<a>\n",
		"</a>", "<a><b>", "<keep ", "--- End of content ---\n", "Content from @a.go:\n", "<system-reminder>\n" + typed,
		"Called the Read tool with the following input\n", ideRequest, "<task ", "\n<task ", "Called the "} {
		texts = append(texts, hostile.Text{Start: "<keep>", Open: piece})
	}
	hostile.Fuzz(f, func(text string) { hear(says(content.Human, text)) }, texts...)
}
