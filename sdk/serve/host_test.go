package serve

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/sdk"
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

// A process that missed the connection to its host says so with each call that needs it, and asks once to be replaced.
func TestAProcessWithoutTheHostsServicesIsReplaced(t *testing.T) {
	lost := 0
	conn := newHostConn(nil, 1, func() { lost++ })
	conn.err = fmt.Errorf("connecting: %w", sdk.ErrUnavailable)
	close(conn.ready)
	for range 2 {
		h := &boundHost{conn: conn, call: t.Context()}
		_, err := h.EstimateTokens(t.Context(), []sdk.Content{{Speaker: sdk.Human}})
		if !errors.Is(err, sdk.ErrUnavailable) {
			t.Error(err)
		}
	}
	if lost != 1 {
		t.Errorf("asked %d times to be replaced", lost)
	}
}
