package transcript_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/transcript"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/jsonschema"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/internal/testkit/samples"
	"github.com/thresh-dev/thresh/sdk/content"
)

// The schema accepts what the host accepts, on every sample, and refuses what it refuses.
func TestTheSchemaOfEntriesIsWhatTheHostTakes(t *testing.T) {
	schema := jsonschema.Parse(t, transcript.EntrySchema())
	n := 0
	for _, s := range samples.All() {
		for i, c := range s.History {
			problem := schema.Validate(json.RawMessage(c.AppendJSON(nil)))
			if err := check.Content(c); (err == nil) != (problem == "") {
				t.Errorf("%s, entry %d: the host says %v, the schema %q", s.Name, i, err, problem)
			}
			n++
		}
	}
	files, err := filepath.Glob(repo.Path(t, "examples", "sessions", "*.json*"))
	if err != nil || len(files) == 0 || n < 1000 {
		t.Fatal(files, err, n)
	}
	for _, file := range files {
		tr, err := transcript.ReadFile(file, transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range tr.Entries {
			if problem := schema.Validate(json.RawMessage(c.AppendJSON(nil))); problem != "" {
				t.Errorf("%s, entry %d: %s", file, i, problem)
			}
		}
	}
	for _, wrong := range []string{
		`7`, `{}`, `{"speaker":"robot","blocks":[{"type":"text","text":"x"}]}`, `{"speaker":"human","blocks":[]}`,
		`{"speaker":"human","blocks":[{"type":"text"}]}`, `{"speaker":"human","blocks":[{"type":"text","text":7}]}`,
		`{"speaker":"human","blocks":[{"type":"tool_call","id":"1","name":"f"}]}`,
		`{"speaker":"ai","blocks":[{"type":"tool_response","callId":"1","toolName":"f"}]}`,
		`{"speaker":"ai","blocks":[{"type":"tool_call","id":"","name":"f"}]}`, `{"speaker":"ai","blocks":[null]}`,
	} {
		var c content.Content
		if err := c.UnmarshalJSON([]byte(wrong)); err == nil && check.Content(c) == nil {
			t.Errorf("the host takes %s", wrong)
		}
		if schema.Validate(json.RawMessage(wrong)) == "" {
			t.Errorf("the schema takes %s", wrong)
		}
	}
}
