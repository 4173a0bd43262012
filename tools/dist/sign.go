package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aead.dev/minisign"
)

// sign writes SHA256SUMS.minisig, which 'minisign -V' checks: who trusts it trusts every file that SHA256SUMS names.
func (r release) sign() error {
	text, err := os.ReadFile(r.key)
	if err != nil {
		return err
	}
	var key minisign.PrivateKey
	if minisign.IsEncrypted(text) {
		key, err = minisign.DecryptKey(r.password, text)
	} else {
		err = key.UnmarshalText(text)
	}
	if err != nil {
		return fmt.Errorf("the signing key %s: %w", r.key, err)
	}
	sums, err := os.ReadFile(filepath.Join(r.out, sumsFile))
	if err != nil {
		return err
	}
	reader := minisign.NewReader(bytes.NewReader(sums))
	if _, err := io.Copy(io.Discard, reader); err != nil {
		return err
	}
	// The trusted comment is signed too: the checksums of one version cannot pass for another's.
	signature := reader.SignWithComments(key, "thresh "+r.version, "signature of the checksums of thresh")
	return os.WriteFile(filepath.Join(r.out, sumsFile+".minisig"), signature, 0o644)
}
