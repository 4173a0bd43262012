package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
)

func TestThePrintedSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "llm.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, settings, "127.0.0.1:8089"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Options{ConfigFile: file, Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := c.Provider(c.Settings().Compression.Profile); p.BaseURL != "http://127.0.0.1:8089/v1" {
		t.Errorf("%+v", p)
	}
}
