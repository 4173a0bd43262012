package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// client returns a copy of a directory of clients/: building a package leaves files next to it.
func client(t *testing.T, language string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), language)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "clients", language))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheClientForNodeInstalls(t *testing.T) {
	needsNPM(t)
	dir, source := t.TempDir(), client(t, "typescript")
	packed, err := node(t, source, "", "npm", "pack", "--silent").Output()
	if err != nil {
		t.Fatalf("npm pack: %v", err)
	}
	file := filepath.Join(source, strings.TrimSpace(string(packed)))
	if out, err := node(t, dir, "", "npm", "install", "--offline", file).CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	out, err := node(t, dir, "", "node", "--input-type=module", "-e",
		`import { Client } from "@thresh-dev/client"; new Client("127.0.0.1:7440"); new Client("agents.example:443");
try { new Client("ftp://a") } catch (e) { console.log(e.message) }`).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), `address "ftp://a": want HOST:PORT`) {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@thresh-dev", "client", "thresh.d.mts")); err != nil {
		t.Errorf("it has no types: %v", err)
	}
}

func TestTheClientForPythonInstalls(t *testing.T) {
	if exec.Command("python3", "-c", "import setuptools, wheel, pip").Run() != nil {
		t.Skip("SKIPPED: there is no python3 with pip, setuptools and wheel here, so the client was not installed")
	}
	dir := t.TempDir()
	run(t, "python3", "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--target", dir,
		client(t, "python"))
	if installed, err := filepath.Glob(filepath.Join(dir, "thresh_client-*.dist-info")); err != nil || len(installed) != 1 {
		t.Errorf("installed: %v, %v", installed, err)
	}
	out := run(t, "python3", "-c", `import sys; sys.path.insert(0, sys.argv[1])
from thresh import Client
Client("127.0.0.1:7440"); Client("agents.example:443")
try: Client("ftp://a")
except ValueError as e: print(e)`, dir)
	if !strings.HasPrefix(out, "address 'ftp://a': want HOST:PORT") {
		t.Error(out)
	}
}
