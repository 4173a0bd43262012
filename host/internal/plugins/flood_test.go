package plugins

import (
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/prepare"
)

// What a plugin opens and sends towards the host is bounded; one that goes on is killed, and the error says why. The
// names are those of the plugin's faults; each begins in a call.
func TestAPluginThatFloodsTheHostIsKilled(t *testing.T) {
	const most = 1 << 30 // bytes of memory that the host may take from the system meanwhile
	tests := []struct {
		name string
		call func(*testing.T, *Strategy) error // nil: the flood begins after an Optimize
		says string
	}{
		{"floods-estimates", compressA, "its requests to the host took more than 128 MiB of memory together"},
		{"opens-streams", compressA, "it made more than 1000 requests in a row that the host refused"},
		{"sends-unasked", nil, "it "},
		{"asks-unasked", nil, "it made more than 1000 requests in a row that the host refused"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, test.name)}}}), test.name)
			first, before := pid(t, s), memoryTaken(t)
			reason := ""
			if test.call != nil {
				err := test.call(t, s)
				if err == nil {
					t.Fatal("the call succeeded")
				}
				reason = err.Error()
			} else if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")}); err != nil {
				t.Fatal(err)
			}
			plugintest.Eventually(t, "it is killed", func() bool { return !plugintest.Exists(first) })
			plugintest.Eventually(t, "the state says why", func() bool {
				state, why := s.State()
				reason += why
				return state != StateReady
			})
			if !strings.Contains(reason, "it was killed: "+test.says) {
				t.Errorf("the reason is %q, want %q", reason, test.says)
			}
			after := memoryTaken(t)
			t.Logf("the host took %d MB", (after-before)>>20)
			if after-before > most {
				t.Errorf("the host took %d MB of memory", (after-before)>>20)
			}
		})
	}
}

func compressA(t *testing.T, s *Strategy) error {
	_, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a", "b")}, services{})
	return err
}

// memoryTaken returns the most memory that this process ever had, in bytes.
func memoryTaken(t *testing.T) (bytes int64) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("only Linux tells how much memory a process had at most")
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "VmHWM:" {
			for _, c := range fields[1] {
				bytes = bytes*10 + int64(c-'0')
			}
		}
	}
	return bytes << 10
}
