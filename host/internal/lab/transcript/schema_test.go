package transcript_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
)

// The schema accepts what the host accepts, on every sample, and refuses what it refuses.
func TestTheSchemaOfEntriesIsWhatTheHostTakes(t *testing.T) {
	var unresolved jsonschema.Schema
	text, err := os.ReadFile(repo.Path(t, "docs", "schema", "entry.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &unresolved); err != nil {
		t.Fatal(err)
	}
	schema, err := unresolved.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	validate := func(raw []byte) error {
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			return err
		}
		return schema.Validate(value)
	}
	n := 0
	for _, b := range []content.Block{content.Text{}, content.ToolCall{}, content.ToolResponse{}, content.Media{},
		content.Thinking{}, content.Code{}} {
		i := slices.IndexFunc(unresolved.Properties["blocks"].Items.AnyOf,
			func(s *jsonschema.Schema) bool { return s.Title == b.Kind() })
		if i < 0 {
			t.Fatalf("no block %q", b.Kind())
		}
		form := unresolved.Properties["blocks"].Items.AnyOf[i]
		if got, want := slices.Sorted(slices.Values(form.Required)), fields(t, b); !slices.Equal(got, want) {
			t.Errorf("an empty %s has the fields %v, the schema requires %v", b.Kind(), want, got)
		}
		if got, want := slices.Sorted(maps.Keys(form.Properties)), fields(t, filled(b)); !slices.Equal(got, want) {
			t.Errorf("a %s has the fields %v, the schema has %v", b.Kind(), want, got)
		}
	}
	for _, s := range samples.All() {
		for i, c := range s.History {
			problem := validate(c.AppendJSON(nil))
			if err := check.Content(c); (err == nil) != (problem == nil) {
				t.Errorf("%s, entry %d: the host says %v, the schema %v", s.Name, i, err, problem)
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
			if problem := validate(c.AppendJSON(nil)); problem != nil {
				t.Errorf("%s, entry %d: %v", file, i, problem)
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
		if validate([]byte(wrong)) == nil {
			t.Errorf("the schema takes %s", wrong)
		}
	}
}

// fields are the names in the JSON form of a block.
func fields(t *testing.T, b content.Block) []string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(content.AppendBlock(nil, b), &all); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(all))
}

// filled returns a block in which every field has a value.
func filled(b content.Block) content.Block {
	v := reflect.New(reflect.TypeOf(b)).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Kind() == reflect.String:
			f.SetString("x")
		case f.Type() == reflect.TypeFor[json.RawMessage]():
			f.SetBytes([]byte("{}"))
		}
	}
	return v.Interface().(content.Block)
}
