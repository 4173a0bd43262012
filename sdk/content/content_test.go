package content_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk/content"
)

func decode(t *testing.T, s string) content.Content {
	t.Helper()
	var c content.Content
	if err := c.UnmarshalJSON([]byte(s)); err != nil {
		t.Fatalf("%v\n%s", err, s)
	}
	return c
}

func TestEntriesComeBackByteForByte(t *testing.T) {
	tests := map[string]string{
		"text":             `{"speaker":"human","blocks":[{"type":"text","text":"hello"}]}`,
		"no blocks at all": `{"speaker":"ai"}`,
		"empty blocks":     `{"speaker":"ai","blocks":[]}`,
		"unknown speaker":  `{"speaker":"narrator","blocks":[{"type":"text","text":"x"}]}`,
		"unknown fields": `{"speaker":"ai","blocks":[{"type":"text","text":"x","cache":{"z":1,"a":2}}],` +
			`"metadata":{"k":1},"b":[1, 2],"a":null}`,
		"unknown kind of block": `{"speaker":"ai","blocks":[{"type":"hologram","depth":3.10,"type2":null}]}`,
		"null and malformed": `{"speaker":"ai","blocks":[null,7,"x",[],{},{"type":5},{"type":"text"},` +
			`{"type":"text","text":9},{"type":"tool_call","id":"1"}]}`,
		"numbers keep digits": `{"speaker":"ai","blocks":[{"type":"tool_call","id":"1","name":"n",` +
			`"parameters":{"big":12345678901234567890123,"f":1.10,"e":1E+2,"neg":-0}}]}`,
		"keys keep their order": `{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n",` +
			`"result":{"z":1,"a":{"y":2,"b":3}, "z":4}}]}`,
		"result null": `{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n",` +
			`"result":null}]}`,
		"no result": `{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n"}]}`,
		"error in words": `{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n",` +
			`"result":"","error":"no such file"}]}`,
		"error that is an object": `{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n",` +
			`"error":{"code":2}}]}`,
		"error that says nothing": `{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n",` +
			`"error":null}]}`,
		"media": `{"speaker":"human","blocks":[{"type":"media","mimeType":"image/png","data":"aGk=",` +
			`"encoding":"base64","caption":"c","filename":"f.png"}]}`,
		"empty caption": `{"speaker":"human","blocks":[{"type":"media","mimeType":"image/png","data":"aGk=",` +
			`"encoding":"base64","caption":""}]}`,
		"thinking": `{"speaker":"ai","blocks":[{"type":"thinking","thought":"","signature":"s",` +
			`"encryptedContent":"e"}]}`,
		"code":            `{"speaker":"ai","blocks":[{"type":"code","code":"x := 1\n","language":"go"}]}`,
		"line separators": "{\"speaker\":\"human\",\"blocks\":[{\"type\":\"text\",\"text\":\"a\u2028b\u2029c\"}]}",
		"odd text": `{"speaker":"human","blocks":[{"type":"text","text":"\u0000\u001b\"\\/<&>\t\r\n` +
			"\u00e9e\u0301\U0001f600\u202e\ufeff\u007f" + `"}]}`,
		"lone surrogate in raw": `{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n",` +
			`"result":"\ud800"}]}`,
	}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(in, string(decode(t, in).AppendJSON(nil))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsNotUnderstoodBecomesOpaque(t *testing.T) {
	blocks := decode(t, `{"speaker":"ai","blocks":[null,{"type":"hologram","depth":3},{"type":"text","text":null},`+
		`{"Type":"text","text":"x"}]}`).Blocks
	want := []content.Block{
		content.Opaque{JSON: []byte(`null`)},
		content.Opaque{JSON: []byte(`{"type":"hologram","depth":3}`)},
		content.Opaque{JSON: []byte(`{"type":"text","text":null}`)},
		content.Opaque{JSON: []byte(`{"Type":"text","text":"x"}`)},
	}
	if diff := cmp.Diff(want, blocks); diff != "" {
		t.Error(diff)
	}
	for i, kind := range []string{"", "hologram", "text", ""} {
		if got := blocks[i].Kind(); got != kind {
			t.Errorf("block %d: kind %q, want %q", i, got, kind)
		}
	}
}

func TestParseBlockKeepsWhatIsNoJSON(t *testing.T) {
	for raw, want := range map[string]string{
		``:                        `null`,
		`{"type":"text","text":"`: `"{\"type\":\"text\",\"text\":\""`,
		`{} {}`:                   `"{} {}"`,
	} {
		if got := string(content.AppendBlock(nil, content.ParseBlock([]byte(raw)))); got != want {
			t.Errorf("ParseBlock(%q) is written as %s, want %s", raw, got, want)
		}
	}
}

func TestWhatIsNoEntryIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ json, want string }{
		"null":                {`null`, "not an object"},
		"list":                {`[]`, "not an object"},
		"text":                {`"human"`, "not an object"},
		"speaker a number":    {`{"speaker":7}`, "speaker is 7, not a string"},
		"speaker null":        {`{"speaker":null}`, "speaker is null, not a string"},
		"blocks an object":    {`{"speaker":"ai","blocks":{"type":"text"}}`, "not an array"},
		"blocks a string":     {`{"speaker":"ai","blocks":"hi"}`, `blocks is "hi", not an array`},
		"cut off":             {`{"speaker":"ai","blocks":[{"type":`, "ends in the middle"},
		"something behind it": {`{"speaker":"ai"} x`, "after the value"},
	} {
		t.Run(name, func(t *testing.T) {
			c := content.Content{Speaker: "untouched"}
			err := c.UnmarshalJSON([]byte(tt.json))
			if !errors.Is(err, content.ErrNotAnEntry) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if c.Speaker != "untouched" {
				t.Error("the entry was changed in spite of the error")
			}
		})
	}
}

func TestTextIsMadeUTF8Once(t *testing.T) {
	c := decode(t, "{\"speaker\":\"tool\",\"blocks\":[{\"type\":\"text\",\"text\":\"a\xffb\\ud83d\"},"+
		"{\"type\":\"tool_response\",\"callId\":\"1\",\"toolName\":\"n\",\"result\":\"\xff\"}]}")
	want := `{"speaker":"tool","blocks":[{"type":"text","text":"a` + "\ufffdb\ufffd" +
		`"},{"type":"tool_response","callId":"1","toolName":"n","result":"` + "\ufffd" + `"}]}`
	if diff := cmp.Diff(want, string(c.AppendJSON(nil))); diff != "" {
		t.Error(diff)
	}
}

func TestErrorOfAnyKindIsAFailure(t *testing.T) {
	for raw, want := range map[string]string{
		`"no such file"`: "no such file",
		`{"code":2}`:     `{"code":2}`,
		`true`:           "true",
		`["a"]`:          `["a"]`,
		`null`:           "", `false`: "", `""`: "", `0`: "",
	} {
		c := decode(t, `{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n","error":`+raw+
			`}]}`)
		r := c.Blocks[0].(content.ToolResponse)
		if r.Error != want || r.Failed() != (want != "") {
			t.Errorf("error %s: got %q, failed: %v", raw, r.Error, r.Failed())
		}
	}
}

func TestOfAFieldThatStandsTwiceTheLastCounts(t *testing.T) {
	c := decode(t, `{"speaker":"ai","blocks":[{"type":"text","text":"first","text":"last","x":1,"y":2,"x":3}],`+
		`"speaker":"human"}`)
	want := content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{
		Text: "last", Extra: content.FieldsOf(
			content.Field{Name: "x", Value: []byte("3")}, content.Field{Name: "y", Value: []byte("2")}),
	}}}
	if !c.Equal(want) {
		t.Errorf("got %s", c.AppendJSON(nil))
	}
}

func TestResultTextIsWhatAModelReads(t *testing.T) {
	for raw, want := range map[string]string{``: "", `null`: "", `"a\nb"`: "a\nb", `{"a": 1}`: `{"a": 1}`, `12`: "12"} {
		if got := (content.ToolResponse{Result: []byte(raw)}).ResultText(); got != want {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
}

func TestHasContent(t *testing.T) {
	for name, tt := range map[string]struct {
		blocks string
		want   bool
	}{
		"nothing":           {`[]`, false},
		"blank":             {`[{"type":"text","text":" \n"}]`, false},
		"text":              {`[{"type":"text","text":" \n"},{"type":"text","text":"x"}]`, true},
		"empty thinking":    {`[{"type":"thinking","thought":""}]`, false},
		"encrypted thought": {`[{"type":"thinking","thought":"","encryptedContent":"x"}]`, true},
		"call":              {`[{"type":"tool_call","id":"","name":"n"}]`, true},
		"null block":        {`[null]`, false},
		"unknown block":     {`[{"type":"hologram"}]`, true},
	} {
		if got := decode(t, `{"speaker":"ai","blocks":`+tt.blocks+`}`).HasContent(); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestManyUnknownFieldsKeepOrderAndCostNoMoreEach(t *testing.T) {
	const n = 50_000 // a list that is searched for each of them would take seconds
	var in strings.Builder
	in.WriteString(`{"speaker":"ai","blocks":[{"type":"text","text":"x"`)
	for i := range n {
		fmt.Fprintf(&in, `,"k%d":%d`, i, i)
	}
	in.WriteString(`}]`)
	for i := range n {
		fmt.Fprintf(&in, `,"k%d":%d`, i, i)
	}
	in.WriteString(`}`)
	if got := string(decode(t, in.String()).AppendJSON(nil)); got != in.String() {
		t.Error("the fields did not come back as they stood")
	}
}

func TestStandardLibraryReadsAndWritesHistories(t *testing.T) {
	const in = `[{"speaker":"human","blocks":[{"type":"text","text":"a"}]},` +
		`{"speaker":"ai","blocks":[{"type":"x","n":1.0}]}]`
	var history []content.Content
	if err := json.Unmarshal([]byte(in), &history); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(history)
	if err != nil || string(out) != in {
		t.Errorf("got %s, %v", out, err)
	}
}

// FuzzContentJSON: whatever is read is written as JSON that reads the same and is written the same again.
func FuzzContentJSON(f *testing.F) {
	for _, seed := range []string{
		`{"speaker":"human","blocks":[{"type":"text","text":"\ud800x"}]}`,
		`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n","result":{"a":1.0},` +
			`"error":{"b":2}}],"metadata":{}}`,
		`{"speaker":"ai","blocks":[null,7,{"type":"thinking","thought":"","signature":""},` +
			`{"type":"media","mimeType":"","data":"","encoding":"url"}],"x":1,"x":2}`,
		`{"speaker":"ai","blocks":[{"type":"tool_call","id":"1","name":"n","parameters":null},` +
			`{"type":"code","code":"x"}]}`,
		"{\"speaker\":\"\xff\",\"\xff\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second content.Content
		if first.UnmarshalJSON(data) != nil {
			if b := content.ParseBlock(data); !json.Valid(content.AppendBlock(nil, b)) {
				t.Fatalf("a block is written as what is no JSON: %q", data)
			}
			return
		}
		out := first.AppendJSON(nil)
		if !json.Valid(out) {
			t.Fatalf("not JSON: %s", out)
		}
		if err := second.UnmarshalJSON(out); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !first.Equal(second) {
			t.Fatalf("changed:\n%s\n%s", out, second.AppendJSON(nil))
		}
		if again := second.AppendJSON(nil); string(again) != string(out) {
			t.Fatalf("not stable:\n%s\n%s", out, again)
		}
	})
}

// BenchmarkDecode reads a made history of about 5 MB, one entry after the other.
func BenchmarkDecode(b *testing.B) {
	entry := content.Content{Speaker: content.AI,
		Metadata: []byte(`{"timestamp":"2026-01-01T00:00:00Z","usage":{"input":12}}`), Blocks: []content.Block{
			content.Text{Text: strings.Repeat("Some words, \"quoted\".\n", 8)},
			content.ToolCall{ID: "call_1", Name: "read_file", Parameters: []byte(`{"path":"src/main.go","limit":200}`)},
			content.ToolResponse{CallID: "call_1", ToolName: "read_file",
				Result: content.String(strings.Repeat("\tif err != nil {\n", 32))},
		}}.AppendJSON(nil)
	n := 5_000_000 / len(entry)
	b.Run("entries", func(b *testing.B) {
		b.SetBytes(int64(n * len(entry)))
		b.ReportAllocs()
		for b.Loop() {
			for range n {
				var c content.Content
				if err := c.UnmarshalJSON(entry); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	list := []byte("[" + strings.Repeat(string(entry)+",", n-1) + string(entry) + "]")
	b.Run("json.Unmarshal", func(b *testing.B) {
		b.SetBytes(int64(len(list)))
		b.ReportAllocs()
		for b.Loop() {
			var history []content.Content
			if err := json.Unmarshal(list, &history); err != nil {
				b.Fatal(err)
			}
		}
	})
	history := make([]content.Content, n)
	if err := json.Unmarshal(list, &history); err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(list)))
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			buf = buf[:0]
			for _, c := range history {
				buf = c.AppendJSON(buf)
			}
		}
	})
	var other content.Content
	if err := other.UnmarshalJSON(entry); err != nil {
		b.Fatal(err)
	}
	b.Run("equal", func(b *testing.B) {
		for b.Loop() {
			if !other.Equal(history[0]) {
				b.Fatal("it differs")
			}
		}
	})
}

// The strings of a result are found wherever they stand, and others can be put in their places; all else stays as it
// was, byte for byte.
func TestTheStringsInJSONTextCanBeReplaced(t *testing.T) {
	raw := json.RawMessage(` {"a" : "x\n\"y", "n": 1.50, "b":[ "", {"c":"語"} ], "x\"": null} `)
	found := content.Literals(raw)
	for i, want := range []string{"x\n\"y", "", "語"} {
		if i >= len(found) || found[i].Text != want {
			t.Fatalf("got %+v, want %q at %d", found, want, i)
		}
	}
	found[0].Text, found[2].Text = "\"", "new\n"
	got := content.WithLiterals(raw, []content.Literal{found[0], found[2]})
	if want := ` {"a" : "\"", "n": 1.50, "b":[ "", {"c":"new\n"} ], "x\"": null} `; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, broken := range []string{"", `"`, `"\`, `{"a":"b`, `["a", "\x"]`, `"a" "b`} {
		if again := content.WithLiterals([]byte(broken), content.Literals([]byte(broken))); string(again) != broken {
			t.Errorf("%s became %s", broken, again)
		}
	}
}

// Entries share their fields with copies of them, so adding a field must leave the others as they are.
func TestFieldsWithMoreAreFieldsOfTheirOwn(t *testing.T) {
	a, b, c := content.Field{Name: "a", Value: []byte("1")}, content.Field{Name: "b"}, content.Field{Name: "c"}
	one := content.FieldsOf(append(make([]content.Field, 0, 8), a)...)
	two, other := one.With(b), one.With(c)
	if !one.Equal(content.FieldsOf(a)) || !two.Equal(content.FieldsOf(a, b)) || !other.Equal(content.FieldsOf(a, c)) {
		t.Errorf("got %v, %v and %v", one.All(), two.All(), other.All())
	}
	none := content.Fields{}
	if none.All() != nil || none.Has("a") || !none.Equal(content.FieldsOf()) || !none.With(a).Equal(one) {
		t.Errorf("the zero value has %v", none.All())
	}
}
