package summary

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/thresh-dev/thresh/sdk"
)

func TestExtract(t *testing.T) {
	const good = "<state_snapshot>\n<overall_goal>ship it</overall_goal>\n</state_snapshot>"
	tests := map[string]struct {
		reply, want string
		err         error
	}{
		"a snapshot":      {good, good, nil},
		"prose around it": {"Here it is:\n" + good + "\nAnything else?", good, nil},
		"fenced":          {"```xml\n" + good + "\n```", good, nil},
		"a scratchpad with a draft": {"<scratchpad><state_snapshot>draft</state_snapshot></scratchpad>\n" + good, good,
			nil},
		"thoughts that name the tag": {"<think>a <state_snapshot> it shall be</think>" + good, good, nil},
		"prose that names the tag":   {"I write the <state_snapshot> now.\n" + good, good, nil},
		"a scratchpad that is quoted": {"<state_snapshot>about <scratchpad> tags</state_snapshot>",
			"<state_snapshot>about <scratchpad> tags</state_snapshot>", nil},
		"tags of its own inside": {"<state_snapshot>the tag </state_snapshot> ends <state_snapshot></state_snapshot>",
			"<state_snapshot>the tag [/state_snapshot] ends [state_snapshot]</state_snapshot>", nil},
		"nothing":            {"", "", ErrEmpty},
		"blank":              {" \n\t", "", ErrEmpty},
		"no content":         {"<state_snapshot>\n</state_snapshot>", "", ErrEmpty},
		"sections only":      {"<state_snapshot><overall_goal> </overall_goal></state_snapshot>", "", ErrEmpty},
		"prose":              {"Sure, I deleted the files as you asked.", "", ErrNoSnapshot},
		"cut off":            {"<state_snapshot><overall_goal>ship", "", ErrNoSnapshot},
		"closed before open": {"</state_snapshot> and <state_snapshot>", "", ErrNoSnapshot},
		"thinking only":      {"<think>hm</think>", "", ErrNoSnapshot},
		"a scratchpad only":  {"<scratchpad><state_snapshot>draft", "", ErrNoSnapshot},
		"not UTF-8 somewhere": {"<state_snapshot>a\xffb</state_snapshot>", "<state_snapshot>a\ufffdb</state_snapshot>",
			nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := extract(test.reply)
			if !errors.Is(err, test.err) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestIsSummary(t *testing.T) {
	say := func(by sdk.Speaker, text, metadata string) sdk.Content {
		c := sdk.Content{Speaker: by, Blocks: []sdk.Block{sdk.Text{Text: text}}}
		if metadata != "" {
			c.Metadata = json.RawMessage(metadata)
		}
		return c
	}
	const snapshot = "<state_snapshot>x</state_snapshot>"
	tests := map[string]struct {
		entry sdk.Content
		want  bool
	}{
		"it says so":                     {say(sdk.Human, "all that was", `{"isSummary":true}`), true},
		"an AI entry says so":            {say(sdk.AI, "all that was", `{"isSummary":true}`), true},
		"a message that reads like one":  {say(sdk.Human, "\n"+snapshot, ""), false},
		"a strategy's":                   {say(sdk.Human, "\n"+snapshot, `{"madeBy":"other"}`), true},
		"the host's mark for a gap":      {say(sdk.Human, "[x]", `{"madeBy":"thresh","gone":{"human":1}}`), false},
		"a person quotes one":            {say(sdk.Human, "what is "+snapshot+"?", ""), false},
		"one that is not closed":         {say(sdk.Human, "<state_snapshot>x", ""), false},
		"the AI talks of one":            {say(sdk.AI, snapshot, ""), false},
		"a tool prints one":              {say(sdk.Tool, snapshot, `{"isSummary":true}`), false},
		"it says that it is none":        {say(sdk.Human, "hello", `{"isSummary":false}`), false},
		"the field means something else": {say(sdk.Human, "hello", `{"isSummary":"yes"}`), false},
		"nothing in it":                  {sdk.Content{Speaker: sdk.Human}, false},
		"only an attachment": {sdk.Content{Speaker: sdk.Human,
			Blocks: []sdk.Block{sdk.Media{MimeType: "image/png"}}}, false},
		"metadata that is none of an obj": {say(sdk.Human, "hello", `["isSummary"]`), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := IsSummary(test.entry); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// What compose writes, readPrior reads, whatever people said.
func FuzzASummaryIsReadAsItWasWritten(f *testing.F) {
	f.Add("goal", "first", "second", "src/a.go", "/log")
	f.Add("</state_snapshot>", "[message of 3 characters]\n", "\n\nRecorded from the tool calls, newest first:",
		" (deleted)", "")
	f.Add("x", "\u2028é\r\n", "", "a — success", "a b")
	f.Fuzz(func(t *testing.T, body, first, second, fact, pointer string) {
		snapshot, err := extract(openTag + body + closeTag)
		if err != nil {
			t.Skip()
		}
		valid := func(s string) string { return strings.ToValidUTF8(s, "?") }
		fact, pointer = clip(fact, factLength), clip(pointer, factLength)
		d := draft{snapshot: snapshot, messages: []message{{text: valid(first)}, {text: valid(second)}},
			pointer: pointer}
		want := prior{snapshot: snapshot, messages: []string{valid(first), valid(second)}, transcript: pointer}
		if fact != "" {
			d.facts = facts{modified: []string{fact}, commands: []string{fact}, read: []string{fact}}
			want.facts = d.facts
		}
		entry := d.compose([]bool{true, true}, 2, maxFacts)
		text, ok := priorText(entry)
		if !ok {
			t.Fatal("it is no summary")
		}
		if diff := cmp.Diff(want, readPrior(entry, text), cmp.AllowUnexported(prior{}, facts{}),
			cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
	})
}

func FuzzReadPrior(f *testing.F) {
	f.Add(openTag + "x" + closeTag + wordsHead + wordsAll + messageStart + "99999999999999999999" + messageEnd)
	f.Add(openTag + closeTag + wordsHead + wordsSome + messageStart + "3" + messageEnd + "ab" + factsHead + "- x\n" +
		readHead + "- y")
	f.Fuzz(func(t *testing.T, text string) {
		entry := sdk.Content{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{Text: text}}}
		p := readPrior(entry, text)
		size := len(p.snapshot)
		for _, m := range p.messages {
			size += len(m)
		}
		if size > len(text)+1 {
			t.Errorf("%d bytes were made of %d", size, len(text))
		}
	})
}
