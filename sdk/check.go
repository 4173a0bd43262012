package sdk

import (
	"errors"
	"fmt"
)

// Check returns what is wrong with a strategy before any host has seen it: an invalid [Info], or a trigger that does
// not fit its methods. Package serve refuses to start such a strategy.
func Check(s Strategy) error {
	if s == nil {
		return errors.New("serve.Strategy needs a strategy, not nil")
	}
	info := s.Info()
	err := info.Validate()
	_, optimizes := s.(Optimizer)
	switch {
	case info.Trigger.Mode == ModeContinuous && !optimizes:
		err = errors.Join(err, fmt.Errorf("%T declares the trigger sdk.Continuous but has no method Optimize "+
			"(sdk.Optimizer); add it or declare sdk.Threshold", s))
	case info.Trigger.Mode == ModeThreshold && optimizes:
		err = errors.Join(
			err,
			fmt.Errorf("%T has a method Optimize, but its trigger is sdk.Threshold, so that the host "+
				"would never call it; declare sdk.Continuous or remove the method", s),
		)
	}
	return err
}
