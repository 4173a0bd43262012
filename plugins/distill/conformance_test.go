package distill

import (
	"testing"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// The rules that every strategy is held to, on histories made for that. They are compressed on demand, since most are
// far below the trigger.
func TestConformance(t *testing.T) {
	sdktest.Conformance(t, Strategy{}, sdktest.Config{Reason: sdk.ReasonManual})
}
