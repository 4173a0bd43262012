package serve

import (
	"errors"
	"github.com/thresh-dev/thresh/sdk"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A socket that is gone is said in words of ours; what the host itself says stays as it is.
func TestAHostThatCannotBeReached(t *testing.T) {
	for says, want := range map[string]string{
		`connection error: desc = "transport: error while dialing: dial unix /x: connect: no such file or directory"`: "Generate: the host's socket",
		"the provider is overloaded": "Generate: the provider is overloaded",
	} {
		err := hostError("Generate", status.Error(codes.Unavailable, says))
		if !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "transport:") ||
			!errors.Is(err, sdk.ErrUnavailable) {
			t.Error(err)
		}
	}
}
