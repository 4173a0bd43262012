package client_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/internal/testkit/contract"
)

// A host that is served does what every host does.
func TestContract(t *testing.T) {
	contract.Exercise(t, func(t *testing.T) contract.Under {
		address, done := serve(contract.Settings()...)
		c, err := client.New(address, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close(); done() })
		return contract.Under{Host: contract.AnySession[*client.Session](c), Alone: c}
	})
}
