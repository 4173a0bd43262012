package plugins

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk"
)

// isolates skips the test where this machine cannot enforce everything.
func isolates(t testing.TB) {
	t.Helper()
	for _, c := range isolate.Probe() {
		if !c.Works {
			t.Skipf("SKIPPED: this machine does not isolate %s: %s", c.Measure, c.How)
		}
	}
}

// refused is how an attempt ended that had no effect.
const refused = "refused"

// escape has a plugin try to get out, and returns how each attempt ended; the first two are to send something to
// ports on which the test listens.
func escape(t *testing.T, o Options) map[string]string {
	t.Helper()
	o.Dirs = []string{pluginDir(t, "tries-to-escape")}
	port, heard := listen(t)
	o.Settings = settings(t, map[string]any{"strategies.tries-to-escape.keep": port})
	answer, err := strategy(t, open(t, o), "tries-to-escape").Compress(t.Context(),
		prepare.CompressCall{Call: call("a")}, services{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(map[string]string)
	for _, attempt := range strings.Split(string(answer.NoOp), ",") {
		// Which error it was depends on the measure that came first, and does not matter.
		name, how, _ := strings.Cut(attempt, "=")
		if how != "done" {
			how = refused
		}
		ended[name] = how
	}
	for network, what := range heard() {
		if (what == "") != (ended[network] != "done") {
			t.Errorf("%s: the attempt ended with %q, and what was heard is %q", network, ended[network], what)
		}
	}
	return ended
}

// listen listens on a port for both TCP and UDP. heard says what has come in, and ends it.
func listen(t *testing.T) (port int, heard func() map[string]string) {
	t.Helper()
	tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tcp.Close() })
	address := tcp.Addr().(*net.TCPAddr)
	udp, err := net.ListenUDP("udp", (*net.UDPAddr)(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = udp.Close() })
	return address.Port, func() map[string]string {
		const moment = 200 * time.Millisecond // it is here already, or it was not sent
		_ = tcp.SetDeadline(time.Now().Add(moment))
		_ = udp.SetDeadline(time.Now().Add(moment))
		said := map[string]string{"tcp": "", "udp": ""}
		buf := make([]byte, 1000)
		if n, err := udp.Read(buf); err == nil {
			said["udp"] = string(buf[:n])
		}
		if conn, err := tcp.Accept(); err == nil {
			defer conn.Close()
			n, _ := conn.Read(buf)
			said["tcp"] = string(buf[:n])
		}
		return said
	}
}

func TestAPluginCannotGetOut(t *testing.T) {
	t.Parallel()
	isolates(t)
	l, err := net.Listen("unix", fmt.Sprintf("@thresh-test-%d", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	want := map[string]string{
		"tcp": refused, "udp": refused, "tcp6": refused,
		"abstract": refused, "passwd": refused, "environ": refused,
		"signal": refused, "write-outside": refused, "write-above": refused,
		"write-inside": "done", "fewer-files": "done",
	}
	got := escape(t, Options{Plugins: config.Plugins{Isolation: process.IsolationStrict}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAGrantOpensTheNetworkAndNothingElse(t *testing.T) {
	t.Parallel()
	isolates(t)
	got := escape(t,
		Options{Plugins: config.Plugins{Grants: map[string]config.Grant{"tries-to-escape": {Network: true}}}})
	if got["tcp"] != "done" || got["udp"] != "done" || got["passwd"] != refused {
		t.Errorf("got %v", got)
	}
	got = escape(t, Options{Plugins: config.Plugins{Grants: map[string]config.Grant{"somebody-else": {Network: true}}}})
	if got["tcp"] != refused {
		t.Errorf("another's grant: %v", got)
	}
}

func TestAPluginThatNeedsTheNetworkSaysSo(t *testing.T) {
	t.Parallel()
	o := Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "needs-network")}}}
	err := try(t, o, "needs-network")
	if !errors.Is(err, ErrNotGranted) || !strings.Contains(err.Error(), "plugins.grants.needs-network.network: true") {
		t.Errorf("got %v", err)
	}
	o.Grants = map[string]config.Grant{"needs-network": {Network: true}}
	if err := try(t, o, "needs-network"); err != nil {
		t.Error(err)
	}
}

// A plugin that ends with the system's refusal on its standard error gets the grants named.
func TestAPluginThatDiesOfARefusalHearsOfGrants(t *testing.T) {
	t.Parallel()
	isolates(t)
	dir := pluginDir(t, "starts-another")
	err := try(t, Options{Plugins: config.Plugins{Dirs: []string{dir}}}, "starts-another")
	const want = "plugins.grants.starts-another can allow it the network, other processes,"
	if err == nil || !strings.Contains(err.Error(), "operation not permitted") || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	grants := map[string]config.Grant{"starts-another": {Processes: true}}
	if err := try(t, Options{Plugins: config.Plugins{Dirs: []string{dir}, Grants: grants}}, "starts-another"); err != nil {
		t.Errorf("with the grant: %v", err)
	}
}

// Where the machine allows no namespaces, the host makes a plugin's sockets.
func TestAPluginWorksWithoutNamespaces(t *testing.T) {
	t.Parallel()
	isolates(t)
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "honest", "needs-llm")}}})
	m.checks = func() []isolate.Check {
		return slices.DeleteFunc(isolate.Probe(), func(c isolate.Check) bool { return c.Measure == isolate.Paths })
	}
	s := strategy(t, m, "honest")
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "chaff", "b")}); err != nil {
		t.Error(err)
	}
	_, err := strategy(t, m, "needs-llm").Compress(t.Context(), prepare.CompressCall{Call: call("a", "b")}, services{
		generate: func(context.Context) (sdk.Completion, error) { return sdk.Completion{Text: "summary"}, nil },
	})
	if err != nil {
		t.Error("asking the host:", err)
	}
}

func TestWithoutIsolationAPluginIsFree(t *testing.T) {
	t.Parallel()
	got := escape(t, Options{Plugins: config.Plugins{Isolation: process.IsolationOff}})
	if got["tcp"] != "done" || got["udp"] != "done" || got["passwd"] != "done" || got["environ"] != "done" {
		t.Errorf("got %v", got)
	}
}

func TestWhatIsLackingIsListed(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")},
		Isolation: process.IsolationBestEffort}})
	m.checks = func() []isolate.Check {
		return []isolate.Check{{Measure: isolate.Network, How: "the kernel is too old"},
			{Measure: isolate.Limits, Works: true}}
	}
	l := m.List(t.Context())
	want := []string{"network: the kernel is too old"}
	if diff := cmp.Diff(want, l[0].Lacking); diff != "" || l[0].State != StateReady {
		t.Errorf("%s %s", l[0].State, diff)
	}
	m.opts.Isolation = process.IsolationStrict
	if _, err := m.Strategy(t.Context(), "steady"); !errors.Is(err, ErrNotIsolated) ||
		!strings.Contains(err.Error(), "the kernel is too old") {
		t.Errorf("got %v", err)
	}
}

func TestAPluginThatEatsMemoryEndsAlone(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	isolates(t)
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "eats-memory")},
		MaxMemoryBytes: 1 << 30}}) // more than the half gigabyte of a launcher with the race detector
	_, err := strategy(t, m, "eats-memory").Compress(t.Context(), prepare.CompressCall{Call: call("a")}, services{})
	if !errors.Is(err, ErrPluginCrashed) {
		t.Errorf("got %v", err)
	}
}

// Isolation must work for everybody, so this is the same test without the rights of root.
func TestIsolationNeedsNoRoot(t *testing.T) {
	isolates(t)
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: the other tests have shown it")
	}
	got := plugintest.AsNobody(t, "TestAPluginCannotGetOut", map[string]string{faulty: "faulty", honest: "honest"},
		builtEnv+"=%DIR%")
	if !strings.Contains(got, "PASS") || strings.Contains(got, "SKIP") {
		t.Errorf("as user nobody: %s", got)
	}
}
