package tools_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk/tools"
)

func TestWrongRulesAreNamed(t *testing.T) {
	tests := map[string]struct {
		rule  string // the second rule
		field string
		say   string
	}{
		"no name":           {`{"class":"read"}`, "names", "at least one name"},
		"empty name":        {`{"names":[""],"class":"read"}`, "names", "none may be empty"},
		"no class":          {`{"names":["x"]}`, "class", "read, write, search"},
		"a directory":       {`{"names":["x"],"class":"shell","directory":"x"}`, "directory", "none of kept, own"},
		"a directory, read": {`{"names":["x"],"class":"read","directory":"kept"}`, "directory", "not for a rule"},
		"wrong class":       {`{"names":["x"],"class":"reads"}`, "class", `"reads"`},
		"wrong type":        {`{"names":"x","class":"read"}`, "names", "string"},
		"wrong type inside": {`{"names":["x"],"class":"read","paths":[1]}`, "paths", "number"},
		"no object":         {`7`, "", "number"},
		"misspelt":          {`{"names":["x"],"class":"read","path":["p"]}`, "path", "no such field"},
		"wrong locator": {`{"names":["x"],"class":"read","paths":["p","files[]path"]}`, "paths[1]",
			`"files[]path"`},
		"empty locator":           {`{"names":["x"],"class":"read","paths":[""]}`, "paths[0]", "locator"},
		"locator without member":  {`{"names":["x"],"class":"read","paths":["a[]."]}`, "paths[0]", "locator"},
		"command of a read":       {`{"names":["x"],"class":"read","command":["c"]}`, "command", `"read"`},
		"paths of a shell":        {`{"names":["x"],"class":"shell","paths":["c"]}`, "paths", `"shell"`},
		"range of a write":        {`{"names":["x"],"class":"write","range":["c"]}`, "range", `"write"`},
		"whole without paths":     {`{"names":["x"],"class":"write","whole":true}`, "whole", "paths"},
		"condition without value": {`{"names":["x"],"class":"read","when":{"a":[]}}`, "when", `"a"`},
		"empty sign":              {`{"names":["x"],"class":"write","failure":{"prefix":[""]}}`, "failure", "empty"},
		"no sign":                 {`{"names":["x"],"class":"write","failure":{}}`, "failure", "at least one"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tools.Parse([]byte(`{"rules":[{"names":["ok"],"class":"other"},` + tt.rule + `]}`))
			var wrong *tools.RuleError
			if !errors.As(err, &wrong) {
				t.Fatalf("got %v, want a RuleError", err)
			}
			if wrong.Index != 1 || wrong.Field != tt.field || !strings.Contains(err.Error(), tt.say) {
				t.Errorf("index %d, field %q: %v", wrong.Index, wrong.Field, err)
			}
		})
	}
}

func TestWrongDocuments(t *testing.T) {
	tests := map[string]struct{ doc, say string }{
		"nothing":       {``, "EOF"},
		"broken":        {"{\"rules\":[\n{]}", "line 2"},
		"more":          {"{\"rules\":[]}\n{}", "line 2"},
		"unknown field": {`{"rule":[]}`, `"rule"`},
		"a string":      {`"rules"`, "string"},
		"broken list":   {`[{]`, "line 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := tools.Parse([]byte(tt.doc)); err == nil || !strings.Contains(err.Error(), tt.say) {
				t.Errorf("got %v, want one with %s", err, tt.say)
			}
		})
	}
}

func TestJSONRoundTrip(t *testing.T) {
	taxonomy := mustPresets(t, tools.PresetNames()...)
	again, err := tools.Parse(taxonomy.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(taxonomy.JSON()), string(again.JSON())); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(string(taxonomy.JSON()), `\u003c`) {
		t.Error("JSON escapes what needs no escape")
	}
}

func TestANewerRuleHidesTheToolAndNothingElse(t *testing.T) {
	const doc = `{"version":2,"rules":[
		{"names":["mv","edit*"],"class":"move","from":["a"]},
		{"names":["edit_file","read_file"],"class":"read","paths":["path"]}]}`
	taxonomy, err := tools.ParseNewer([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	params := json.RawMessage(`{"path":"a"}`)
	if u := taxonomy.Use("edit_file", params); u.Class != tools.ClassOther || len(u.Reads) > 0 {
		t.Errorf("a later rule was taken: %+v", u)
	}
	if u := taxonomy.Use("read_file", params); len(u.Reads) != 1 {
		t.Errorf("a rule that is understood does not count: %+v", u)
	}
	if _, err := tools.ParseNewer([]byte(`{"rules":[{"tools":["x"],"class":"move"}]}`)); err == nil {
		t.Error("a rule that names no tool was accepted")
	}
}

func TestForPresets(t *testing.T) {
	own := tools.Rule{Names: []string{"Read"}, Class: tools.ClassOther}
	taxonomy, err := tools.ForPresets([]string{"claude-code"}, []tools.Rule{own})
	if err != nil {
		t.Fatal(err)
	}
	if u := taxonomy.Use("Read", json.RawMessage(`{"file_path":"a"}`)); u.Class != tools.ClassOther {
		t.Errorf("the preset was preferred to the own rule: %+v", u)
	}
	if _, err := tools.ForPresets([]string{"claude"}, nil); err == nil ||
		!strings.Contains(err.Error(), "claude-code") {
		t.Errorf("got %v, want an error that names the presets", err)
	}
	var wrong *tools.RuleError
	if _, err := tools.ForPresets(nil, []tools.Rule{own, {}}); !errors.As(err, &wrong) || wrong.Index != 1 {
		t.Errorf("got %v, want a RuleError for rule 1", err)
	}
}

func TestARuleOfTheCallerMayChangeAfterwards(t *testing.T) {
	rule := tools.Rule{Names: []string{"r"}, When: map[string][]string{"mode": {"all"}}, Class: tools.ClassRead,
		Paths: []string{"path"}}
	taxonomy, err := tools.New(rule)
	if err != nil {
		t.Fatal(err)
	}
	rule.Names[0], rule.Paths[0], rule.When["mode"][0] = "x", "x", "x"
	if u := taxonomy.Use("r", json.RawMessage(`{"mode":"all","path":"a"}`)); len(u.Reads) != 1 {
		t.Errorf("the taxonomy changed too: %+v", u)
	}
}

func TestEveryPresetFileIsAPreset(t *testing.T) {
	files, err := fs.Glob(os.DirFS("presets"), "*.json")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range tools.PresetNames() {
		known[name] = true
		if rules, ok := tools.Preset(name); !ok || len(rules) == 0 {
			t.Errorf("preset %s has no rules", name)
		}
	}
	for _, file := range files {
		if name := strings.TrimSuffix(file, ".json"); !known[name] {
			t.Errorf("presets/%s is in no list", file)
		}
	}
	if len(files) != len(known) {
		t.Errorf("%d files for %d presets", len(files), len(known))
	}
}
