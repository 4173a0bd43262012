package host_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host"
)

// TestMain is the first line of a program that embeds the host: the strategies run in processes of this program.
func TestMain(m *testing.M) {
	host.ReexecMain()
	m.Run()
}
