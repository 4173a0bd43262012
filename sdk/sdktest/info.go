package sdktest

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/thresh-dev/thresh/sdk"
)

// CheckInfo fails the test, problem by problem, if what a strategy says of itself would keep it from starting as a
// plugin, or if it does not say the same each time.
func CheckInfo(tb testing.TB, s sdk.Strategy) {
	tb.Helper()
	if err := checkInfo(s); err != nil {
		tb.Error(err)
	}
}

func checkInfo(s sdk.Strategy) error {
	if err := sdk.Check(s); err != nil {
		return err // without a valid Info there is nothing to compare
	}
	if first, second := s.Info(), s.Info(); !reflect.DeepEqual(first, second) {
		return fmt.Errorf("Info says %+v the first time and %+v the second; it must always be the same", first, second)
	}
	return nil
}

// checkSetting reports whether value is one that may be given to a declared setting.
func checkSetting(f sdk.ConfigField, value any) error {
	f.Default = value // the rules for a default are the rules for every value
	probe := sdk.Info{Name: "probe", Version: "1", Trigger: sdk.Threshold(1), Config: []sdk.ConfigField{f}}
	if err := probe.Validate(); err != nil {
		return fmt.Errorf("sdktest: Config.Settings has %q: %v, which the host would refuse as a value: %w", f.Key,
			value,
			err)
	}
	return nil
}
