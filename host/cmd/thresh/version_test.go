package main

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/buildinfo"
)

func TestVersion(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		root := newRoot(&app{out: &out, err: &out})
		root.SetArgs([]string{"version", "-o", format})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		var info buildinfo.Info
		if format == "json" {
			if err := json.Unmarshal(out.Bytes(), &info); err != nil || info != buildinfo.Get() {
				t.Errorf("%v: %s", err, out.String())
			}
			continue
		}
		for _, want := range []string{"thresh " + buildinfo.Version() + "\n", "commit ", runtime.Version() + "\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in %q", want, out.String())
			}
		}
	}
}
