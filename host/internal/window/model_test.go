package window

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
)

func TestServersThatAreReachedWithoutTLS(t *testing.T) {
	for address, want := range map[string]string{
		"":                             "",
		"https://api.example.com/v1":   "",
		"http://api.example.com/v1":    "api.example.com",
		"http://10.0.0.7:8000/v1":      "10.0.0.7:8000",
		"http://[fd00::7]:8000/v1":     "[fd00::7]:8000",
		"http://localhost:11434/v1":    "",
		"http://127.0.0.1:11434/v1":    "",
		"http://[::1]:11434/v1":        "",
		"http://localhost.example/v1":  "localhost.example",
		"http://127.0.0.1.example/v1/": "127.0.0.1.example",
	} {
		if got := plainServer(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// Both a conversation and the key are on the network in clear text then, so it is said, and not at each call.
func TestAServerWithoutTLSIsWarnedOfOnce(t *testing.T) {
	var log bytes.Buffer
	m := models{log: hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Warn})}
	defer m.close()
	open := func(name, address string) {
		profile := config.Provider{Kind: config.KindOpenAI, Model: "m", BaseURL: address}
		if _, err := m.client(name, profile); err != nil {
			t.Fatal(err)
		}
	}
	open("safe", "https://api.example.com/v1")
	open("local", "http://127.0.0.1:11434/v1")
	if log.Len() > 0 {
		t.Errorf("a warning where nothing is wrong: %s", log.String())
	}
	for range 3 {
		open("plain", "http://models.example:8000/v1")
	}
	if got := log.String(); strings.Count(got, "without TLS") != 1 || !strings.Contains(got, "profile=plain") ||
		!strings.Contains(got, "server=models.example:8000") {
		t.Errorf("want one warning that names the profile and the server: %q", got)
	}
}
