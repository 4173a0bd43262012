package host_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/alone"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/internal/testkit/contract"
)

// A host in this process does what every host does.
func TestContract(t *testing.T) {
	contract.Exercise(t, func(t *testing.T) contract.Under {
		var settings []config.Override
		for key, value := range contract.Settings {
			settings = append(settings, config.Override{Key: key, Value: value})
		}
		h, err := openHost(settings...)
		if err != nil {
			t.Fatal(err)
		}
		messages := alone.New(h)
		t.Cleanup(func() { messages.Close(); _ = h.Close() })
		return contract.Under{Host: contract.AnySession[*host.Session](h), Alone: messages}
	})
}
