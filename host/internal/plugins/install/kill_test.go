package install

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/internal/testkit/releases"
)

// doomedEnv makes the test binary a program that installs keep-last with these settings.
const doomedEnv = "THRESH_TEST_INSTALL"

func doomed(settings string) {
	o := Options{Logger: hclog.NewNullLogger(), Version: "test", LookupEnv: os.LookupEnv, Note: func(string) {},
		Progress: func(string, int64, int64) {}}
	err := json.Unmarshal([]byte(settings), &o.Plugins)
	o.RunDir = filepath.Dir(o.LockFile)
	var in *Installer
	if err == nil {
		in, err = New(o)
	}
	if err == nil {
		_, err = in.Install(context.Background(), Wanted{Source: ofACME})
	}
	fmt.Fprintln(os.Stderr, err)
}

// another is a process that installs keep-last, after a shell has run something.
func (h *home) another(first string) *exec.Cmd {
	h.t.Helper()
	settings, err := json.Marshal(h.set)
	if err != nil {
		h.t.Fatal(err)
	}
	roots := filepath.Join(h.dir, "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.shop.Certificate().Raw}), 0o600); err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", first+`exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), doomedEnv+"="+string(settings), "SSL_CERT_FILE="+roots)
	return cmd
}

// Wherever an installation is killed, the old version is there, and the next installation cleans up and succeeds.
func TestKilled(t *testing.T) {
	t.Parallel()
	acme := releases.NewPublisher(t)
	old, next := releases.Archive(t, "keep-last", "1.1.0", ""), releases.Archive(t, "keep-last", "1.2.0", "")
	name := releases.Name("keep-last", "1.2.0")
	for when, c := range map[string]struct {
		archive []byte
		// at returns what waits for the moment.
		at func(*shop, *home) func()
	}{
		"while it downloads": {next, func(s *shop, h *home) func() {
			midway, once := make(chan struct{}), sync.Once{}
			s.faults[latest+name] = func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", fmt.Sprint(len(next)))
				_, _ = w.Write(next[:len(next)/2])
				w.(http.Flusher).Flush()
				once.Do(func() { close(midway) })
				<-r.Context().Done()
			}
			return func() { <-midway }
		}},
		"while it asks the plugin": {releases.Archive(t, "keep-last", "1.2.0", "hangs"), func(s *shop, h *home) func() {
			return func() {
				for { // its private directory is there once it runs
					if running, _ := filepath.Glob(filepath.Join(h.dir, "thresh*", "*")); len(running) > 0 {
						return
					}
					time.Sleep(time.Millisecond)
				}
			}
		}},
	} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			h := newHome(t, s)
			s.publish("v1.1.0", acme.Release(map[string][]byte{releases.Name("keep-last", "1.1.0"): old}))
			h.done("keep-last 1.1.0 installed", Wanted{Source: ofACME})
			s.publish("v1.2.0", acme.Release(map[string][]byte{name: c.archive}))
			wait := c.at(s, h)
			cmd := h.another("")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			wait()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if err := h.trusted("keep-last"); err != nil || h.entry("keep-last").Origin.Version != "1.1.0" {
				t.Errorf("a host would not start it: %v", err)
			}
			if n := len(h.files()); n != 2 {
				t.Errorf("the killed installation left nothing, so that it was not in the middle: %v", h.files())
			}
			delete(s.faults, latest+name)
			s.put(latest, acme.Release(map[string][]byte{name: next}))
			h.done("keep-last 1.2.0 upgraded", Wanted{Source: ofACME})
			h.is("1.2.0")
		})
	}
}

// The two files of an installation, the plugin and the lock file, change one after the other. A host trusts both states
// in between, and another installation ends them.
func TestKilledBetweenTheFiles(t *testing.T) {
	t.Parallel()
	acme := releases.NewPublisher(t)
	old, next := releases.Archive(t, "keep-last", "1.1.0", ""), releases.Archive(t, "keep-last", "1.2.0", "")
	for _, replaced := range []bool{false, true} {
		s := newShop(t)
		h := newHome(t, s)
		s.publish("v1.1.0", acme.Release(map[string][]byte{releases.Name("keep-last", "1.1.0"): old}))
		h.done("keep-last 1.1.0 installed", Wanted{Source: ofACME})
		before := mustRead(t, filepath.Join(h.set.Dirs[0], keep))
		was := h.entry("keep-last").SHA256
		s.publish("v1.2.0", acme.Release(map[string][]byte{releases.Name("keep-last", "1.2.0"): next}))
		h.done("keep-last 1.2.0 upgraded", Wanted{Source: ofACME})
		e := h.entry("keep-last")
		e.Was = was
		if err := h.installer().trust.Lock([]trust.Entry{e}); err != nil {
			t.Fatal(err)
		}
		if !replaced {
			if err := os.WriteFile(filepath.Join(h.set.Dirs[0], keep), before, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.trusted("keep-last"); err != nil {
			t.Errorf("replaced %v: a host would not start it: %v", replaced, err)
		}
		if _, err := h.install(Wanted{Source: ofACME}); err != nil {
			t.Fatal(err)
		}
		h.is("1.2.0")
	}
}

func TestAFullDisk(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	h := newHome(t, s)
	old := releases.Archive(t, "keep-last", "1.1.0", "")
	s.publish("v1.1.0", releases.Publisher{}.Release(map[string][]byte{releases.Name("keep-last", "1.1.0"): old}))
	h.done("keep-last 1.1.0 installed", Wanted{Source: ofACME})
	s.publish("v1.2.0", releases.Publisher{}.Release(map[string][]byte{releases.Name("keep-last", "1.2.0"): releases.Archive(t, "keep-last", "1.2.0", "")}))
	for _, blocks := range []int{100, len(old)/512 + 2000} { // the archive does not fit, the program does not
		out, _ := h.another(fmt.Sprintf("ulimit -f %d; ", blocks)).CombinedOutput()
		if !bytes.Contains(out, []byte("file too large")) {
			t.Errorf("%s", out)
		}
		h.is("1.1.0")
	}
}

// Two installations at once come one after the other.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	h := newHome(t, s)
	name := releases.Name("keep-last", "1.2.0")
	archive := releases.Archive(t, "keep-last", "1.2.0", "")
	s.publish("v1.2.0", releases.Publisher{}.Release(map[string][]byte{name: archive}))
	waits, asked := make(chan string, 1), make(chan struct{})
	s.faults[latest+name] = func(w http.ResponseWriter, _ *http.Request) {
		close(asked) // which panics for a second request
		if note := <-waits; !strings.Contains(note, "waiting") {
			t.Error(note)
		}
		_, _ = w.Write(archive)
	}
	changes := make(chan string, 2)
	run := func(in *Installer) {
		results, err := in.Install(t.Context(), Wanted{Source: ofACME})
		if err != nil {
			changes <- err.Error()
			return
		}
		changes <- results[0].Change
	}
	first, second := h.installer(), h.installer()
	second.Note = func(note string) { waits <- note }
	go run(first)
	<-asked
	go run(second)
	if a, b := <-changes, <-changes; a != "installed" || b != "unchanged" {
		t.Errorf("%s, %s", a, b)
	}
	h.is("1.2.0")
}
