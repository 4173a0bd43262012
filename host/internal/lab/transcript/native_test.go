package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

func read(t *testing.T, s string) *transcript.Transcript {
	t.Helper()
	tr, err := transcript.Read(strings.NewReader(s), transcript.Options{})
	if err != nil {
		t.Fatalf("%v\n%.300s", err, s)
	}
	return tr
}

// entries returns the entries in the native form, one a line.
func entries(tr *transcript.Transcript) string {
	var b []byte
	for _, c := range tr.Entries {
		b = append(c.AppendJSON(b), '\n')
	}
	return string(b)
}

func write(t *testing.T, tr *transcript.Transcript, f transcript.Format) (string, []string) {
	t.Helper()
	var out bytes.Buffer
	notes, err := transcript.Write(&out, tr, f)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), messages(notes)
}

// messages returns notes as texts; "~ " stands before routine remarks.
func messages(notes []transcript.Note) []string {
	var out []string
	for _, n := range notes {
		text := n.String()
		if n.Routine {
			text = "~ " + text
		}
		out = append(out, text)
	}
	return out
}

func TestNativeFormsComeBackInTheFormInWhichTheyStood(t *testing.T) {
	const (
		a = `{"speaker":"human","blocks":[{"type":"text","text":"a` + "\u2028" +
			`b"}],"metadata":{"n":1.50},"x":[1, 2]}`
		b = `{"speaker":"ai","blocks":[{"type":"tool_call","id":"1","name":"n","parameters":{"z":1,` +
			`"a":12345678901234567890}}]}`
	)
	for name, tt := range map[string]struct{ in, out string }{
		"list":             {"[" + a + ", " + b + "]", "[\n" + a + ",\n" + b + "\n]\n"},
		"many lines":       {"\n [\n" + a + "\n,\n" + b + "]\n\n", "[\n" + a + ",\n" + b + "\n]\n"},
		"one entry a line": {a + "\n\n" + b + "\n", "[\n" + a + ",\n" + b + "\n]\n"},
		"one entry":        {a, "[\n" + a + "\n]\n"},
		"empty list":       {"[]", "[\n]\n"},
		"wrapper": {`{"id":"s1","history":[` + a + `],"tools":["n"],"weight":1.0}`,
			"{\"id\":\"s1\",\n\"tools\":[\"n\"],\n\"weight\":1.0,\n\"history\":[\n" + a + "\n]}\n"},
		"byte order mark":  {"\ufeff[" + a + "]", "[\n" + a + "\n]\n"},
		"carriage returns": {a + "\r\n" + b + "\r\n", "[\n" + a + ",\n" + b + "\n]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := read(t, tt.in)
			if tr.Format != transcript.Native || len(tr.Notes) > 0 {
				t.Errorf("read as %s with notes %v", tr.Format, tr.Notes)
			}
			out, notes := write(t, tr, transcript.Native)
			if diff := cmp.Diff(tt.out, out); diff != "" || len(notes) > 0 {
				t.Error(diff, notes)
			}
		})
	}
}

func TestNativeHistoriesSurviveByteForByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := gen.History(gen.Options{Malformed: true, MediaBlocks: true}).Draw(t, "history")
		var out bytes.Buffer
		if notes, err := transcript.Write(&out, &transcript.Transcript{Entries: history},
			transcript.Native); err != nil ||
			len(notes) > 0 {
			t.Fatal(notes, err)
		}
		back, err := transcript.Read(bytes.NewReader(out.Bytes()), transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(back.Entries) != len(history) || len(back.Lines) != len(history) {
			t.Fatalf("%d entries became %d on %d lines", len(history), len(back.Entries), len(back.Lines))
		}
		for i, c := range back.Entries {
			if !c.Equal(history[i]) {
				t.Fatalf("entry %d changed:\n%s\n%s", i, history[i].AppendJSON(nil), c.AppendJSON(nil))
			}
		}
		var again bytes.Buffer
		if _, err := transcript.Write(&again, back, transcript.Native); err != nil ||
			!bytes.Equal(out.Bytes(), again.Bytes()) {
			t.Fatalf("not stable:\n%s\n%s", out.Bytes(), again.Bytes())
		}
	})
}

func TestOddEntriesAreReadAndNoted(t *testing.T) {
	const in = `{"history":[
{"speaker":"narrator","blocks":[]},
{"speaker":"ai"},
{"speaker":"ai","blocks":[null,{"type":"hologram"},{"type":"text"},7]},
{"speaker":"ai","blocks":[{"type":"tool_call","id":"1","name":"n"},{"type":"tool_call","id":"1","name":"n"}]},
{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n"},{"type":"tool_response","callId":"2","toolName":"n"}]}
],"boundaries":[{"index":2,"kind":"compact_boundary","meta":{"preTokens":9}},{"index":6},"x"]}`
	tr := read(t, in)
	want := []string{
		`boundaries[1] is not used: its index is not a position in the history`,
		`boundaries[2] is not used: its index is not a position in the history`,
		`line 2, entry 0: unknown speaker "narrator"; the entry is carried unchanged`,
		`line 3, entry 1: the entry has no blocks; it is carried unchanged`,
		`line 4, entry 2: block 0 is null, not a block; it is carried unchanged`,
		`line 4, entry 2: block 1 is of the unknown kind "hologram"; it is carried unchanged`,
		`line 4, entry 2: block 2 of kind "text" is malformed; it is carried unchanged`,
		`line 4, entry 2: block 3 is 7, not a block; it is carried unchanged`,
		`line 5, entry 3: block 1 repeats the call id "1"`,
		`line 6, entry 4: block 1 answers the call "2", which is not open before it`,
	}
	if diff := cmp.Diff(want, messages(tr.Notes)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]transcript.Boundary{{Index: 2, Kind: "compact_boundary", Meta: []byte(`{"preTokens":9}`)}},
		tr.Boundaries); diff != "" {
		t.Error(diff)
	}
	out, _ := write(t, tr, transcript.Native)
	if diff := cmp.Diff(entries(tr), entries(read(t, out))); diff != "" {
		t.Error(diff)
	}
}

func TestBadFilesGetOneErrorThatSaysWhere(t *testing.T) {
	const entry = `{"speaker":"human","blocks":[]}`
	const claude = `{"type":"user","message":{"role":"user","content":"hi"}}`
	for name, tt := range map[string]struct {
		in     string
		reason error
		want   string
	}{
		"empty":                  {"", transcript.ErrEmpty, "empty file"},
		"blank":                  {" \n\n\t", transcript.ErrEmpty, "empty file"},
		"only a byte order mark": {"\ufeff", transcript.ErrEmpty, "empty file"},
		"NUL bytes":              {"\x7fELF\x00\x00", transcript.ErrBinary, "NUL"},
		"UTF-16":                 {"\xff\xfe[\x00]\x00", transcript.ErrBinary, "iconv -f UTF-16"},
		"gzip":                   {"\x1f\x8b\x08\xff\xfe\xfd", transcript.ErrBinary, "gunzip -c"},
		"a database":             {"SQLite format 3\x00\x10", transcript.ErrBinary, "SQLite"},
		"not UTF-8":              {"\xe9t\xe9", transcript.ErrBinary, "not UTF-8;"},
		"prose":                  {"# notes", transcript.ErrUnknownFormat, "supported: native"},
		"number":                 {"42", transcript.ErrUnknownFormat, "supported: native, claude-code"},
		"unknown object":         {`{"foo":1,"bar":{}}`, transcript.ErrUnknownFormat, `fields "foo", "bar"`},
		"a trajectory of SWE-agent": {`{"trajectory":[],"history":[{"role":"user","content":"go"}]}`,
			transcript.ErrUnsupportedFormat, "mini-swe-agent"},
		"empty object": {`{}`, transcript.ErrUnknownFormat, "an empty JSON object"},
		"unknown list": {"[\n{\"foo\":1}]", transcript.ErrUnknownFormat, `"foo"`},
		"unknown lines": {"{\"foo\":1}\n{\"foo\":2}\n", transcript.ErrUnknownFormat,
			`line 1: unknown format: a JSON object with the fields "foo"`},
		"truncated list":      {"[" + entry + ",\n{\"speak", transcript.ErrTruncated, "line 2 (byte 41)"},
		"truncated only line": {`{"history":[`, transcript.ErrTruncated, "line 1 (byte 12)"},
		"truncated last line": {claude + "\n" + `{"type":"us`, transcript.ErrTruncated, "line 2 (byte 68)"},
		"truncated in a char": {claude + "\n" + `{"type":"` + "\xe2\x80", transcript.ErrTruncated, "line 2"},
		"broken list":         {"[\n" + entry + "\n" + entry + "]", transcript.ErrSyntax, "line 3 (byte 34)"},
		"broken first line":   {`{"type":"user",}` + "\n" + claude, transcript.ErrSyntax, "line 1 (byte 15)"},
		"entry that is no object": {"[\n" + entry + ",\nnull]", transcript.ErrMalformed,
			"line 3, entry 1: malformed transcript: not a history entry"},
		"broken line of thresh's own": {entry + "\n\n{]\n" + entry, transcript.ErrSyntax,
			"line 3 (byte"},
		"list of numbers": {"[1]", transcript.ErrMalformed, "entry 0"},
		"speaker no string": {`{"history":[{"speaker":5}]}`, transcript.ErrMalformed,
			"entry 0: malformed transcript: not a history entry: speaker is 5, not a string"},
		"blocks no list": {entry + "\n" + `{"speaker":"ai","blocks":{}}`, transcript.ErrMalformed,
			"line 2, entry 1"},
		"history no list": {"{\n\"history\":{}}", transcript.ErrMalformed,
			"line 2 (byte 12): malformed transcript: history is {}, not a list"},
		"history null": {`{"history":null}`, transcript.ErrMalformed, "history is null"},
		"message no object": {`[{"role":"user","content":"x"},7]`, transcript.ErrMalformed,
			"entry 1: malformed transcript: message is 7"},
		"several conversations": {`{"messages":[]}` + "\n" + `{"messages":[]}`, transcript.ErrMalformed,
			"one conversation at a time"},
		"list of conversations": {`[{"messages":[]},{"messages":[]}]`, transcript.ErrMalformed,
			"one conversation at a time"},
		"list and more": {"[]\n[]\n", transcript.ErrMalformed, "line 2"},
		"bookkeeping only": {`{"type":"summary","leafUuid":"x","summary":"y"}`, transcript.ErrEmpty,
			"without any message"},
	} {
		t.Run(name, func(t *testing.T) {
			tr, err := transcript.Read(strings.NewReader(tt.in), transcript.Options{})
			var e *transcript.Error
			if !errors.As(err, &e) || !errors.Is(err, tt.reason) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v; want %v with %q", tr, err, tt.reason, tt.want)
			}
		})
	}
}

func TestFilesThatAreNoneAreRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := transcript.ReadFile(dir, transcript.Options{}); !errors.Is(err, transcript.ErrDirectory) ||
		!strings.Contains(err.Error(), dir) {
		t.Errorf("directory: %v", err)
	}
	if _, err := transcript.ReadFile(dir+"/none.json", transcript.Options{}); err == nil ||
		!strings.Contains(err.Error(), "none.json") {
		t.Errorf("missing: %v", err)
	}
}

func TestTheLimitHoldsForEveryForm(t *testing.T) {
	big := strings.Repeat("x", 4000)
	entry := fmt.Sprintf(`{"speaker":"human","blocks":[{"type":"text","text":%q}]}`, big)
	for name, in := range map[string]string{
		"one line": "[" + entry + "]", "document": "[\n" + entry + "\n]", "lines": entry + "\n" + entry,
		"spaces": strings.Repeat(" ", 6000) + "[]",
	} {
		if _, err := transcript.Read(strings.NewReader(in), transcript.Options{MaxBytes: 4000}); !errors.Is(
			err,
			transcript.ErrTooLarge,
		) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := transcript.Read(strings.NewReader(in), transcript.Options{MaxBytes: int64(len(in))}); err != nil {
			t.Errorf("%s, at the limit: %v", name, err)
		}
	}
}

func TestAFileThatIsBeingWrittenIsReadIfAskedFor(t *testing.T) {
	const in = `{"speaker":"human","blocks":[]}` + "\n" + `{"speaker":"ai","blo`
	tr, err := transcript.Read(strings.NewReader(in), transcript.Options{AllowCut: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"line 2: the last record is cut off and was left out"},
		messages(tr.Notes)); diff != "" ||
		len(tr.Entries) != 1 {
		t.Error(diff, len(tr.Entries))
	}
	if _, err := transcript.Read(strings.NewReader(in+"\n"), transcript.Options{AllowCut: true}); !errors.Is(
		err,
		transcript.ErrTruncated,
	) {
		t.Errorf("a line with an end is not being written: %v", err)
	}
}

func TestManyOdditiesAreCounted(t *testing.T) {
	tr := read(t, "["+strings.Repeat(`{"speaker":"narrator","blocks":[]},`, 1000)+`{"speaker":"ai"}]`)
	got := messages(tr.Notes)
	want := []string{
		`line 1, entry 9: unknown speaker "narrator"; the entry is carried unchanged`,
		`line 1, entry 1000: the entry has no blocks; it is carried unchanged`,
		`line 1, entry 10: 990 × further entry of an unknown speaker (the first is here)`,
	}
	if diff := cmp.Diff(want, got[min(9, len(got)):]); diff != "" {
		t.Error(diff)
	}
}

func TestBytesThatAreNotUTF8AreReplacedAndNoted(t *testing.T) {
	tr := read(
		t,
		"{\"speaker\":\"human\",\"blocks\":[]}\n{\"speaker\":\"tool\",\"blocks\":[{\"type\":\"text\","+
			"\"text\":\"a\xffb\"}]}\n",
	)
	if got := tr.Entries[1].Blocks[0].(content.Text).Text; got != "a\ufffdb" {
		t.Errorf("got %q", got)
	}
	if diff := cmp.Diff([]string{"line 2: bytes that are not UTF-8 were replaced by U+FFFD"},
		messages(tr.Notes)); diff != "" {
		t.Error(diff)
	}
}

func TestFormats(t *testing.T) {
	for _, f := range transcript.Formats() {
		if got, err := transcript.ParseFormat(string(f.Format)); err != nil || got != f.Format {
			t.Errorf("ParseFormat(%s) = %s, %v", f.Format, got, err)
		}
		_, err := transcript.Write(&bytes.Buffer{}, &transcript.Transcript{}, f.Format)
		if f.Writes != (err == nil) {
			t.Errorf("%s: writes: %v, but got %v", f.Format, f.Writes, err)
		}
	}
	if _, err := transcript.ParseFormat("gemini"); !errors.Is(err, transcript.ErrUnknownFormat) ||
		!strings.Contains(err.Error(), "gemini-cli") {
		t.Errorf("got %v", err)
	}
}

// FuzzRead: any bytes give a transcript or one typed error, and what was read can be written and read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"history":[{"speaker":"ai","blocks":[null]}],"boundaries":[{"index":1}]}`,
		"{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"1\"," +
			"\"content\":[{\"type\":\"image\"}]},{\"type\":\"text\",\"text\":\"x\"}]}}\n" +
			"{\"type\":\"assistant\",\"message\":{\"id\":\"1\",\"content\":[{\"type\":\"tool_use\",\"id\":\"1\"," +
			"\"input\":7}]}}\n",
		"{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"arguments\":\"{\"}}\n" +
			"{\"type\":\"compacted\",\"payload\":{\"replacement_history\":[{}]}}\n",
		`{"sessionId":"1","messages":[{"type":"gemini","toolCalls":[{"result":[{}],"status":"x"}],"thoughts":[1]}]}`,
		`[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"n","arguments":"x"}}]},` +
			`{"role":"tool","tool_call_id":"1"},{"role":"exit"}]`,
		"[1,", "{}\n{}", "\xef\xbb\xbf[]", "{\"speaker\":\"\xff\"}\n{",
	} {
		f.Add([]byte(seed), uint8(len(transcript.Formats())))
	}
	for _, sample := range agentSamples {
		for from := range len(transcript.Formats()) + 1 {
			f.Add([]byte(sample.in), uint8(from))
		}
	}
	formats := append(transcript.Formats(), transcript.FormatInfo{}) // "" is detected
	f.Fuzz(func(t *testing.T, data []byte, from uint8) {
		tr, err := transcript.Read(bytes.NewReader(data),
			transcript.Options{AllowCut: true, From: formats[int(from)%len(formats)].Format})
		if err != nil {
			var e *transcript.Error
			if !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if len(tr.Lines) != len(tr.Entries) {
			t.Fatalf("%d entries, %d lines", len(tr.Entries), len(tr.Lines))
		}
		for _, f := range formats {
			if !f.Writes {
				continue
			}
			var out bytes.Buffer
			if _, err := transcript.Write(&out, tr, f.Format); err != nil {
				t.Fatal(err)
			}
			back, err := transcript.Read(bytes.NewReader(out.Bytes()), transcript.Options{From: f.Format})
			if err != nil {
				t.Fatalf("%s: %v\n%s", f.Format, err, out.Bytes())
			}
			if f.Format == transcript.Native && entries(tr) != entries(back) {
				t.Fatalf("changed:\n%s\n%s", entries(tr), entries(back))
			}
		}
	})
}

// BenchmarkRead reads a made session of 5,000 entries, about 4 MB.
func BenchmarkRead(b *testing.B) {
	var native bytes.Buffer
	if _, err := transcript.Write(&native, &transcript.Transcript{Entries: gen.Session(5000, 1)},
		transcript.Native); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(native.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := transcript.Read(bytes.NewReader(native.Bytes()), transcript.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
