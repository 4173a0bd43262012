package distill

import (
	"testing"

	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// The rules that every strategy is held to, on histories made for that.
func TestConformance(t *testing.T) {
	sdktest.Conformance(t, Strategy{}, sdktest.Config{})
}
