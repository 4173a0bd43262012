package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The zip, Scoop's manifest of it and npm's package have the same program.
func TestWhatWindowsGets(t *testing.T) {
	dir := t.TempDir()
	p := platform{"windows", "amd64", filepath.Join(dir, "windows_amd64")}
	for _, name := range []string{"thresh.exe", "LICENSE", "THIRD-PARTY-LICENSES.txt", "sbom.cdx.json"} {
		err := errors.Join(os.MkdirAll(p.dir, 0o755), os.WriteFile(filepath.Join(p.dir, name), []byte("of "+name), 0o755))
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join("..", ".."))
	r := release{version: "v1.2.3", out: t.TempDir(), at: time.Unix(1e9, 0).UTC()}
	members, err := membersOf(p.dir, r.archiveName(p)+"/")
	if err == nil {
		err = errors.Join(r.zip(r.archived(p), members), r.scoop([]platform{p}), r.npm([]platform{p}),
			r.formula([]platform{p}))
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.out, "thresh.json"))
	if err != nil {
		t.Fatal(err)
	}
	var scoop struct {
		Version, Bin string
		Architecture map[string]struct {
			URL, Hash string
			Dir       string `json:"extract_dir"`
		}
	}
	if err := json.Unmarshal(text, &scoop); err != nil {
		t.Fatal(err)
	}
	at := scoop.Architecture["64bit"]
	file := at.URL[strings.LastIndexByte(at.URL, '/')+1:]
	data, err := os.ReadFile(filepath.Join(r.out, file))
	if err != nil || fmt.Sprintf("%x", sha256.Sum256(data)) != at.Hash || scoop.Version != "1.2.3" {
		t.Errorf("%v; Scoop's manifest: %s", err, text)
	}
	z, err := zip.OpenReader(filepath.Join(r.out, file))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open(at.Dir + "/" + scoop.Bin)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); err != nil || string(got) != "of thresh.exe" {
		t.Errorf("the zip has %q, %v", got, err)
	}
	unpacked := t.TempDir()
	run(t, "tar", "-xzf", filepath.Join(r.out, "thresh-dev-thresh-win32-x64-1.2.3.tgz"), "-C", unpacked)
	got, err := os.ReadFile(filepath.Join(unpacked, "package", "bin", "thresh.exe"))
	if err != nil || string(got) != "of thresh.exe" {
		t.Errorf("npm's package has %q, %v", got, err)
	}
	launcher, err := os.ReadFile(filepath.Join("packaging", "npm", "thresh.js"))
	if err != nil || !strings.Contains(string(launcher), `process.platform === "win32" ? "thresh.exe"`) {
		t.Errorf("npm's launcher does not look for that file: %v", err)
	}
}
