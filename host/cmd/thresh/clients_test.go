package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// The clients in other languages send settings as the service takes them, and say so where what answers is no service.
func TestClientsOfWhatIsNoService(t *testing.T) {
	t.Parallel()
	for program, script := range map[string]string{
		"python3": `import sys; from thresh import Client
Client(sys.argv[1]).open("s", settings={"model.contextLimit": 2000, "compression.enabled": True})`,
		"node": `import { Client } from "./thresh.mjs";
await new Client(process.argv[1]).open("s", { settings: { "model.contextLimit": 2000, "compression.enabled": true } });`,
	} {
		t.Run(program, func(t *testing.T) {
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("SKIPPED: %s is not installed, so its client is not tested", program)
			}
			var sent struct{ Settings map[string]string }
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if err := json.Unmarshal(body, &sent); err != nil {
					t.Errorf("%v in %s", err, body)
				}
				fmt.Fprint(w, "<html>hello</html>")
			}))
			defer server.Close()
			args, dir := []string{"-c", script, server.URL}, repo.Path(t, "clients/python")
			if program == "node" {
				args, dir = []string{"--input-type=module", "-e", script, server.URL}, repo.Path(t, "clients/typescript")
			}
			cmd := exec.Command(program, args...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
			out, err := cmd.CombinedOutput()
			server.Close() // waits for the handler
			if err == nil || !strings.Contains(string(out), "ThreshError") || !strings.Contains(string(out),
				strings.TrimPrefix(server.URL, "http://")+" answered with HTTP status 200 and no JSON") {
				t.Errorf("%v\n%s", err, out)
			}
			if sent.Settings["model.contextLimit"] != "2000" || sent.Settings["compression.enabled"] != "true" {
				t.Errorf("settings %v", sent.Settings)
			}
		})
	}
}
