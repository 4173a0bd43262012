package install

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/releases"
)

const (
	latest  = "/acme/keep-last/releases/latest/download/"
	keep    = "thresh-strategy-keep-last"
	ofACME  = "github.com/acme/keep-last"
	script  = "#!/bin/sh\necho it ran\n"
	justOne = "keep-last 1.2.0 installed"
)

// Each attack is on an upgrade from 1.1.0, by the release 1.2.0, with what the user sees. Whatever happens, the old
// version is there, whole and trusted, and nothing else.
func TestAttacks(t *testing.T) {
	t.Parallel()
	acme := releases.NewPublisher(t)
	other := releases.NewPublisher(t)
	old, honest := releases.Archive(t, "keep-last", "1.1.0", ""), releases.Archive(t, "keep-last", "1.2.0", "")
	name := releases.Name("keep-last", "1.2.0")
	of := func(entries ...releases.Entry) func(*testing.T, *shop) {
		return func(t *testing.T, s *shop) {
			s.put(latest, acme.Release(map[string][]byte{name: releases.TarGz(t, entries...)}))
		}
	}
	put := func(file string, content []byte) func(*testing.T, *shop) {
		return func(_ *testing.T, s *shop) { s.put(latest, map[string][]byte{file: content}) }
	}
	fault := func(file string, f http.HandlerFunc) func(*testing.T, *shop) {
		return func(_ *testing.T, s *shop) { s.faults[latest+file] = f }
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	is := releases.Entry{Name: keep, Content: script}
	s := newShop(t)
	h := newHome(t, s)
	s.publish("v1.1.0", acme.Release(map[string][]byte{releases.Name("keep-last", "1.1.0"): old}))
	h.done("keep-last 1.1.0 installed", Wanted{Source: ofACME})
	for what, c := range map[string]struct {
		attack func(*testing.T, *shop)
		want   string
	}{
		"wrong checksum": {put(name, old),
			`the checksum of ` + name + ` is wrong: it is [0-9a-f]{64}, and should be [0-9a-f]{64}`},
		"checksums changed after they were signed": {func(_ *testing.T, s *shop) {
			s.put(latest, map[string][]byte{name: old, "checksums.txt": releases.Publisher{}.Release(map[string][]byte{name: old})["checksums.txt"]})
		}, `checksums.txt is NOT signed with the key ` + regexp.QuoteMeta(acme.Key) + `: someone may have changed it`},
		"another key": {func(_ *testing.T, s *shop) { s.put(latest, other.Release(map[string][]byte{name: honest})) },
			`NOT signed with the key ` + regexp.QuoteMeta(acme.Key) + `, but may be with another one, ` + regexp.QuoteMeta(other.Key) + `: do not install`},
		"not signed any more": {func(_ *testing.T, s *shop) { delete(s.files, latest+"checksums.txt.minisig") },
			`checksums.txt is not signed, and must be with the key ` + regexp.QuoteMeta(acme.Key)},
		"a signature that is none": {put("checksums.txt.minisig", []byte("RW\n")), `NOT signed with the key`},
		"no checksums": {func(_ *testing.T, s *shop) {
			delete(s.files, latest+"checksums.txt")
		},
			`there is no checksums.txt and no SHA256SUMS, so nothing`},
		"checksums that are none": {put("checksums.txt", []byte("<html>sign in</html>\n")),
			`this is no line of checksums: "<html>`},
		"two checksums of a file": {put("checksums.txt", fmt.Appendf(nil, "%064d  %s\n%064d  %s\n", 1, name, 2, name)),
			`it has two checksums of ` + name},
		"endless checksums": {put("checksums.txt", bytes.Repeat([]byte("\n"), maxSmallFile+1)),
			`it is larger than 1048576 bytes`},
		"another name inside": {of(releases.Entry{Name: "thresh-strategy-other", Content: script}),
			`it has thresh-strategy-other in it, not thresh-strategy-keep-last`},
		"nothing inside": {of(releases.Entry{Name: "README.md"}), `it has no thresh-strategy-keep-last in it`},
		"two programs inside": {of(is, releases.Entry{Name: "bin/" + keep, Content: script}),
			`it has two files thresh-strategy-keep-last in it`},
		"a path upwards": {of(releases.Entry{Name: "../../" + keep, Content: script}),
			`a file in it that leads elsewhere: "../../thresh-strategy-keep-last"`},
		"an absolute path": {of(is, releases.Entry{Name: "/etc/cron.d/x", Content: script}),
			`leads elsewhere: "/etc/cron.d/x"`},
		"a path of Windows": {of(is, releases.Entry{Name: `..\evil`, Content: script}), `leads elsewhere: "..\\\\evil"`},
		"a symbolic link": {of(releases.Entry{Name: keep, Kind: tar.TypeSymlink, Link: "/bin/sh"}),
			`neither a file nor a directory: "thresh-strategy-keep-last"`},
		"a hard link": {of(is, releases.Entry{Name: "x", Kind: tar.TypeLink, Link: keep}),
			`neither a file nor a directory: "x"`},
		"a device": {of(is, releases.Entry{Name: "x", Kind: tar.TypeChar}), `neither a file nor a directory: "x"`},
		"a directory as it": {of(releases.Entry{Name: keep, Kind: tar.TypeDir}),
			`it has no thresh-strategy-keep-last in it`},
		"a bomb": {of(releases.Entry{Name: keep, Content: script + strings.Repeat("0", 32<<20)}),
			`it unpacks to more than 20971520 bytes`},
		"a bomb besides it": {of(releases.Entry{Name: "README.md", Content: strings.Repeat("0", 32<<20)}, is),
			`it unpacks to more than 20971520 bytes`},
		"a thousand files": {of(manyEntries(maxEntries + 1)...), `it has more than 10000 files in it`},
		"no archive": {func(_ *testing.T, s *shop) {
			s.put(latest, acme.Release(map[string][]byte{name: []byte(script)}))
		},
			`it is no .tar.gz`},
		"half an archive": {func(_ *testing.T, s *shop) {
			s.put(latest, acme.Release(map[string][]byte{name: honest[:len(honest)/2]}))
		}, `it breaks off`},
		"another platform": {func(_ *testing.T, s *shop) {
			s.put(latest, acme.Release(map[string][]byte{strings.Replace(name, "_1.2.0_", "_1.2.0_plan9x", 1): honest}))
		}, `there is no archive with a plugin for \w+/\w+; there is keep-last 1.2.0 for plan9x`},
		"a program of another": {of(releases.Entry{Name: keep, Content: "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 60)}),
			`was not installed: .*not a .*plugin`},
		"a program that is none": {of(releases.Entry{Name: keep, Content: "hello"}),
			`was not installed: thresh-strategy-keep-last is neither a program nor a script`},
		"a program that ends": {of(is), `was not installed: .*it ended`},
		"another version inside": {func(t *testing.T, s *shop) {
			s.put(latest, acme.Release(map[string][]byte{name: old}))
		},
			`the archive says that it is version 1.2.0, and the program says 1.1.0`},
		"another name in GetInfo": {func(t *testing.T, s *shop) {
			s.put(latest, acme.Release(map[string][]byte{name: releases.Archive(t, "keep-last", "1.2.0", "renamed")}))
		}, `was not installed: .*"another"`},
		"an older version": {func(t *testing.T, s *shop) {
			s.put(latest, acme.Release(map[string][]byte{releases.Name("keep-last", "1.0.0"): old}))
		}, `1.1.0 is installed, and the newest of github.com/acme/keep-last is 1.0.0: to go back, name the version \(@1.0.0\)`},
		"the same version changed": {func(t *testing.T, s *shop) {
			s.put(latest, acme.Release(map[string][]byte{releases.Name("keep-last", "1.1.0"): honest}))
		}, `version 1.1.0 of github.com/acme/keep-last is not what it was when it was installed`},
		"a redirect to http": {fault(name, redirect("http://example.com/x")),
			`it redirects to http://example.com, and anyone on the way could change`},
		"a redirect to this machine": {fault(name, redirect("http://127.0.0.1:1/x")), `it redirects to http://127.0.0.1:1`},
		"endless redirects":          {fault(name, redirect(name)), `it redirects more than 5 times`},
		"a server that hangs":        {fault("checksums.txt", hang(0)), `nothing came for 100ms`},
		"a server that hangs midway": {fault(name, hang(1000)), `nothing came for 100ms`},
		"a server that breaks off": {fault(name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(honest)))
			_, _ = w.Write(honest[:1000])
		}), `it broke off after 1000 bytes: try again`},
		"a server that is broken": {fault(name, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }),
			`the server answers: 500`},
		"a server that refuses": {fault(name, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }),
			`the server refuses: 403 Forbidden; plugins.registryHeader`},
		"an archive that is missing": {func(_ *testing.T, s *shop) { delete(s.files, latest+name) },
			`the checksums name an archive that is not there`},
		"an endless archive": {fault(name, func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}), `it is larger than 20971520 bytes`},
	} {
		t.Run(what, func(t *testing.T) {
			s.files, s.faults = map[string][]byte{}, map[string]http.HandlerFunc{}
			s.publish("v1.2.0", acme.Release(map[string][]byte{name: honest}))
			c.attack(t, s)
			in := h.installer()
			in.most = 20 << 20
			if strings.Contains(what, "hangs") {
				in.web.silence = 100 * time.Millisecond
			}
			results, err := in.Install(t.Context(), Wanted{Source: ofACME})
			if err == nil || !regexp.MustCompile(c.want).MatchString(err.Error()) || len(results) > 0 {
				t.Errorf("%v, %v; want %s", results, err, c.want)
			}
			t.Logf("%v", err)
			if strings.Contains(fmt.Sprint(err), "it ran") && what != "a program that ends" {
				t.Error("the program ran before it was checked")
			}
			h.is("1.1.0")
		})
	}
}

func manyEntries(n int) (all []releases.Entry) {
	for i := range n {
		all = append(all, releases.Entry{Name: fmt.Sprint(i)})
	}
	return all
}

// hang sends some bytes, and then nothing until the client has given up.
func hang(after int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if after > 0 {
			_, _ = w.Write(make([]byte, after))
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

// is fails the test unless keep-last is there in a version, whole and trusted, and nothing else.
func (h *home) is(version string) {
	h.t.Helper()
	if got := h.files(); len(got) != 1 || got[0] != keep {
		h.t.Errorf("in the plugin directory: %v", got)
	}
	content, err := os.ReadFile(filepath.Join(h.set.Dirs[0], keep))
	if err != nil {
		h.t.Fatal(err)
	}
	program := releases.Program(h.t, version)
	if bytes.Contains(content, []byte("@@"+version+" network")) {
		program = releases.Program(h.t, version+" network model")
	}
	if !bytes.Equal(content, program) {
		h.t.Errorf("the file is not that of %s", version)
	}
	sum := sha256.Sum256(content)
	if e := h.entry("keep-last"); e.Origin == nil || e.Origin.Version != version || e.SHA256 != hex.EncodeToString(sum[:]) || e.Was != "" {
		h.t.Errorf("locked: %+v, %+v", e, e.Origin)
	}
	if err := h.trusted("keep-last"); err != nil {
		h.t.Errorf("a host would not start it: %v", err)
	}
}

// A signature of an old release does not pass for one of a new: the names of the archives are what is signed.
func TestASignatureIsOfItsVersionAlone(t *testing.T) {
	t.Parallel()
	acme, s := releases.NewPublisher(t), newShop(t)
	files := acme.Release(map[string][]byte{releases.Name("keep-last", "1.1.0"): releases.Archive(t, "keep-last", "1.1.0", "")})
	files[releases.Name("keep-last", "1.2.0")] = files[releases.Name("keep-last", "1.1.0")]
	s.publish("v1.2.0", files)
	if _, err := newHome(t, s).install(Wanted{Source: ofACME + "@1.2.0"}); err == nil || !strings.Contains(err.Error(), "there is keep-last 1.1.0") {
		t.Error(err)
	}
}
