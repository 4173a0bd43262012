package host_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/alone"
	"github.com/thresh-dev/thresh/internal/testkit/contract"
)

// A host in this process does what every host does.
func TestContract(t *testing.T) {
	contract.Exercise(t, func(t *testing.T) contract.Under {
		h, err := openHost(contract.Settings()...)
		if err != nil {
			t.Fatal(err)
		}
		messages := alone.New(h)
		t.Cleanup(func() { messages.Close(); _ = h.Close() })
		return contract.Under{Host: contract.AnySession[*host.Session](h), Alone: messages}
	})
}
