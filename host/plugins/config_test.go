package plugins

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

func ptr[T any](v T) *T { return &v }

var testFields = []sdk.ConfigField{
	{Key: "keep", Type: sdk.Integer, Default: 50, Minimum: ptr(1.0), Maximum: ptr(100.0)},
	{Key: "ratio", Type: sdk.Number},
	{Key: "verbose", Type: sdk.Boolean, Default: false},
	{Key: "mode", Type: sdk.String, Allowed: []string{"fast", "good"}},
}

func TestCheckConfig(t *testing.T) {
	tests := map[string]struct {
		values map[string]any
		want   string
		says   []string
	}{
		"defaults":              {nil, `{"keep":50,"verbose":false}`, nil},
		"everything":            {map[string]any{"keep": 7, "ratio": 0.5, "verbose": true, "mode": "fast"}, `{"keep":7,"ratio":0.5,"verbose":true,"mode":"fast"}`, nil},
		"text from a flag":      {map[string]any{"keep": "7", "ratio": "1e-3", "verbose": "true"}, `{"keep":7,"ratio":0.001,"verbose":true}`, nil},
		"whole float":           {map[string]any{"keep": 7.0, "ratio": 1}, `{"keep":7,"ratio":1,"verbose":false}`, nil},
		"json.Number":           {map[string]any{"keep": json.Number("7")}, `{"keep":7,"verbose":false}`, nil},
		"null is not set":       {map[string]any{"keep": nil}, `{"keep":50,"verbose":false}`, nil},
		"unknown":               {map[string]any{"kepe": 1}, "", []string{`strategies.s.kepe`, `did you mean "keep"?`, "it has keep, ratio, verbose, mode"}},
		"below the minimum":     {map[string]any{"keep": 0}, "", []string{"strategies.s.keep: the value 0 is out of bounds: from 1 to 100"}},
		"fraction":              {map[string]any{"keep": 1.5}, "", []string{"the value 1.5 is not a whole number from 1 to 100"}},
		"not a number":          {map[string]any{"ratio": "NaN"}, "", []string{`the value "NaN" is not a number`}},
		"not a boolean":         {map[string]any{"verbose": "yes"}, "", []string{`the value "yes" is not true or false`}},
		"not allowed":           {map[string]any{"mode": "slow"}, "", []string{`the value "slow" is not one of fast, good`}},
		"number for text":       {map[string]any{"mode": 5}, "", []string{`the value 5 is not text (in YAML, put it in quotes)`}},
		"table for a number":    {map[string]any{"keep": map[string]any{"a": 1}}, "", []string{`the value {"a":1} is not a whole number`}},
		"all problems at once":  {map[string]any{"keep": 0, "mode": "slow", "x": 1}, "", []string{"s.keep", "s.mode", "s.x"}},
		"long values are cut":   {map[string]any{"mode": strings.Repeat("x", 1000)}, "", []string{"…"}},
		"huge integer as float": {map[string]any{"keep": math.MaxFloat64}, "", []string{"not a whole number"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := checkConfig("s", testFields, test.values)
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if (err != nil) != (test.says != nil) || err != nil && !errors.Is(err, ErrBadConfig) {
				t.Fatalf("got %v", err)
			}
			for _, words := range test.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%v\ndoes not say %q", err, words)
				}
			}
		})
	}
}

func TestCheckConfigMakesJSONThatTheNextCheckAccepts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := map[string]any{
			"keep":    rapid.IntRange(1, 100).Draw(t, "keep"),
			"ratio":   rapid.Float64().Draw(t, "ratio"),
			"verbose": rapid.Bool().Draw(t, "verbose"),
		}
		first, err := checkConfig("s", testFields, in)
		if err != nil {
			t.Fatal(err)
		}
		var values map[string]any
		if err := json.Unmarshal(first, &values); err != nil {
			t.Fatal(err)
		}
		second, err := checkConfig("s", testFields, values)
		if err != nil || string(first) != string(second) {
			t.Fatalf("%s, then %s, %v", first, second, err)
		}
	})
}

func TestReadInfo(t *testing.T) {
	good := func() *threshv1.GetInfoResponse {
		return &threshv1.GetInfoResponse{
			Name: "s", Version: "1", Description: "one\x1b[31m\nline",
			Trigger: &threshv1.Trigger{Mode: threshv1.TriggerMode_TRIGGER_MODE_CONTINUOUS, DefaultThreshold: 1},
			Config: []*threshv1.ConfigField{
				{Key: "keep", Type: threshv1.ConfigType_CONFIG_TYPE_INTEGER, DefaultValue: []byte("50"), Minimum: ptr(1.0)},
				{Key: "mode", Type: threshv1.ConfigType_CONFIG_TYPE_STRING, Allowed: []string{"a"}, DefaultValue: []byte(`"a"`)},
			},
		}
	}
	want := sdk.Info{
		Name: "s", Version: "1", Description: "one\uFFFD[31m line", Trigger: sdk.Continuous(1),
		Config: []sdk.ConfigField{
			{Key: "keep", Type: sdk.Integer, Default: 50, Minimum: ptr(1.0)},
			{Key: "mode", Type: sdk.String, Allowed: []string{"a"}, Default: "a"},
		},
	}
	got, err := readInfo("s", good())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	tests := map[string]struct {
		change func(*threshv1.GetInfoResponse)
		says   string
	}{
		"another name":       {func(r *threshv1.GetInfoResponse) { r.Name = "other" }, "rename the file to thresh-strategy-other"},
		"name with a path":   {func(r *threshv1.GetInfoResponse) { r.Name = "../s" }, "single hyphens"},
		"no version":         {func(r *threshv1.GetInfoResponse) { r.Version = "" }, "version"},
		"unprintable":        {func(r *threshv1.GetInfoResponse) { r.Version = "1\n" }, "not printable"},
		"no trigger":         {func(r *threshv1.GetInfoResponse) { r.Trigger = nil }, "trigger mode"},
		"unknown trigger":    {func(r *threshv1.GetInfoResponse) { r.Trigger.Mode = 9 }, "trigger mode is 9"},
		"threshold 0":        {func(r *threshv1.GetInfoResponse) { r.Trigger.DefaultThreshold = 0 }, "default threshold 0"},
		"threshold above 1":  {func(r *threshv1.GetInfoResponse) { r.Trigger.DefaultThreshold = 1.1 }, "default threshold 1.1"},
		"threshold NaN":      {func(r *threshv1.GetInfoResponse) { r.Trigger.DefaultThreshold = math.NaN() }, "default threshold NaN"},
		"key twice":          {func(r *threshv1.GetInfoResponse) { r.Config[1].Key = "keep" }, `"keep" is declared twice`},
		"bad key":            {func(r *threshv1.GetInfoResponse) { r.Config[0].Key = "a.b" }, `its key "a.b"`},
		"no type":            {func(r *threshv1.GetInfoResponse) { r.Config[0].Type = 0 }, "unknown type"},
		"default no JSON":    {func(r *threshv1.GetInfoResponse) { r.Config[0].DefaultValue = []byte("{") }, "is no JSON"},
		"default of text":    {func(r *threshv1.GetInfoResponse) { r.Config[0].DefaultValue = []byte(`"5"`) }, "is no integer"},
		"default null":       {func(r *threshv1.GetInfoResponse) { r.Config[0].DefaultValue = []byte(`null`) }, "not a whole number"},
		"default too low":    {func(r *threshv1.GetInfoResponse) { r.Config[0].DefaultValue = []byte("0") }, "out of bounds"},
		"default disallowed": {func(r *threshv1.GetInfoResponse) { r.Config[1].DefaultValue = []byte(`"b"`) }, "not one of a"},
		"too many settings":  {func(r *threshv1.GetInfoResponse) { r.Config = make([]*threshv1.ConfigField, 1001) }, "declares 1001 settings"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := good()
			test.change(r)
			if _, err := readInfo("s", r); !errors.Is(err, ErrBadInfo) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}
