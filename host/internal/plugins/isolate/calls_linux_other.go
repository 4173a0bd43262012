//go:build linux && !amd64 && !arm64

package isolate

import (
	"errors"
	"runtime"
)

// native is nil: without a filter for this architecture, its measures count as missing.
var native *struct{}

// filterCalls always fails; [Probe] says so before a launcher could try.
func filterCalls(Spec) error { return errors.New("no filter for " + runtime.GOARCH) }
