package main

import (
	"bytes"
	"crypto/rand"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"aead.dev/minisign"
)

// signed is a directory with checksums, their signature, and the public key that belongs to it.
func signed(t *testing.T, password string) (dir string, public minisign.PublicKey) {
	t.Helper()
	dir = t.TempDir()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := private.MarshalText()
	if password != "" {
		text, err = minisign.EncryptKey(password, private)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"key": text, sumsFile: []byte("0123  thresh.rb\n"), "key.pub": nil} {
		if name == "key.pub" {
			if data, err = public.MarshalText(); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := release{version: "v1.2.3", out: dir, key: filepath.Join(dir, "key"), password: password}
	if err := r.sign(); err != nil {
		t.Fatal(err)
	}
	return dir, public
}

func TestAChangedByteIsNotSigned(t *testing.T) {
	dir, public := signed(t, "")
	signature, err := os.ReadFile(filepath.Join(dir, sumsFile+".minisig"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if err != nil {
		t.Fatal(err)
	}
	verifies := func() bool {
		r := minisign.NewReader(bytes.NewReader(sums))
		_, _ = io.Copy(io.Discard, r)
		return r.Verify(public, signature)
	}
	if !verifies() {
		t.Error("the signature does not verify")
	}
	sums[0] ^= 1
	if verifies() {
		t.Error("the signature verifies other checksums")
	}
}

// What people check with.
func TestMinisignVerifiesTheSignature(t *testing.T) {
	if _, err := exec.LookPath("minisign"); err != nil {
		t.Skip("SKIPPED: there is no minisign here; the library verified the signature")
	}
	dir, _ := signed(t, "a password")
	sums, public := filepath.Join(dir, sumsFile), filepath.Join(dir, "key.pub")
	run(t, "minisign", "-V", "-m", sums, "-p", public)
	if err := os.WriteFile(sums, []byte("1123  thresh.rb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("minisign", "-V", "-m", sums, "-p", public).CombinedOutput(); err == nil {
		t.Errorf("minisign verifies other checksums:\n%s", out)
	}
}
