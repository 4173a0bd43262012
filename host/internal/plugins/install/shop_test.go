package install

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/thresh-dev/thresh/host/config"
	_ "github.com/thresh-dev/thresh/host/early"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
)

func TestMain(m *testing.M) {
	isolate.Main()
	if settings := os.Getenv(doomedEnv); settings != "" {
		doomed(settings)
		return
	}
	os.Exit(func() int {
		if code := m.Run(); code != 0 {
			return code
		}
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left:", err)
			return 1
		}
		return 0
	}())
}

// shop is a web server with files, over TLS.
type shop struct {
	*httptest.Server
	mu     sync.Mutex
	files  map[string][]byte
	faults map[string]http.HandlerFunc
	asked  []*http.Request
}

func newShop(t testing.TB) *shop {
	s := &shop{files: map[string][]byte{}, faults: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	content, ok := s.files[r.URL.Path]
	fault := s.faults[r.URL.Path]
	s.mu.Unlock()
	switch {
	case fault != nil:
		fault(w, r)
	case ok:
		_, _ = w.Write(content)
	default:
		http.NotFound(w, r)
	}
}

// put puts files below a path.
func (s *shop) put(dir string, files map[string][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, content := range files {
		s.files[dir+name] = content
	}
}

// publish makes a release of acme/keep-last the newest, as on GitHub.
func (s *shop) publish(tag string, files map[string][]byte) {
	const at = "/acme/keep-last/releases/"
	s.put(at+"download/"+tag+"/", files)
	s.put(at+"latest/download/", files)
	s.mu.Lock()
	defer s.mu.Unlock()
	const api = "/api/v3/repos/acme/keep-last/releases"
	was := strings.TrimSuffix(strings.TrimPrefix(string(s.files[api]), "["), "]")
	s.files[api] = []byte(strings.TrimSuffix(fmt.Sprintf(`[{"tag_name":%q},%s`, tag, was), ",") + "]")
}

// home is a machine's plugin directory and lock file.
type home struct {
	t     testing.TB
	dir   string
	set   config.Plugins
	shop  *shop
	env   map[string]string
	notes []string
}

func newHome(t testing.TB, s *shop) *home {
	dir, err := os.MkdirTemp("", "t") // short: sockets are made below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	set := config.Defaults().Plugins
	set.Dirs, set.LockFile = []string{filepath.Join(dir, "plugins")}, filepath.Join(dir, "plugins.lock")
	if s != nil {
		set.Registry = s.URL
	}
	return &home{t: t, dir: dir, set: set, shop: s, env: map[string]string{}}
}

func (h *home) installer() *Installer {
	h.t.Helper()
	o := Options{Plugins: h.set, WorkDir: h.dir, Logger: hclog.NewNullLogger(), RunDir: h.dir, Version: "test",
		LookupEnv: func(name string) (string, bool) { v, ok := h.env[name]; return v, ok },
		Note:      func(note string) { h.notes = append(h.notes, note) }, Progress: func(string, int64, int64) {}}
	if h.shop != nil {
		o.Transport = h.shop.Client().Transport
	}
	in, err := New(o)
	if err != nil {
		h.t.Fatal(err)
	}
	return in
}

func (h *home) install(w Wanted) ([]Result, error) {
	h.t.Helper()
	return h.installer().Install(h.t.Context(), w)
}

// done fails the test unless the installation ends in NAME VERSION CHANGE.
func (h *home) done(want string, w Wanted) Result {
	h.t.Helper()
	results, err := h.install(w)
	if err != nil {
		h.t.Fatal(err)
	}
	var got []string
	for _, r := range results {
		got = append(got, r.Name+" "+r.Version+" "+r.Change)
	}
	if strings.Join(got, ", ") != want {
		h.t.Fatalf("got %v, want %s", got, want)
	}
	return results[0]
}

// files are what is in the plugin directory, without the lock of installations.
func (h *home) files() (names []string) {
	entries, _ := os.ReadDir(h.set.Dirs[0])
	for _, e := range entries {
		if e.Name() != lockName {
			names = append(names, e.Name())
		}
	}
	return names
}

// trusted reports whether a host would start the plugin.
func (h *home) trusted(name string) error {
	return trustedIn(h.set, name)
}

func (h *home) entry(name string) trust.Entry {
	e, _, err := trust.New("tofu", h.set.LockFile, nil).Entry(filepath.Join(h.set.Dirs[0], "thresh-strategy-"+name))
	if err != nil {
		h.t.Fatal(err)
	}
	return e
}
