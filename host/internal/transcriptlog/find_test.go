package transcriptlog

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
)

func TestFindReadsAroundWhatCannotBeRead(t *testing.T) {
	call := `{"threshId":"e2","speaker":"ai","blocks":[{"type":"tool_call","id":"c\u00e91","name":"run",` +
		`"parameters":{}}]}`
	call = strings.ReplaceAll(call, `\u00e9`, "é") // as the host writes it
	file := strings.Join([]string{
		`{"threshId":"e1","speaker":"human","blocks":[{"type":"text","text":"e2"}]}`,
		"\x00\x00\x00", // what a crash of the machine leaves
		call,
		`{"threshId":"e3","speaker":"human","blocks":[{"type":"text","text":"` + strings.Repeat("x", 400) + `"}]}`,
		`{"threshId":"e4","speaker":"tool","blocks":[{"type":"tool_response","callId":"cé1","toolName":"run",` +
			`"result":"y"}]}`,
		`{"threshId":"e5","speaker":"human","blocks":[{"type":"te`,
	}, "\n")
	for id, want := range map[string][]content.Speaker{
		"e1": {content.Human}, "e2": {content.AI}, "cé1": {content.AI, content.Tool}, "e4": {content.Tool},
		"e3": nil, "e5": nil, "nothing": nil,
	} {
		got, unread, err := find(t.Context(), strings.NewReader(file), id, 300)
		var speakers []content.Speaker
		for _, c := range got {
			speakers = append(speakers, c.Speaker)
		}
		if err != nil || len(speakers) != len(want) || len(want) > 0 &&
			(speakers[0] != want[0] || speakers[len(want)-1] != want[len(want)-1]) {
			t.Errorf("%s: %v, %v, want %v", id, speakers, err, want)
		}
		if wholly := id == "nothing" || id == "cé1"; wholly && unread != 2 {
			t.Errorf("%s: %d lines were not read, want 2", id, unread)
		}
	}
}
