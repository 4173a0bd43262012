package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// registry serves packages as npm's does.
func registry(t *testing.T, files ...string) string {
	t.Helper()
	serves := map[string][]byte{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := serves[r.URL.Path] // npm writes the slash of a name as %2f
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(memberNamed(t, file, "package/package.json"), &m); err != nil {
			t.Fatal(err)
		}
		name, version := m["name"].(string), m["version"].(string)
		sum := sha512.Sum512(data)
		m["dist"] = map[string]any{"tarball": server.URL + "/files/" + filepath.Base(file),
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		about, err := json.Marshal(map[string]any{"name": name, "dist-tags": map[string]any{"latest": version},
			"versions": map[string]any{version: m}})
		if err != nil {
			t.Fatal(err)
		}
		serves["/"+name], serves["/files/"+filepath.Base(file)] = about, data
	}
	return server.URL
}

func memberNamed(t *testing.T, file, name string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(zip); ; {
		h, err := in.Next()
		if err != nil {
			t.Fatalf("%s in %s: %v", name, file, err)
		}
		if h.Name == name {
			data, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
}

// node returns a command in an empty directory that sees no registry but the one given.
func node(t *testing.T, dir, from string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "npm_config_registry=" + from,
		"npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false"}
	cmd.WaitDelay = time.Minute
	return cmd
}

func needsNPM(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("npx"); err != nil {
		t.Skip("SKIPPED: there is no npx here, so the packages for npm were not installed")
	}
}

func TestNpxRunsTheProgramOfThisPlatform(t *testing.T) {
	needsNPM(t)
	chosen := made(t, "thresh-dev-thresh-[0-9]*.tgz")
	program := made(t, fmt.Sprintf("thresh-dev-thresh-%s-%s-*.tgz", runtime.GOOS, npmCPU(runtime.GOARCH)))
	dir := t.TempDir()
	out, err := node(t, dir, registry(t, chosen, program), "npx", "--yes", npmName, "plugins", "list").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "high-density") {
		t.Errorf("npx: %v\n%s", err, out)
	}
	// From files, as someone does who has no registry. What is not for this machine cannot be fetched, and is left out.
	if out, err := node(t, dir, "http://127.0.0.1:1", "npm", "install", "--offline", program, chosen).CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	out, err = node(t, dir, "", "npx", "--no-install", "thresh", "--version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "thresh ") {
		t.Errorf("npx: %v\n%s", err, out)
	}
}

// standIns are packages with a script as their program: of this machine's platform and of another one.
func standIns(t *testing.T, script string) []string {
	t.Helper()
	stage := t.TempDir()
	var platforms []platform
	for _, p := range []platform{{runtime.GOOS, runtime.GOARCH, ""}, {"darwin", "arm64", ""}, {"linux", "arm64", ""}, {"windows", "amd64", ""}} {
		p.dir = filepath.Join(stage, p.system+p.arch)
		for name, text := range map[string]string{p.program(): script, "LICENSE": "", "THIRD-PARTY-LICENSES.txt": "",
			"sbom.cdx.json": ""} {
			if err := errors.Join(os.MkdirAll(p.dir, 0o755), os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o755)); err != nil {
				t.Fatal(err)
			}
		}
		platforms = append(platforms, p)
	}
	t.Chdir(filepath.Join("..", ".."))
	r := release{version: "v1.2.3", out: t.TempDir()}
	if err := r.npm(platforms); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(r.out, "*.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestNpmInstallsOnlyWhatTheMachineCanRun(t *testing.T) {
	needsNPM(t)
	dir := t.TempDir()
	from := registry(t, standIns(t, "#!/bin/sh\necho $0 $*; exit 7\n")...)
	if out, err := node(t, dir, from, "npm", "install", npmName).CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	installed, err := filepath.Glob(filepath.Join(dir, "node_modules", "@thresh-dev", "*"))
	if err != nil || len(installed) != 2 {
		t.Errorf("installed: %v, %v", installed, err)
	}
	out, err := node(t, dir, from, "node_modules/.bin/thresh", "a b", "-c").Output()
	var failed *exec.ExitError
	if !errors.As(err, &failed) || failed.ExitCode() != 7 || !strings.HasSuffix(string(out), "/bin/thresh a b -c\n") {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.RemoveAll(filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if out, err := node(t, dir, from, "npm", "install", "--omit=optional").CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	said, err := node(t, dir, from, "node_modules/.bin/thresh").CombinedOutput()
	if err == nil || !strings.Contains(string(said), "is missing") || !strings.Contains(string(said), "--omit=optional") {
		t.Errorf("without the program: %v\n%s", err, said)
	}
}

// A supervisor knows only the launcher, and waits for it.
func TestTheLauncherPassesSIGTERMOn(t *testing.T) {
	needsNPM(t)
	dir := t.TempDir()
	from := registry(t, standIns(t, "#!/bin/sh\ntrap 'echo ended; exit 3' TERM\necho started\nfor i in $(seq 600); do sleep 0.1; done\n")...)
	if out, err := node(t, dir, from, "npm", "install", npmName).CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	cmd := node(t, dir, from, "node_modules/.bin/thresh")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started := make([]byte, len("started\n"))
	if _, err := io.ReadFull(stdout, started); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(stdout)
	var failed *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &failed) || failed.ExitCode() != 3 || string(rest) != "ended\n" {
		t.Errorf("%v: %q", err, rest)
	}
}
