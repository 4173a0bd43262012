package sdk_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk"
)

func TestInfoRules(t *testing.T) {
	field := func(f sdk.ConfigField) func(*sdk.Info) {
		return func(i *sdk.Info) { i.Config = []sdk.ConfigField{f} }
	}
	tests := map[string]struct {
		change func(*sdk.Info)
		says   string // "": it is valid
	}{
		"valid":       {func(*sdk.Info) {}, ""},
		"threshold 1": {func(i *sdk.Info) { i.Trigger = sdk.Continuous(1) }, ""},
		"threshold 0": {func(i *sdk.Info) { i.Trigger = sdk.Threshold(0) }, "above 0 and at most 1"},
		"threshold NaN": {func(i *sdk.Info) { i.Trigger = sdk.Threshold(math.NaN()) },
			"above 0 and at most 1"},
		"early threshold": {func(i *sdk.Info) { i.Trigger = sdk.Threshold(0.8).Early(0.8) }, ""},
		"early threshold above the other": {func(i *sdk.Info) { i.Trigger = sdk.Threshold(0.8).Early(0.9) },
			"at most the default threshold, 0.8"},
		"early threshold NaN": {func(i *sdk.Info) { i.Trigger = sdk.Threshold(0.8).Early(math.NaN()) },
			"at most the default threshold"},
		"no trigger":                {func(i *sdk.Info) { i.Trigger.Mode = "" }, "sdk.Continuous or sdk.Threshold"},
		"name with two hyphens":     {func(i *sdk.Info) { i.Name = "a--b" }, "Info.Name"},
		"name that starts with one": {func(i *sdk.Info) { i.Name = "-a" }, "Info.Name"},
		"version with a line break": {func(i *sdk.Info) { i.Version = "1\n2" }, "Info.Version"},
		"a full field": {field(sdk.ConfigField{Key: "n", Type: sdk.Number, Default: 2, Minimum: new(1.0),
			Maximum: new(2.0)}), ""},
		"key with a dot": {field(sdk.ConfigField{Key: "a.b", Type: sdk.String}), "a key is"},
		"no type":        {field(sdk.ConfigField{Key: "a"}), `the type is ""`},
		"default of another type": {field(sdk.ConfigField{Key: "a", Type: sdk.Boolean, Default: "true"}),
			"not of type boolean"},
		"default with a fraction": {field(sdk.ConfigField{Key: "a", Type: sdk.Integer, Default: 1.5}),
			"not of type integer"},
		"whole number as a float": {field(sdk.ConfigField{Key: "a", Type: sdk.Integer, Default: 3.0}), ""},
		"default that is infinite": {field(sdk.ConfigField{Key: "a", Type: sdk.Number, Default: math.Inf(1)}),
			"not of type number"},
		"default out of bounds": {field(sdk.ConfigField{Key: "a", Type: sdk.Integer, Default: 0, Minimum: new(1.0)}),
			"out of bounds"},
		"default not allowed": {field(sdk.ConfigField{Key: "a", Type: sdk.String, Default: "c",
			Allowed: []string{"a", "b"}}), `"c" is not one of`},
		"bounds the wrong way": {field(sdk.ConfigField{Key: "a", Type: sdk.Number, Minimum: new(2.0),
			Maximum: new(1.0)}), "above the Maximum"},
		"bounds of a string": {field(sdk.ConfigField{Key: "a", Type: sdk.String, Minimum: new(2.0)}),
			"Minimum and Maximum go with"},
		"allowed values of a number": {field(sdk.ConfigField{Key: "a", Type: sdk.Number, Allowed: []string{"1"}}),
			"Allowed goes with"},
		"a key twice": {func(i *sdk.Info) {
			i.Config = []sdk.ConfigField{{Key: "a", Type: sdk.String}, {Key: "a", Type: sdk.String}}
		}, "stands twice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			info := sdk.Info{Name: "keep-last-2", Version: "1.0.0-rc1", Trigger: sdk.Threshold(0.8)}
			tt.change(&info)
			err := info.Validate()
			if (err == nil) != (tt.says == "") || (err != nil && !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("error %v; want one that says %q", err, tt.says)
			}
		})
	}
}

func TestTriggerAndMethodsMustAgree(t *testing.T) {
	tests := map[string]struct {
		strategy sdk.Strategy
		says     string
	}{
		"continuous with Optimize":    {pruner{}, ""},
		"continuous without Optimize": {unpruned{}, "no method Optimize"},
		"threshold with Optimize":     {mute{}, "the host would never call it"},
		"no strategy":                 {nil, "not nil"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := sdk.Check(tt.strategy)
			if (err == nil) != (tt.says == "") || (err != nil && !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("error %v; want one that says %q", err, tt.says)
			}
		})
	}
}

type pruner struct{ sdk.Strategy }

func (pruner) Info() sdk.Info {
	return sdk.Info{Name: "pruner", Version: "1", Trigger: sdk.Continuous(0.5)}
}

func (pruner) Optimize(context.Context, sdk.OptimizeInput) (sdk.DensityResult, error) {
	return sdk.DensityResult{}, nil
}

// mute has Optimize, but a trigger by which it is not called.
type mute struct{ pruner }

func (mute) Info() sdk.Info {
	return sdk.Info{Name: "mute", Version: "1", Trigger: sdk.Threshold(0.5)}
}

// unpruned has a trigger by which Optimize is called, but no Optimize.
type unpruned struct{ sdk.Strategy }

func (unpruned) Info() sdk.Info { return pruner{}.Info() }
