package check

import (
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// Gap counts what was said at one place of a history and is gone.
type Gap struct {
	// Human and AI count messages of people and of the model, Summaries what strategies made of such.
	Human     int `json:"human,omitempty"`
	AI        int `json:"ai,omitempty"`
	Summaries int `json:"summaries,omitempty"`
}

// gone is the metadata field of the host's mark for a gap: the mark is known by it and by its maker, never by its words.
const gone, byHost = "gone", "thresh"

// MarkGap returns the entry that stands in a gap.
func MarkGap(by content.Speaker, g Gap) content.Content {
	c := content.Content{Speaker: by, Blocks: []content.Block{g.block()}}
	counts, _ := json.Marshal(g) // numbers alone
	return withField(MarkMade(c, byHost), gone, counts)
}

func (g Gap) block() content.Block { return content.Text{Text: marks.Gone(g.Human, g.AI, g.Summaries)} }

// GapOf returns what a mark of the host stands for; ok is false if an entry is none.
func GapOf(c content.Content) (g Gap, ok bool) {
	if !marks.IsGone(c) {
		return g, false
	}
	err := json.Unmarshal(rawjson.Field(c.Metadata, gone), &g)
	return g, err == nil && min(g.Human, g.AI, g.Summaries) >= 0 && g != Gap{}
}

// Add counts an entry that is gone. Calls, results and reasoning say nothing, and what a strategy says in the name of
// the model stands for what was counted before.
func (g *Gap) Add(c content.Content) {
	of, mark := GapOf(c)
	switch {
	case mark:
		g.Join(of)
	case !Says(c):
	case Summary(c):
		if c.Speaker == content.Human {
			g.Summaries++
		}
	case c.Speaker == content.Human:
		g.Human++
	case c.Speaker == content.AI:
		g.AI++
	}
}

// Join adds what another gap counts.
func (g *Gap) Join(of Gap) {
	g.Human, g.AI, g.Summaries = g.Human+of.Human, g.AI+of.AI, g.Summaries+of.Summaries
}

// Less returns what is left of a gap without what of it stays after all.
func (g Gap) Less(stays Gap) Gap {
	return Gap{Human: max(0, g.Human-stays.Human), AI: max(0, g.AI-stays.AI), Summaries: max(0, g.Summaries-stays.Summaries)}
}

// Says reports whether an entry has more than calls, results, reasoning and blank text.
func Says(c content.Content) bool {
	for _, b := range c.Blocks {
		switch b := b.(type) {
		case content.ToolCall, content.ToolResponse, content.Thinking, nil:
		case content.Text:
			if strings.TrimSpace(b.Text) != "" {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// StandsFor reports whether an entry that a strategy adds in a gap says what became of the gap: a summary, or a line in
// the name of the model, unless it only names calls.
func StandsFor(c content.Content) bool {
	return Says(c) && !Folds(c)
}

// Folds reports whether an entry that a strategy adds only names calls, as its metadata says.
func Folds(c content.Content) bool { return rawjson.Field(c.Metadata, "foldedCalls") != nil }

// Frames reports whether an added entry is a summary, which replaces all that it was made of.
func Frames(c content.Content) bool { return c.Speaker == content.Human && framed(c) }
