package engine

import "testing"

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
