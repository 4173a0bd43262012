package wire

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"
)

// Where go-plugin listens on a TCP port, which every user of the machine can reach, a process that is started by hand
// writes a file that only its user can read: the address in the first line, then a certificate and its key. With them
// the process and its host prove themselves to each other.

// WriteLoopback writes the file for a process that serves at address, with what [NewIdentity] made.
func WriteLoopback(file, address string, identity []byte) error {
	return os.WriteFile(file, append([]byte(address+"\n"), identity...), 0o600)
}

// ReadLoopback reads what [WriteLoopback] has written.
func ReadLoopback(file string) (address string, config *tls.Config, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", nil, err
	}
	line, identity, _ := bytes.Cut(text, []byte("\n"))
	if config, err = TLS(identity); err != nil {
		return "", nil, fmt.Errorf("%s is not what a plugin with --attach has written: %w", file, err)
	}
	return string(line), config, nil
}

// NewIdentity makes a certificate and its key, for one process and its host.
func NewIdentity() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{DNSNames: []string{"localhost"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	private, bad := x509.MarshalPKCS8PrivateKey(key)
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...), errors.Join(err, bad)
}

// TLS returns how both sides use an identity: each has it, and accepts nothing else.
func TLS(identity []byte) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(identity, identity)
	if err != nil {
		return nil, err
	}
	only := x509.NewCertPool()
	only.AddCert(pair.Leaf)
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: only, ClientCAs: only, ServerName: "localhost",
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}, nil
}
