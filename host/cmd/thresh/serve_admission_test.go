package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
)

// What keeps a service from starting, and can be known without opening an address, is found by 'doctor --quick' too, which
// asks the same function.
func TestAddressesAreCheckedBeforeTheyAreOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("thresh__x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		listen, proxy, token string
		insecure             bool
		want                 string
	}{
		{listen: "127.0.0.1:7440"},
		{listen: "unix:" + dir + "/s", proxy: "127.0.0.1:7440"},
		{listen: "7440", want: "want HOST:PORT"},
		{listen: "127.0.0.1:99999", want: "serve.listen"},
		{listen: "unix:s", want: "must begin with /"},
		{listen: "0.0.0.0:7440", want: "set serve.tls.cert and serve.tls.key"},
		{listen: "0.0.0.0:7440", insecure: true},
		{listen: "127.0.0.1:7440", proxy: "127.0.0.1:7440", want: "is the address of serve.listen"},
		{listen: ":7440", proxy: "127.0.0.1:7440", insecure: true, want: "is the address of serve.listen"},
		{listen: "127.0.0.1:0", proxy: "127.0.0.1:0"},
		{listen: "127.0.0.1:7440", proxy: "7441", want: "proxy.listen"},
		{listen: "127.0.0.1:7440", proxy: ":7441", want: "proxy.listen: :7441 can be reached from other machines"},
		{listen: "127.0.0.1:7440", token: token, want: "others may use it"},
		{listen: "127.0.0.1:7440", token: filepath.Join(dir, "none")},
	} {
		o := config.Options{WorkDir: dir, Env: []string{"HOME=" + dir}, Overrides: []config.Override{
			{Key: "serve.listen", Value: tt.listen, Source: "test"}, {Key: "proxy.listen", Value: tt.proxy, Source: "test"},
			{Key: "serve.tokenFile", Value: tt.token, Source: "test"}}}
		c, err := config.Load(o)
		if err != nil {
			t.Fatal(err)
		}
		err = checkListen(c, tt.insecure)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("the check made a token")
	}
}
