package transcript_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

// The id that a host puts before an entry is taken off, however the line was laid out since; nothing else is.
func TestIDsBeforeEntries(t *testing.T) {
	const rest = `"speaker":"human","blocks":[{"type":"text","text":"a"}]`
	for name, test := range map[string]struct {
		file  string
		ids   []string
		entry string // the first, as it is written
	}{
		"none": {"{" + rest + "}\n{" + rest + "}\n", nil, "{" + rest + "}"},
		"in each line": {`{"threshId":"e1",` + rest + "}\n" + `{"threshId":"e7",` + rest + "}\n",
			[]string{"e1", "e7"}, "{" + rest + "}"},
		"in one line": {"{" + rest + "}\n" + `{"threshId":"e7",` + rest + "}\n{" + rest + "}\n",
			[]string{"", "e7", ""}, "{" + rest + "}"},
		"in the only line": {`{"threshId":"e1",` + rest + "}\n", []string{"e1"}, "{" + rest + "}"},
		"with white space": {` { "threshId" : "e1" , ` + rest + " }\n{" + rest + "}\n", []string{"e1", ""},
			"{" + rest + "}"},
		"in a list": {`[{"threshId":"e1",` + rest + "},{" + rest + "}]", []string{"e1", ""},
			"{" + rest + "}"},
		"escaped": {`{"threshId":"\u0065\"",` + rest + "}\n{" + rest + "}\n", []string{`e"`, ""},
			"{" + rest + "}"},
		"a field of the entry": {"{" + rest + `,"threshId":"e1"}` + "\n{" + rest + "}\n", nil, "{" + rest +
			`,"threshId":"e1"}`},
		"next to the entry's field": {`{"threshId":"e1",` + rest + `,"threshId":"own"}` + "\n{" + rest + "}\n",
			[]string{"e1", ""}, "{" + rest + `,"threshId":"own"}`},
		"no string": {`{"threshId":7,` + rest + "}\n{" + rest + "}\n", nil, "{" + rest + `,"threshId":7}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := transcript.Read(strings.NewReader(test.file), transcript.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.ids, got.IDs); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.entry, string(got.Entries[0].AppendJSON(nil))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
