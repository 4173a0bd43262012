package main

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/buildinfo"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	root := newRoot(&app{out: &out, err: &out})
	root.SetArgs([]string{"--version"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"thresh " + buildinfo.Version() + "\n", "commit ", runtime.Version() + "\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %q", want, out.String())
		}
	}
}
