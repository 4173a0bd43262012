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
		entry string // the first, as it is written
	}{
		"none": {"{" + rest + "}\n{" + rest + "}\n", "{" + rest + "}"},
		"in each line": {`{"threshId":"e1",` + rest + "}\n" + `{"threshId":"e7",` + rest + "}\n",
			"{" + rest + "}"},
		"in one line": {"{" + rest + "}\n" + `{"threshId":"e7",` + rest + "}\n{" + rest + "}\n",
			"{" + rest + "}"},
		"in the only line": {`{"threshId":"e1",` + rest + "}\n", "{" + rest + "}"},
		"with white space": {` { "threshId" : "e1" , ` + rest + " }\n{" + rest + "}\n",
			"{" + rest + "}"},
		"in a list": {`[{"threshId":"e1",` + rest + "},{" + rest + "}]",
			"{" + rest + "}"},
		"escaped": {`{"threshId":"\u0065\"",` + rest + "}\n{" + rest + "}\n",
			"{" + rest + "}"},
		"a field of the entry": {"{" + rest + `,"threshId":"e1"}` + "\n{" + rest + "}\n", "{" + rest +
			`,"threshId":"e1"}`},
		"next to the entry's field": {`{"threshId":"e1",` + rest + `,"threshId":"own"}` + "\n{" + rest + "}\n",
			"{" + rest + `,"threshId":"own"}`},
		"no string": {`{"threshId":7,` + rest + "}\n{" + rest + "}\n", "{" + rest + `,"threshId":7}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := transcript.Read(strings.NewReader(test.file), transcript.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.entry, string(got.Entries[0].AppendJSON(nil))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
