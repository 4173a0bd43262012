package keep

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// What a person says does not always come in a message.

// asks reports whether a person answers what a tool is asked.
func asks(tool string) bool { return slices.Contains(asking, strings.ToLower(tool)) }

// answered looks at what a person answered. The result repeats the questions and the answers to choose from, which the
// model wrote: with a tag in them, nobody can tell whose it is.
func (k *Keeper) answered(e Entry, c call, r content.ToolResponse, p part) {
	said := r.ResultText()
	switch {
	case !marks().MatchString(said):
	case marks().Match(c.Parameters) || strings.Contains(string(c.Parameters), `\u003c`):
		k.lost[notAPersons].add(e.ID)
	default:
		var s scanner
		if s.read(said); s.marked {
			k.hold(e, Tag, "an answer", p)
		} else {
			k.lost[unclosed].add(e.ID)
		}
	}
}

// typed warns of a message that was typed while Claude Code worked and stands at the end of a result. The tool may have
// written it as well.
func (k *Keeper) typed(e Entry) {
	for _, b := range e.Content.Blocks {
		r, ok := b.(content.ToolResponse)
		if !ok || !strings.Contains(string(r.Result), strings.TrimSpace(typed)) {
			continue
		}
		text := r.ResultText()
		if at := strings.LastIndex(text, reminder+"\n"+typed); at >= 0 && marks().MatchString(text[at:]) {
			k.lost[notAPersons].add(e.ID)
			return
		}
	}
}
