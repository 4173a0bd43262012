//go:build linux && !amd64 && !arm64

package isolate

import (
	"errors"
	"runtime"
)

// native is nil: there is no filter for this architecture, and its measures count as missing.
var native *struct{}

func filterCalls(Spec) error { return errors.New("no filter for " + runtime.GOARCH) }

// A guard is never asked without a filter.
func notPermitted(uint32) bool       { return false }
func refusedCall(uint32) (r Refused) { return r }
