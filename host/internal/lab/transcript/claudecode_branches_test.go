package transcript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A person who goes back to an earlier prompt and says something else leaves the abandoned branch in the file.
func TestARewoundBranchIsNotSaid(t *testing.T) {
	type rec struct{ id, parent, does string } // does: what a person says, "ai: …", "call", "result", "meta", "boundary"
	line := func(r rec) string {
		parent := fmt.Sprintf("%q", r.parent)
		if r.parent == "" {
			parent = "null"
		}
		head := fmt.Sprintf(`"uuid":%q,"parentUuid":%s`, r.id, parent)
		text, ai := strings.CutPrefix(r.does, "ai: ")
		switch {
		case ai:
			return fmt.Sprintf(`{"type":"assistant",%s,"message":{"id":"m%s","role":"assistant","content":[{"type":"text","text":%q}],`+
				`"usage":{"input_tokens":9}}}`, head, r.id, text)
		case r.does == "call":
			return fmt.Sprintf(`{"type":"assistant",%s,"message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"c%s",`+
				`"name":"f","input":{}}]}}`, head, r.id)
		case strings.HasPrefix(r.does, "result"):
			return fmt.Sprintf(`{"type":"user",%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%s",`+
				`"content":"done"}]}}`, head, r.parent)
		case r.does == "boundary":
			return fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","uuid":%q,"parentUuid":null,"logicalParentUuid":%s,`+
				`"compactMetadata":{}}`, r.id, parent)
		case r.does == "meta", r.does == "side":
			flag := map[string]string{"meta": "isMeta", "side": "isSidechain"}[r.does]
			return fmt.Sprintf(`{"type":"user",%s,%q:true,"message":{"role":"user","content":"(%s)"}}`, head, flag, r.does)
		case r.does == "system":
			return fmt.Sprintf(`{"type":"system","subtype":"turn_duration",%s}`, head)
		}
		return fmt.Sprintf(`{"type":"user",%s,"message":{"role":"user","content":%q}}`, head, text)
	}
	for name, tt := range map[string]struct {
		records    []rec
		want       string
		boundaries int
		note       string
	}{
		"in the middle": {records: []rec{{"1", "", "go"}, {"2", "1", "ai: gone"}, {"3", "2", "wrong"}, {"4", "3", "ai: long"},
			{"5", "4", "more"}, {"6", "2", "right"}, {"7", "6", "ai: fine"}},
			want: "human: go\nai: gone\nhuman: right\nai: fine",
			note: "3 × entry of a branch that was rewound left out, with the usage of its requests (the first is here)"},
		"twice": {records: []rec{{"1", "", "go"}, {"2", "1", "a"}, {"3", "1", "b"}, {"4", "3", "ai: b"}, {"5", "1", "c"}},
			want: "human: go\nhuman: c", note: "3 × entry"},
		"behind records of the agent's own": {records: []rec{{"1", "", "go"}, {"2", "1", "system"}, {"3", "2", "wrong"},
			{"4", "1", "meta"}, {"5", "4", "right"}},
			want: "human: go\nhuman: (meta)\nhuman: right", note: "1 × entry"},
		"with a compaction in it": {records: []rec{{"1", "", "go"}, {"2", "1", "wrong"}, {"3", "2", "boundary"}, {"4", "3", "sum"},
			{"5", "1", "right"}, {"6", "5", "boundary"}, {"7", "6", "sum 2"}},
			want: "human: go\nhuman: right\nhuman: sum 2", boundaries: 1, note: "2 × entry"},
		"and back": {records: []rec{{"1", "", "go"}, {"2", "1", "a"}, {"3", "1", "b"}, {"4", "2", "ai: a"}},
			want: "human: go\nhuman: a\nai: a", note: "1 × entry"},
		// These are no branches.
		"results in parallel": {records: []rec{{"1", "", "go"}, {"2", "1", "call"}, {"3", "2", "call"}, {"4", "2", "result"},
			{"5", "3", "result"}, {"6", "5", "and"}},
			want: "human: go\nai: call c2 f {}, call c3 f {}\ntool: c2 f \"done\"\ntool: c3 f \"done\"\nhuman: and"},
		"parents in another file": {records: []rec{{"1", "x", "go"}, {"2", "1", "ai: a"}, {"3", "y", "and"}, {"4", "3", "ai: b"}},
			want: "human: go\nai: a\nhuman: and\nai: b"},
		"a cleared context": {records: []rec{{"1", "", "go"}, {"2", "1", "ai: a"}, {"3", "", "system"}, {"4", "3", "and"},
			{"5", "", "on"}}, want: "human: go\nai: a\nhuman: and\nhuman: on"},
		"after a compaction": {records: []rec{{"1", "", "go"}, {"2", "", "boundary"}, {"3", "", "sum"}},
			want: "human: go\nhuman: sum", boundaries: 1},
		"a sub-agent's prompt": {records: []rec{{"1", "", "go"}, {"2", "", "side"}, {"3", "1", "ai: a"}},
			want: "human: go\nai: a"},
	} {
		var in []string
		for _, r := range tt.records {
			in = append(in, line(r))
		}
		tr := read(t, strings.Join(in, "\n"))
		if diff := cmp.Diff(tt.want, brief(tr)); diff != "" || len(tr.Boundaries) != tt.boundaries ||
			len(tr.Lines) != len(tr.Entries) {
			t.Errorf("%s: %d boundaries, %d lines: %s", name, len(tr.Boundaries), len(tr.Lines), diff)
		}
		note := ""
		for _, n := range tr.Notes {
			if !n.Routine {
				note += n.Message
			}
		}
		if !strings.HasPrefix(note, tt.note) || (note == "") != (tt.note == "") {
			t.Errorf("%s: %q", name, note)
		}
		if strings.Contains(brief(tr), "long") || name == "in the middle" && len(tr.Usage) != 2 {
			t.Errorf("%s: usage %v", name, tr.Usage)
		}
		for _, b := range tr.Boundaries {
			if b.Index != len(tr.Entries)-1 {
				t.Errorf("%s: boundary at %d", name, b.Index)
			}
		}
	}
}
