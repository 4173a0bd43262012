package main_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/thresh-dev/thresh/internal/testkit/releases"
)

// publishInScript publishes a release of acme/keep-last in a directory, as GitHub has it, and as the newest.
func publishInScript(ts *testscript.TestScript, _ bool, args []string) {
	p := scriptPlace(ts)
	dir, version, says := ts.MkAbs(args[0]), args[1], strings.Join(args[2:], " ")
	if p.publisher.Key == "" {
		p.publisher = releases.NewPublisher(p.t)
	}
	files := p.publisher.Release(map[string][]byte{
		releases.Name("keep-last", version): releases.Archive(p.t, "keep-last", version, says)})
	for _, at := range []string{"latest/download", "download/v" + version} {
		at = filepath.Join(dir, "acme", "keep-last", "releases", at)
		ts.Check(os.RemoveAll(at))
		ts.Check(os.MkdirAll(at, 0o755))
		for name, content := range files {
			ts.Check(os.WriteFile(filepath.Join(at, name), content, 0o644))
		}
	}
	api := filepath.Join(dir, "api", "v3", "repos", "acme", "keep-last")
	ts.Check(os.MkdirAll(api, 0o755))
	was, _ := os.ReadFile(filepath.Join(api, "releases"))
	list := strings.TrimSuffix(`[{"tag_name":"v`+version+`"},`+strings.Trim(string(was), "[]"), ",") + "]"
	ts.Check(os.WriteFile(filepath.Join(api, "releases"), []byte(list), 0o644))
}

// registryInScript has the place's registry be a web server with a directory.
func registryInScript(ts *testscript.TestScript, _ bool, args []string) {
	p := scriptPlace(ts)
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	p.t.Cleanup(server.Close)
	p.env = append(p.env, "THRESH_PLUGINS_REGISTRY="+server.URL)
}

func builtInScript(ts *testscript.TestScript, _ bool, args []string) {
	platform := runtime.GOOS + "_" + runtime.GOARCH
	ts.Setenv("PLATFORM", platform)
	dir := filepath.Join(ts.MkAbs(args[0]), platform)
	ts.Check(os.MkdirAll(dir, 0o755))
	program := releases.Program(scriptPlace(ts).t, strings.Join(args[2:], " "))
	ts.Check(os.WriteFile(filepath.Join(dir, "thresh-strategy-"+args[1]), program, 0o755))
}

func signerInScript(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), releases.NewPublisher(scriptPlace(ts).t).PrivateKey(), 0o600))
}
