package probe

import (
	"fmt"
	"strings"
)

// answer is what was answered to one question from one context.
type answer struct {
	ID      string `json:"id"` // the question's
	Answer  string `json:"answer"`
	Unknown bool   `json:"unknown"`
}

func (a *answer) problem() string {
	switch said := strings.TrimSpace(a.Answer) != ""; {
	case said && a.Unknown:
		return "an answer, and \"unknown\": want one of them"
	case !said && !a.Unknown:
		return "no answer; want one, or \"unknown\": true"
	case len(a.Answer) > mostText:
		return fmt.Sprintf("longer than %d bytes", mostText)
	}
	return ""
}

// answers reads what was answered from a context, by question. A question without an answer is a problem.
func answers(s *sheet, data []byte) (map[string]answer, []Problem) {
	return replies(s, data, "answers", func(a *answer) (string, string) { return a.ID, a.problem() })
}
