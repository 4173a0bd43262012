package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// These tests are about what 'make dist' made for this platform; 'make test-dist' runs both.

// made returns the one file in dist/ whose name matches a pattern.
func made(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", "dist", pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: found %v, %v; run 'make dist' first", pattern, found, err)
	}
	path, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a program and returns what it prints.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Somebody who builds the release again must be able to compare checksums.
func TestTheSameProgramsMakeTheSameRelease(t *testing.T) {
	stage := t.TempDir()
	platform := runtime.GOOS + "_" + runtime.GOARCH
	if err := os.CopyFS(filepath.Join(stage, platform), os.DirFS(filepath.Join("..", "..", "bin", "stage", platform))); err != nil {
		t.Fatalf("%v; run 'make dist' first", err)
	}
	t.Chdir(filepath.Join("..", "..")) // where packaging/ is
	r := release{version: "v1.2.3-rc.1", at: time.Unix(1e9, 0).UTC(), stage: stage}
	var sums []string
	for range 2 {
		r.out = filepath.Join(t.TempDir(), "dist")
		if err := r.make(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(text))
	}
	if sums[0] != sums[1] {
		t.Errorf("first\n%sthen\n%s", sums[0], sums[1])
	}
	if n := strings.Count(sums[0], "\n"); n != 7 && runtime.GOOS == "linux" {
		t.Errorf("%d files, want an archive, a .deb, an .rpm, two for npm, a formula and an image:\n%s", n, sums[0])
	}
}

func TestTheArchiveRunsWhereItIsUnpacked(t *testing.T) {
	dir := t.TempDir()
	run(t, "tar", "-xzf", made(t, "thresh_*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"), "-C", dir, "--strip-components=1")
	listed := run(t, filepath.Join(dir, "thresh"), "plugins", "list")
	for _, name := range []string{"distill", "high-density", "middle-out", "one-shot", "top-down-truncation"} {
		if !strings.Contains(listed, name) {
			t.Errorf("plugins list has no %s:\n%s", name, listed)
		}
	}
	for _, name := range []string{"LICENSE", "THIRD-PARTY-LICENSES.txt", "sbom.cdx.json", "thresh.service",
		"man/man1/thresh.1", "completions/_thresh"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(text) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}

// Installed into a directory, so the test needs no root and changes nothing.
func TestTheDebianPackageInstalls(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("SKIPPED: there is no dpkg here, so the .deb was not installed")
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "var", "lib", "dpkg"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, "dpkg", "--root="+root, "--force-not-root", "--force-depends", "--install", made(t, "thresh_*_"+runtime.GOARCH+".deb"))
	program := filepath.Join(root, "usr", "bin", "thresh")
	out := run(t, program, "plugins", "list", "-o", "json")
	if n := strings.Count(out, `"state":"ready"`); n != 5 {
		t.Errorf("%d strategies are ready:\n%s", n, out)
	}
	serve(t, program, filepath.Join(root, "etc", "thresh", "thresh.yaml"))
	unit, err := os.ReadFile(filepath.Join(root, "usr", "lib", "systemd", "system", "thresh.service"))
	if err != nil || !bytes.Contains(unit, []byte("ExecStart=/usr/bin/thresh serve")) {
		t.Errorf("the unit does not start the installed program: %v\n%s", err, unit)
	}
}

// An administrator writes what the service reads, before its first start and after.
func TestTheAdministratorAndTheServiceUseOneStore(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil || os.Geteuid() != 0 {
		t.Skip("SKIPPED: without dpkg, or without the rights of root, no one administers a service")
	}
	const user, config = "65533:65533", "--config=/etc/thresh/thresh.yaml"
	root := rootDir(t)
	state := filepath.Join(root, "var", "lib", "thresh")
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "var", "lib", "dpkg"), 0o755), os.MkdirAll(state, 0o700),
		os.Chown(state, 65533, 65533)); err != nil {
		t.Fatal(err)
	}
	run(t, "dpkg", "--root="+root, "--force-depends", "--install", made(t, "thresh_*_"+runtime.GOARCH+".deb"))
	service := []string{"XDG_STATE_HOME=/var/lib", "TMPDIR=/tmp"} // as the unit says
	for _, name := range []string{"alice", "bob"} {
		said := inRoot(t, root, "0:0", []string{"HOME=/root"}, "/usr/bin/thresh", "access", "set", name, config)
		if !strings.Contains(said, "store=sqlite:/var/lib/thresh/sessions.db") {
			t.Errorf("it does not say where:\n%s", said)
		}
		inRoot(t, root, user, service, "/usr/bin/thresh", "doctor", "--quick", config)
		if seen := inRoot(t, root, user, service, "/usr/bin/thresh", "access", "list", config); !strings.Contains(seen, name) {
			t.Errorf("the service sees:\n%s", seen)
		}
	}
}

func TestTheRPMInstalls(t *testing.T) {
	if _, err := exec.LookPath("rpm"); err != nil || os.Geteuid() != 0 {
		t.Skip("SKIPPED: without rpm, or without the rights of root, the .rpm is not installed")
	}
	root := t.TempDir()
	run(t, "rpm", "--root="+root, "--nodeps", "--install", made(t, "thresh-*.rpm"))
	serve(t, filepath.Join(root, "usr", "bin", "thresh"), filepath.Join(root, "etc", "thresh", "thresh.yaml"))
}

func TestTheFormulaNamesTheArchives(t *testing.T) {
	formula := made(t, "thresh.rb")
	file := made(t, "thresh_*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz")
	archive, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(formula)
	if err != nil || !strings.Contains(string(text), fmt.Sprintf("sha256 \"%x\"", sha256.Sum256(archive))) {
		t.Errorf("no checksum of the archive: %v\n%s", err, text)
	}
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("SKIPPED: there is no ruby here to read the formula")
	}
	// Homebrew's words, as far as the formula uses them: it runs, and takes this platform's archive.
	run(t, "ruby", "-e", `
class Formula
  def self.test = nil
  def self.method_missing(word, *values)
    match = { on_linux: RUBY_PLATFORM.include?("linux"), on_macos: RUBY_PLATFORM.include?("darwin"),
              on_intel: RUBY_PLATFORM.include?("x86_64"), on_arm: RUBY_PLATFORM.match?(/arm64|aarch64/) }
    if match.key?(word) then yield if match[word]
    elsif word == :url then $url = values[0]
    end
  end
end
load ARGV[0]
abort "the archive is #{$url}" unless $url&.end_with?("/" + ARGV[1])
abort "no install" unless Thresh.method_defined?(:install)
`, formula, filepath.Base(file))
}

// serve runs the service as its unit does, until it says that it is ready, and ends it.
func serve(t *testing.T, program, config string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	state := t.TempDir()
	cmd := exec.CommandContext(ctx, program, "serve", "--config", config, "--set", "serve.listen=127.0.0.1:0",
		"--set", "sessions.store=sqlite:"+state+"/sessions.db", "--set", "plugins.lockFile="+state+"/plugins.lock")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + state, "TMPDIR=" + state}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said = append(said, lines.Text())
		if url, ok := strings.CutPrefix(lines.Text(), "thresh: serving at "); ok {
			answer, err := http.Get(url + "/healthz")
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("healthz: %v, %v", answer, err)
			}
			if err == nil {
				_ = answer.Body.Close()
			}
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("thresh serve: %v\n%s", err, strings.Join(said, "\n"))
	}
}
